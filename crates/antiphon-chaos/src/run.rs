//! A run: rounds of requests, each ended by a kill, and a look at what is left.

use std::mem;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use anyhow::Context as _;
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};

use crate::ask::ask;
use crate::check::{self, Violations};
use crate::client::{Client, lock};
use crate::fleet::Fleet;
use crate::fuse::Fuse;
use crate::ground::{Ground, Kind};
use crate::ledger::{Ledger, Place, Told};
use crate::look;
use crate::model::Plan;
use crate::provider::Provider;
use crate::replica::Launch;
use crate::request::{body, messages};
use crate::retry::Retry;
use crate::scene::Scene;
use crate::tally::Tally;
use crate::wire::{Lost, Wire};
use crate::writers::Writers;

/// How much is done.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Size {
    /// How often the gateway is killed.
    pub(crate) kills: usize,
    /// How many clients there are.
    pub(crate) clients: usize,
}

/// A run on one store.
pub(crate) struct Run {
    fleet: Fleet,
    provider: Provider,
    rng: fastrand::Rng,
    ledger: Arc<Mutex<Ledger>>,
    scene: Arc<Mutex<Scene>>,
    writers: Writers,
    /// What the run came to so far.
    pub(crate) tally: Tally,
}

/// How many conversations are written to at a time.
const CONVERSATIONS: usize = 3;
/// At how many items a conversation is left for a new one.
const LONG: usize = 60;
/// After what time a round ends whose moment does not come.
const ROUND: Duration = Duration::from_secs(10);
/// For how long clients may go on after the kill.
const ENDING: Duration = Duration::from_mins(1);
/// How long after its moment a kill may come, in microseconds.
const DELAY: u64 = 2_000;
/// One round of so many ends with a crash of the store's server, where there is one.
const CRASHES: u8 = 8;

impl Run {
    /// Starts a provider and the gateways.
    pub(crate) async fn start(
        binary: PathBuf,
        folder: PathBuf,
        kind: Kind,
        seed: u64,
    ) -> anyhow::Result<Self> {
        let mut rng = fastrand::Rng::with_seed(seed);
        let provider = Provider::start(rng.u64(..)).await?;
        let ground = Ground::empty(kind).await;
        let (store, upstream) = (ground.url().to_owned(), provider.url().to_owned());
        let fleet = Fleet::start(Launch { binary, folder, store, upstream }, ground).await?;
        let (ledger, scene, tally) = <_>::default();
        let writers = Writers::new(&mut rng);
        Ok(Self { fleet, provider, rng, ledger, scene, writers, tally })
    }

    /// Kills the gateway again and again; gives what was violated, and stops at the first round in
    /// which something was.
    pub(crate) async fn run(&mut self, size: Size) -> anyhow::Result<Violations> {
        for _ in 0..size.kills {
            let violations = self.round(size.clients).await?;
            if !violations.is_empty() {
                return Ok(violations);
            }
        }
        let wire = self.wire();
        let violations = self.writers.check_all(wire).await?;
        if !violations.is_empty() {
            return Ok(violations);
        }
        let mut ledger = mem::take(&mut *lock(&self.ledger));
        check::everything(wire, &mut ledger).await
    }

    async fn round(&mut self, clients: usize) -> anyhow::Result<Violations> {
        self.open_conversations().await?;
        let mut violations = self.until_killed(clients).await?;
        self.fleet.all_ended().await?;
        self.tally.kills += 1;
        violations.extend(self.check().await?);
        let wire = self.wire();
        violations.extend(self.writers.check(wire).await?);
        self.tally.repeated = self.writers.repeated;
        if violations.is_empty() {
            violations.extend(self.ask_again().await?);
        }
        if violations.is_empty() {
            self.go_on_from_announced().await?;
            violations.extend(self.check().await?);
        }
        Ok(violations)
    }

    /// Any of the gateways.
    fn wire(&mut self) -> Wire {
        self.fleet.wire(self.rng.usize(..self.fleet.len()))
    }

    /// Sees to it that there are conversations to write to, and none too long.
    async fn open_conversations(&mut self) -> anyhow::Result<()> {
        let length = |id: &str| lock(&self.ledger).conversations.get(id).map_or(0, Vec::len);
        lock(&self.scene).open.retain(|open| length(&open.id) < LONG);
        while lock(&self.scene).open.len() < CONVERSATIONS {
            let id = look::create_conversation(self.wire()).await?;
            lock(&self.scene).opened(id);
        }
        let wire = self.wire();
        self.writers.open_conversations(wire).await
    }

    /// Has the clients send requests, kills a gateway at some moment, waits for the clients, and
    /// starts it again.
    async fn until_killed(&mut self, clients: usize) -> anyhow::Result<Violations> {
        let fuse = Arc::new(Fuse::light(&mut self.rng));
        self.provider.watch(&fuse);
        let running = self.clients(clients, &fuse);
        let writing = self.writers.start(&self.fleet, &fuse);
        if timeout(ROUND, fuse.burnt()).await.is_err() {
            fuse.burn();
        }
        sleep(Duration::from_micros(self.rng.u64(..DELAY))).await;
        if self.rng.u8(..CRASHES) == 0 && self.fleet.crash().await? {
            lock(&self.ledger).crashed = true;
            self.writers.ended(writing).await?;
            return ended(running).await;
        }
        let index = self.rng.usize(..self.fleet.len());
        self.fleet.kill(index).await?;
        self.writers.ended(writing).await?;
        let violations = ended(running).await?;
        let wait = if self.rng.u8(..4) == 0 { 0 } else { 5 };
        self.fleet.start_again(index, wait).await?;
        Ok(violations)
    }

    fn clients(&mut self, count: usize, fuse: &Arc<Fuse>) -> JoinSet<Lost> {
        let client = |index: usize| Client {
            wire: self.fleet.wire(index % self.fleet.len()),
            rng: self.rng.fork(),
            ledger: Arc::clone(&self.ledger),
            scene: Arc::clone(&self.scene),
            fuse: Arc::clone(fuse),
        };
        (0..count).map(client).map(Client::run).collect()
    }

    /// Nobody else looks at the ledger meanwhile.
    async fn check(&mut self) -> anyhow::Result<Violations> {
        let open: Vec<String> = lock(&self.scene).open.iter().map(|open| open.id.clone()).collect();
        let mut ledger = mem::take(&mut *lock(&self.ledger));
        self.tally.add(&ledger);
        let (wire, seen) = (self.wire(), self.provider.seen());
        let violations = check::round(wire, &mut ledger, &open, seen).await;
        *lock(&self.ledger) = ledger;
        violations
    }

    /// Makes requests again whose end nobody was told, each in its turn.
    async fn ask_again(&mut self) -> anyhow::Result<Violations> {
        let open = lock(&self.ledger).take_open();
        let mut violations = Violations::new();
        for number in open {
            if self.rng.bool() && violations.is_empty() {
                violations.extend(self.ask_one_again(number).await?);
            }
        }
        Ok(violations)
    }

    async fn ask_one_again(&mut self, number: u32) -> anyhow::Result<Violations> {
        let Some(retry) = Retry::of(&lock(&self.ledger), number) else {
            return Ok(Violations::new());
        };
        let (request, headers) = {
            let turn = &lock(&self.ledger).turns[&number];
            (turn.body.clone(), turn.headers(number, 1))
        };
        let quiet = Fuse::light(&mut fastrand::Rng::with_seed(0));
        let heard = ask(self.wire(), &request, &headers, None, &quiet).await;
        let fault = retry.heard(&mut lock(&self.ledger), heard);
        self.tally.retried += 1;
        self.tally.given_again += usize::from(retry.is_whole());
        let mut violations = self.check().await?;
        violations.extend(fault);
        Ok(violations)
    }

    /// Goes on from every response that a client was told of and no end of.
    async fn go_on_from_announced(&mut self) -> anyhow::Result<()> {
        let announced = lock(&self.ledger).take_announced();
        for id in announced {
            let wire = self.wire();
            self.go_on_from(wire, id).await;
            self.tally.continued += 1;
        }
        Ok(())
    }

    async fn go_on_from(&self, wire: Wire, id: String) {
        let place = Place::After(id);
        let (number, request) = {
            let mut ledger = lock(&self.ledger);
            let behind = place.clone();
            let number = ledger.enter(place, 1, Some(Plan::Short), |number| {
                body(&behind, &messages(number, 1, Plan::Short), false)
            });
            (number, ledger.turns[&number].body.clone())
        };
        let quiet = Fuse::light(&mut fastrand::Rng::with_seed(0));
        let heard = ask(wire, &request, &[], None, &quiet).await;
        let mut ledger = lock(&self.ledger);
        if let Some(id) = &heard.response {
            ledger.announced(number, id);
        }
        let told = heard.told.unwrap_or_else(|lost| Told::Failed(format!("{lost:?}")));
        ledger.told(number, told);
    }
}

/// Waits for the clients of a round.
async fn ended(mut running: JoinSet<Lost>) -> anyhow::Result<Violations> {
    let mut violations = Violations::new();
    let ends = async {
        while let Some(end) = running.join_next().await {
            if end? == Lost::Silent {
                violations.push("a request had no answer for too long".into());
            }
        }
        anyhow::Ok(())
    };
    timeout(ENDING, ends).await.context("clients do not end")??;
    Ok(violations)
}
