//! A run: rounds of requests, each with a kill, a restart and a check.

use std::mem;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use anyhow::Context as _;
use serde_json::Value;
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep, timeout};

use crate::check::{self, Violations};
use crate::client::{Client, lock};
use crate::fleet::Fleet;
use crate::gateway_client::{GatewayClient, Header, NoAnswer};
use crate::kill_trigger::KillTrigger;
use crate::ledger::{Ledger, Outcome, Target};
use crate::lookup;
use crate::model::Plan;
use crate::provider::Provider;
use crate::replica::Launch;
use crate::request::{body, messages};
use crate::retry::Retry;
use crate::send::{Received, send_turn};
use crate::shared::SharedState;
use crate::store::{Kind, Store};
use crate::tally::Tally;
use crate::writers::Writers;

/// The size of a run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Size {
    /// The number of kills.
    pub(crate) kills: usize,
    /// The number of clients.
    pub(crate) clients: usize,
}

/// A run on one store.
pub(crate) struct Run {
    fleet: Fleet,
    provider: Provider,
    rng: fastrand::Rng,
    ledger: Arc<Mutex<Ledger>>,
    shared: Arc<Mutex<SharedState>>,
    writers: Writers,
    /// The numbers of the run so far.
    pub(crate) tally: Tally,
}

/// The number of conversations in use.
const CONVERSATIONS: usize = 3;
/// The number of items at which a new conversation replaces an old one.
const LONG: usize = 60;
/// The time limit of a round whose moment does not come.
const ROUND: Duration = Duration::from_secs(10);
/// The time limit for the clients after the kill.
const ENDING: Duration = Duration::from_mins(1);
/// The time limit for the places of ended turns in the queues after a crash of the database server,
/// and the time between two attempts.
const UNLOCKING: Duration = Duration::from_secs(20);
const POLL: Duration = Duration::from_millis(50);
/// The maximum delay of a kill after its moment, in microseconds.
const DELAY: u64 = 2_000;
/// One in this many rounds crashes the database server, if there is one.
const CRASHES: u8 = 8;

impl Run {
    /// Starts the provider and the gateways.
    pub(crate) async fn start(
        binary: PathBuf,
        folder: PathBuf,
        kind: Kind,
        seed: u64,
    ) -> anyhow::Result<Self> {
        let mut rng = fastrand::Rng::with_seed(seed);
        let provider = Provider::start(rng.u64(..)).await?;
        let store = Store::empty(kind).await;
        let launch = Launch {
            binary,
            folder,
            store: store.url().to_owned(),
            upstream: provider.url().to_owned(),
        };
        let fleet = Fleet::start(launch, store).await?;
        let (ledger, shared, tally) = <_>::default();
        let writers = Writers::new(&mut rng);
        Ok(Self { fleet, provider, rng, ledger, shared, writers, tally })
    }

    /// Runs the rounds and returns the violations. Stops after the first round with a violation.
    pub(crate) async fn run(&mut self, size: Size) -> anyhow::Result<Violations> {
        for _ in 0..size.kills {
            let violations = self.run_round(size.clients).await?;
            if !violations.is_empty() {
                return Ok(violations);
            }
        }
        let gateway = self.gateway();
        let violations = self.writers.check_all(gateway).await?;
        if !violations.is_empty() {
            return Ok(violations);
        }
        let mut ledger = mem::take(&mut *lock(&self.ledger));
        check::check_everything(gateway, &mut ledger).await
    }

    async fn run_round(&mut self, clients: usize) -> anyhow::Result<Violations> {
        self.open_conversations().await?;
        let mut violations = self.run_until_killed(clients).await?;
        self.fleet.wait_for_open_turns().await?;
        self.tally.kills += 1;
        let unlocking = if lock(&self.ledger).crashed { UNLOCKING } else { Duration::ZERO };
        violations.extend(self.check().await?);
        let gateway = self.gateway();
        violations.extend(self.writers.check(gateway).await?);
        self.tally.repeated = self.writers.repeated;
        if violations.is_empty() {
            violations.extend(self.retry_unfinished(unlocking).await?);
        }
        if violations.is_empty() {
            self.continue_announced().await?;
            violations.extend(self.check().await?);
        }
        Ok(violations)
    }

    /// A client for a random gateway.
    fn gateway(&mut self) -> GatewayClient {
        self.fleet.gateway(self.rng.usize(..self.fleet.len()))
    }

    /// Replaces long conversations and creates missing ones.
    async fn open_conversations(&mut self) -> anyhow::Result<()> {
        let length = |id: &str| lock(&self.ledger).conversations.get(id).map_or(0, Vec::len);
        lock(&self.shared).open.retain(|open| length(&open.id) < LONG);
        while lock(&self.shared).open.len() < CONVERSATIONS {
            let id = lookup::create_conversation(self.gateway()).await?;
            lock(&self.shared).add_conversation(id);
        }
        let gateway = self.gateway();
        self.writers.open_conversations(gateway).await
    }

    /// Runs the clients, kills a gateway at a random moment, waits for the clients, and restarts
    /// the gateway.
    async fn run_until_killed(&mut self, clients: usize) -> anyhow::Result<Violations> {
        let trigger = Arc::new(KillTrigger::new(&mut self.rng));
        self.provider.watch(&trigger);
        let running = self.clients(clients, &trigger);
        let writing = self.writers.start(&self.fleet, &trigger);
        if timeout(ROUND, trigger.fired()).await.is_err() {
            trigger.fire();
        }
        sleep(Duration::from_micros(self.rng.u64(..DELAY))).await;
        if self.rng.u8(..CRASHES) == 0 && self.fleet.crash().await? {
            lock(&self.ledger).crashed = true;
            self.writers.wait(writing).await?;
            return wait_for_clients(running).await;
        }
        let index = self.rng.usize(..self.fleet.len());
        self.fleet.kill(index).await?;
        self.writers.wait(writing).await?;
        let violations = wait_for_clients(running).await?;
        let wait = if self.rng.u8(..4) == 0 { 0 } else { 5 };
        self.fleet.start_again(index, wait).await?;
        Ok(violations)
    }

    fn clients(&mut self, count: usize, trigger: &Arc<KillTrigger>) -> JoinSet<NoAnswer> {
        let client = |index: usize| Client {
            gateway: self.fleet.gateway(index % self.fleet.len()),
            rng: self.rng.fork(),
            ledger: Arc::clone(&self.ledger),
            shared: Arc::clone(&self.shared),
            trigger: Arc::clone(trigger),
        };
        (0..count).map(client).map(Client::run).collect()
    }

    /// Checks the round. No client uses the ledger meanwhile.
    async fn check(&mut self) -> anyhow::Result<Violations> {
        let open: Vec<String> =
            lock(&self.shared).open.iter().map(|open| open.id.clone()).collect();
        let mut ledger = mem::take(&mut *lock(&self.ledger));
        self.tally.add(&ledger);
        let (gateway, observed) = (self.gateway(), self.provider.take_observed());
        let violations = check::check_round(gateway, &mut ledger, &open, observed).await;
        *lock(&self.ledger) = ledger;
        violations
    }

    /// Retries requests without a known outcome, one after the other. Their conversations may stay
    /// locked for the time `unlocking`.
    async fn retry_unfinished(&mut self, unlocking: Duration) -> anyhow::Result<Violations> {
        let open = lock(&self.ledger).take_unfinished();
        let mut violations = Violations::new();
        for number in open {
            if self.rng.bool() && violations.is_empty() {
                violations.extend(self.retry_one(number, unlocking).await?);
            }
        }
        Ok(violations)
    }

    async fn retry_one(&mut self, number: u32, unlocking: Duration) -> anyhow::Result<Violations> {
        let Some(retry) = Retry::expect(&lock(&self.ledger), number) else {
            return Ok(Violations::new());
        };
        let (request, headers) = {
            let turn = &lock(&self.ledger).turns[&number];
            (turn.body.clone(), turn.headers(number, 1))
        };
        let received = send_until_unlocked(self.gateway(), &request, &headers, unlocking).await;
        let fault = retry.record(&mut lock(&self.ledger), received);
        self.tally.retried += 1;
        self.tally.replayed += usize::from(retry.is_whole());
        let mut violations = self.check().await?;
        violations.extend(fault);
        Ok(violations)
    }

    /// Continues every announced response without a known outcome.
    async fn continue_announced(&mut self) -> anyhow::Result<()> {
        let announced = lock(&self.ledger).take_announced();
        for id in announced {
            let gateway = self.gateway();
            self.continue_from(gateway, id).await;
            self.tally.continued += 1;
        }
        Ok(())
    }

    async fn continue_from(&self, gateway: GatewayClient, id: String) {
        let target = Target::After(id);
        let (number, request) = {
            let mut ledger = lock(&self.ledger);
            let previous = target.clone();
            let number = ledger.add_turn(target, 1, Some(Plan::Short), |number| {
                body(&previous, &messages(number, 1, Plan::Short), false)
            });
            (number, ledger.turns[&number].body.clone())
        };
        let unused = KillTrigger::new(&mut fastrand::Rng::with_seed(0));
        let received = send_turn(gateway, &request, &[], None, &unused).await;
        let mut ledger = lock(&self.ledger);
        if let Some(id) = &received.response {
            ledger.record_announced(number, id);
        }
        let outcome = received.outcome.unwrap_or_else(|lost| Outcome::Failed(format!("{lost:?}")));
        ledger.record_outcome(number, outcome);
    }
}

/// Sends a turn again while its conversation is locked. A turn that a crash of the database ended
/// gives up its place in the queue some seconds after the restart, and some gateways do not wait.
async fn send_until_unlocked(
    gateway: GatewayClient,
    body: &Value,
    headers: &[Header],
    unlocking: Duration,
) -> Received {
    let unused = KillTrigger::new(&mut fastrand::Rng::with_seed(0));
    let deadline = Instant::now() + unlocking;
    loop {
        let received = send_turn(gateway, body, headers, None, &unused).await;
        let is_locked = received.outcome.as_ref().is_ok_and(Outcome::is_locked);
        if !is_locked || Instant::now() >= deadline {
            return received;
        }
        sleep(POLL).await;
    }
}

/// Waits for the clients of a round.
async fn wait_for_clients(mut running: JoinSet<NoAnswer>) -> anyhow::Result<Violations> {
    let mut violations = Violations::new();
    let ends = async {
        while let Some(end) = running.join_next().await {
            if end? == NoAnswer::TimedOut {
                violations.push("a request got no answer in time".into());
            }
        }
        anyhow::Ok(())
    };
    timeout(ENDING, ends).await.context("the clients do not end")??;
    Ok(violations)
}
