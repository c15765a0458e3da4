//! All that the provider holds.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};

use antiphon_testkit::{Exchange, Hold, Refusal, Reply};
use http::Method;
use tokio::sync::watch;

use crate::account::Account;
use crate::background::Backgrounds;
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
            backgrounds: Backgrounds::default(),
            accounts: BTreeMap::new(),
            on_abort: options.on_abort,
            scripts: VecDeque::new(),
            detours: Vec::new(),
            holds: Vec::new(),
        };
        let log = Log::of(options.requests_kept);
        Self { options, log, open_turns: watch::Sender::new(0), world: Mutex::new(world) }
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
    pub(crate) backgrounds: Backgrounds,
    accounts: BTreeMap<String, Account>,
    /// What single requests are answered with in place of all else.
    pub(crate) detours: Vec<Detour>,
    /// By whose request, told by its token, an answer is stopped.
    holds: Vec<(String, Hold)>,
}

/// A reply to one request of this method whose path ends so.
#[derive(Debug)]
pub(crate) struct Detour {
    pub(crate) method: Method,
    pub(crate) path_end: String,
    pub(crate) reply: Reply,
}

impl World {
    /// Takes the reply that this request gets in place of all else.
    pub(crate) fn take_detour(&mut self, method: &Method, path: &str) -> Option<Reply> {
        let is_meant = |it: &Detour| it.method == method && path.ends_with(&it.path_end);
        let place = self.detours.iter().position(is_meant)?;
        Some(self.detours.remove(place).reply)
    }

    /// The account of a token; a new one is empty.
    pub(crate) fn account(&mut self, token: &str) -> (&mut Account, &mut Ids) {
        (self.accounts.entry(token.to_owned()).or_default(), &mut self.ids)
    }

    pub(crate) fn accounts(&self) -> impl Iterator<Item = &Account> {
        self.accounts.values()
    }

    /// Forgets a response, whoever's it is; false where there is none.
    pub(crate) fn lose(&mut self, id: &str) -> bool {
        let tokens: Vec<String> = self.accounts.keys().cloned().collect();
        tokens.iter().any(|token| self.remove_response(token, id).is_ok())
    }

    /// Removes a response of an account, with all that is under way for it.
    pub(crate) fn remove_response(&mut self, token: &str, id: &str) -> Result<(), Refusal> {
        let was_in_background = self.discard(token, id);
        match self.account(token).0.remove_response(id) {
            Err(_) if was_in_background => Ok(()),
            removed => removed,
        }
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
