//! The known state of one conversation.

use super::history::History;
use crate::provider_api::find_attempt_at_tail;
use crate::transcript::HeldItem;

/// A version of the known state. Every version is unique.
pub(super) type Version = u64;

/// The known state of a conversation that a server owns.
///
/// ```text
///          listed             a turn completed that was planned on this version
///   Stale --------> Fresh <------------------.
///     ^               |  '-------------------'
///     '---------------'  a turn was aborted, failed or rejected; another writer; parallel turns
/// ```
///
/// Invariant: a `Fresh` ledger is correct. The result of a turn is accepted only if nothing else
/// changed the ledger since the version that the turn was planned on, and no turn is planned on the
/// ledger while another one is open.
#[derive(Debug)]
pub(super) struct Ledger {
    state: State,
    version: Version,
    /// The number of open turns.
    open_turns: usize,
    /// The latest turn, if it is unknown whether the server has it.
    attempt: Option<Attempt>,
    /// The inputs and outputs of turns at a server that does not list its items. The server may
    /// have more items.
    received: History,
}

#[derive(Debug)]
enum State {
    Stale,
    Fresh(History),
}

/// The state of the conversation after a turn.
#[derive(Debug)]
pub(super) enum Ending {
    /// Unknown. The client may repeat the attempt, if there is one.
    Unknown(Option<Attempt>),
    /// Unchanged.
    Unchanged,
    /// This history, unless something else changed the conversation in the meantime.
    History(History),
    /// This history and perhaps more, because the server does not list its items.
    AtLeast(History),
}

/// A turn that the server may or may not have.
///
/// If the client repeats it, the items of the conversation show whether the server has it. The
/// client does not know the ids of its messages, and a last message always counts as new. Therefore
/// a message of the first attempt is recognized by its position.
#[derive(Clone, Debug)]
pub(super) struct Attempt {
    /// The digest of the request's body.
    pub(super) request: u128,
    /// The history that it was planned on.
    pub(super) before: History,
    /// The sent items.
    pub(super) sent: Vec<HeldItem>,
    /// Whether an attempt before it already stored the input, so that no item of it was sent again.
    pub(super) is_again: bool,
}

impl Ledger {
    /// Creates a ledger without known state.
    pub(super) fn unknown(version: Version) -> Self {
        let (state, received) = (State::Stale, History::default());
        Self { state, version, open_turns: 0, attempt: None, received }
    }

    pub(super) fn version(&self) -> Version {
        self.version
    }

    /// Whether it has no open turn.
    pub(super) fn is_idle(&self) -> bool {
        self.open_turns == 0
    }

    /// The number of its items.
    pub(super) fn length(&self) -> usize {
        let known = match &self.state {
            State::Stale => 0,
            State::Fresh(history) => history.length(),
        };
        known + self.received.length()
    }

    /// Starts a turn on the known history; `None` if the ledger is stale or has an open turn.
    pub(super) fn enter(&mut self) -> Option<(History, Version)> {
        let State::Fresh(history) = &self.state else { return None };
        if !self.is_idle() {
            return None;
        }
        self.open_turns += 1;
        Some((history.clone(), self.version))
    }

    /// Starts a turn on the known items of a conversation that the server does not list; perhaps
    /// not all of them.
    pub(super) fn enter_unlisted(&mut self) -> History {
        self.open_turns += 1;
        self.received.clone()
    }

    /// Starts a turn on the items that the server listed, requested at version `since`.
    ///
    /// The list may be out of date: the ledger may have changed since then, or an aborted turn may
    /// end at the server only now. The turn then starts on the history of the ledger, if that is
    /// `Fresh` and has no open turn. Otherwise it starts on the list, but without a version, so
    /// that its result cannot make the ledger `Fresh`.
    pub(super) fn enter_listed(
        &mut self,
        since: Version,
        listed: History,
        fresh: Version,
    ) -> (History, Option<Version>) {
        if since == self.version && self.attempt.is_none() {
            self.open_turns += 1;
            self.version = fresh;
            self.state = State::Fresh(listed.clone());
            return (listed, Some(fresh));
        }
        if let Some((history, version)) = self.enter() {
            return (history, Some(version));
        }
        self.open_turns += 1;
        (listed, None)
    }

    /// Ends a turn that was planned on version `on`. Returns whether all items are known now.
    pub(super) fn end(&mut self, on: Option<Version>, ending: Ending, fresh: Version) -> bool {
        self.open_turns = self.open_turns.saturating_sub(1);
        let is_all = on == Some(self.version) && self.is_idle();
        let attempt = match ending {
            Ending::Unchanged => return false,
            Ending::Unknown(attempt) => attempt.or(self.attempt.take()),
            Ending::AtLeast(received) => {
                self.received = received;
                None
            }
            Ending::History(history) if is_all => {
                (self.state, self.version, self.attempt) = (State::Fresh(history), fresh, None);
                return true;
            }
            Ending::History(_) => None,
        };
        self.attempt = attempt;
        self.mark_stale(fresh);
        false
    }

    /// The latest turn, if it is unknown whether the server has it.
    pub(super) fn attempt(&self) -> Option<&Attempt> {
        self.attempt.as_ref()
    }

    /// Marks the known state as stale.
    pub(super) fn mark_stale(&mut self, fresh: Version) {
        self.state = State::Stale;
        self.version = fresh;
    }
}

impl Attempt {
    /// Whether this attempt stored all of its input in the conversation, which now has `history`.
    ///
    /// That is so if the sent items are the last ones that are not a model's, and were not there
    /// before. The conversation had the other items of the input already.
    pub(super) fn stored_its_input(&self, history: &History) -> bool {
        let is_there = || {
            let (held, before) = (history.transcript(), self.before.transcript());
            find_attempt_at_tail(&held, before.items(), &self.sent).is_some()
        };
        self.is_again || is_there()
    }
}
