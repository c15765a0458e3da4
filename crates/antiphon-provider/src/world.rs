//! All that the provider holds.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};

use antiphon_testkit::{Exchange, Hold};
use tokio::sync::watch;

use crate::account::Account;
use crate::ids::Ids;
use crate::log::Log;
use crate::{OnAbort, Options, Script};

/// What the requests share.
#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) options: Options,
    pub(crate) log: Log,
    /// How many turns are on their way.
    pub(crate) open_turns: watch::Sender<usize>,
    world: Mutex<World>,
}

impl Shared {
    pub(crate) fn new(options: Options) -> Self {
        let world = World {
            ids: Ids::new(&options.seed),
            accounts: BTreeMap::new(),
            on_abort: options.on_abort,
            scripts: VecDeque::new(),
            holds: Vec::new(),
        };
        Self {
            options,
            log: Log::default(),
            open_turns: watch::Sender::new(0),
            world: Mutex::new(world),
        }
    }

    pub(crate) fn world(&self) -> MutexGuard<'_, World> {
        self.world.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What changes from request to request.
#[derive(Debug)]
pub(crate) struct World {
    pub(crate) ids: Ids,
    pub(crate) on_abort: OnAbort,
    /// What the next answers are to be, with the test's handle on each.
    pub(crate) scripts: VecDeque<(Script, Exchange)>,
    accounts: BTreeMap<String, Account>,
    /// By whose request, told by its token, an answer is stopped.
    holds: Vec<(String, Hold)>,
}

impl World {
    /// The account of a token; a new one is empty.
    pub(crate) fn account(&mut self, token: &str) -> (&mut Account, &mut Ids) {
        (self.accounts.entry(token.to_owned()).or_default(), &mut self.ids)
    }

    pub(crate) fn accounts(&self) -> impl Iterator<Item = &Account> {
        self.accounts.values()
    }

    pub(crate) fn accounts_mut(&mut self) -> impl Iterator<Item = &mut Account> {
        self.accounts.values_mut()
    }

    /// Stops the next streamed answer to a request with this token.
    pub(crate) fn hold(&mut self, token: &str, hold: Hold) {
        self.holds.push((token.to_owned(), hold));
    }

    pub(crate) fn take_hold(&mut self, token: &str) -> Option<Hold> {
        let place = self.holds.iter().position(|(held, _)| held == token)?;
        Some(self.holds.remove(place).1)
    }
}
