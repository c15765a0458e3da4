//! The known state of one conversation.

use super::history::History;
use super::retry::Attempt;

/// A version of the known state. Every version is unique.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Version(u64);

impl Version {
    /// The version for a number that is used only once.
    pub(super) fn new(stamp: u64) -> Self {
        Self(stamp)
    }
}

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

    /// Starts a turn on the known history; `None` if the ledger is stale or has an open turn.
    pub(super) fn enter(&mut self) -> Option<(History, Version)> {
        let State::Fresh(history) = &self.state else { return None };
        if !self.is_idle() {
            return None;
        }
        let known = (history.clone(), self.version);
        self.begin();
        Some(known)
    }

    /// Starts a turn.
    pub(super) fn begin(&mut self) {
        self.open_turns += 1;
    }

    /// Ends a turn with any result.
    pub(super) fn end(&mut self) {
        self.open_turns = self.open_turns.saturating_sub(1);
    }

    /// The known items of a conversation that the server does not list; perhaps not all of them.
    pub(super) fn received(&self) -> &History {
        &self.received
    }

    /// Records a completed turn that was planned on `received`.
    pub(super) fn conclude_unlisted(&mut self, history: History, fresh: Version) {
        self.mark_stale(fresh);
        self.attempt = None;
        self.received = history;
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
            self.begin();
            self.version = fresh;
            self.state = State::Fresh(listed.clone());
            return (listed, Some(fresh));
        }
        if let Some((history, version)) = self.enter() {
            return (history, Some(version));
        }
        self.begin();
        (listed, None)
    }

    /// Records the history after a turn that was planned on version `on`. Returns whether this is
    /// the complete state.
    pub(super) fn conclude(
        &mut self,
        on: Option<Version>,
        history: History,
        fresh: Version,
    ) -> bool {
        let is_all = on == Some(self.version) && self.is_idle();
        self.state = if is_all { State::Fresh(history) } else { State::Stale };
        self.version = fresh;
        self.attempt = None;
        is_all
    }

    /// Records an aborted turn; it is unknown whether the server has it.
    pub(super) fn abandon(&mut self, attempt: Option<Attempt>, fresh: Version) {
        self.mark_stale(fresh);
        self.attempt = attempt.or(self.attempt.take());
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
