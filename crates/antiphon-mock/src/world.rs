//! The state of the provider.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

use http::Method;
use serde_json::Value;
use tokio::sync::watch;

use crate::account::Account;
use crate::account::Accounts;
use crate::background::Backgrounds;
use crate::ids::Ids;
use crate::log::Log;
use crate::{Exchange, Hold, OnAbort, Options, Refusal, Reply, Script};

/// The state that all requests share.
#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) options: Options,
    pub(crate) log: Log,
    /// The number of open turns.
    pub(crate) open_turns: watch::Sender<usize>,
    world: Mutex<World>,
}

impl Shared {
    /// Waits until no turn is open.
    pub(crate) async fn wait_until_idle(&self) {
        let mut open = self.open_turns.subscribe();
        open.wait_for(|count| *count == 0).await.expect("this type holds the sender");
    }

    pub(crate) fn new(options: Options) -> Self {
        let world = World {
            accounts: Accounts::new(Ids::new(options.seed.clone().unwrap_or_else(random_seed))),
            backgrounds: Backgrounds::default(),
            on_abort: options.on_abort,
            scripts: VecDeque::new(),
            detours: Vec::new(),
            holds: Vec::new(),
        };
        let log = Log::new(options.log_capacity);
        Self { options, log, open_turns: watch::Sender::new(0), world: Mutex::new(world) }
    }

    pub(crate) fn world(&self) -> MutexGuard<'_, World> {
        self.world.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn random_seed() -> String {
    let seed = getrandom::u64().expect("the system has a source of randomness");
    seed.to_string()
}

/// The state that requests change.
#[derive(Debug)]
pub(crate) struct World {
    pub(crate) accounts: Accounts,
    pub(crate) on_abort: OnAbort,
    /// The scripted answers in order, with the test's handle for each.
    pub(crate) scripts: VecDeque<(Script, Exchange)>,
    pub(crate) backgrounds: Backgrounds,
    /// Replies that replace the answers to single requests.
    pub(crate) detours: Vec<Detour>,
    /// Streamed answers to stop, by the token of the request.
    holds: Vec<(String, Hold)>,
}

/// A reply for one request with this method whose path has this end.
#[derive(Debug)]
pub(crate) struct Detour {
    pub(crate) method: Method,
    pub(crate) path_end: String,
    pub(crate) reply: Reply,
}

impl World {
    /// Removes and returns the reply that replaces the answer to this request.
    pub(crate) fn take_detour(&mut self, method: &Method, path: &str) -> Option<Reply> {
        let is_meant = |it: &Detour| it.method == method && path.ends_with(&it.path_end);
        let place = self.detours.iter().position(is_meant)?;
        Some(self.detours.remove(place).reply)
    }

    /// The account of a token. An account is created empty.
    pub(crate) fn account(&mut self, token: &str) -> (&mut Account, &mut Ids) {
        self.accounts.account(token)
    }

    /// Advances a background response by one step and returns its object before the step.
    pub(crate) fn advance(&mut self, token: &str, id: &str) -> Option<Value> {
        self.backgrounds.advance(token, id, &mut self.accounts)
    }

    /// Cancels a background response and returns it.
    pub(crate) fn cancel(&mut self, token: &str, id: &str) -> Option<Value> {
        self.backgrounds.cancel(token, id, &mut self.accounts)
    }

    /// Ends a background response.
    pub(crate) fn end(&mut self, token: &str, id: &str) {
        self.backgrounds.end(token, id, &mut self.accounts);
    }

    /// Deletes a response of any account; false if it does not exist.
    pub(crate) fn delete_response(&mut self, id: &str) -> bool {
        let tokens: Vec<String> = self.accounts.tokens().cloned().collect();
        tokens.iter().any(|token| self.remove_response(token, id).is_ok())
    }

    /// Removes a response of an account, and its background run if it has one.
    pub(crate) fn remove_response(&mut self, token: &str, id: &str) -> Result<(), Refusal> {
        let was_in_background = self.backgrounds.discard(token, id, &mut self.accounts);
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
