//! The known state of one conversation.

use super::history::History;
use super::retry::Attempt;

/// A version of the known state. Every version is unique.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Version(u64);

impl Version {
    /// The version for a number that is used only once.
    pub(super) fn of(stamp: u64) -> Self {
        Self(stamp)
    }
}

/// The known state of a conversation that a server owns.
///
/// ```text
///            listed             a turn completed that was planned on this version
///   InDoubt --------> Sure <------------------.
///      ^               |  '-------------------'
///      '---------------'  a turn was aborted, failed or rejected; another writer; parallel turns
/// ```
///
/// Invariant: a `Sure` ledger is correct. The result of a turn is accepted only if nothing else
/// changed the ledger since the version that the turn was planned on, and no turn is planned on the
/// ledger while another one is open.
#[derive(Debug)]
pub(super) struct Ledger {
    standing: Standing,
    version: Version,
    /// The number of open turns.
    underway: usize,
    /// The latest turn, if it is unknown whether the server has it.
    left: Option<Attempt>,
    /// The inputs and outputs of turns at a server that does not list its items. The server may
    /// have more items.
    heard: History,
}

#[derive(Debug)]
enum Standing {
    InDoubt,
    Sure(History),
}

impl Ledger {
    /// Creates a ledger without known state.
    pub(super) fn unknown(version: Version) -> Self {
        let (standing, heard) = (Standing::InDoubt, History::default());
        Self { standing, version, underway: 0, left: None, heard }
    }

    pub(super) fn version(&self) -> Version {
        self.version
    }

    /// Whether it has no open turn.
    pub(super) fn is_idle(&self) -> bool {
        self.underway == 0
    }

    /// Starts a turn on the known history; `None` if the ledger is uncertain or has an open turn.
    pub(super) fn enter(&mut self) -> Option<(History, Version)> {
        let Standing::Sure(history) = &self.standing else { return None };
        if !self.is_idle() {
            return None;
        }
        let known = (history.clone(), self.version);
        self.begin();
        Some(known)
    }

    /// Starts a turn.
    pub(super) fn begin(&mut self) {
        self.underway += 1;
    }

    /// Ends a turn with any result.
    pub(super) fn end(&mut self) {
        self.underway = self.underway.saturating_sub(1);
    }

    /// The known items of a conversation that the server does not list; perhaps not all of them.
    pub(super) fn heard(&self) -> &History {
        &self.heard
    }

    /// Records a completed turn that was planned on `heard`.
    pub(super) fn hear(&mut self, history: History, fresh: Version) {
        self.mark_stale(fresh);
        self.left = None;
        self.heard = history;
    }

    /// Starts a turn on the items that the server listed, requested at version `since`.
    ///
    /// The list may be out of date: the ledger may have changed since then, or an aborted turn may
    /// end at the server only now. The turn then starts on the history of the ledger, if that is
    /// `Sure` and has no open turn. Otherwise it starts on the list, but without a version, so that
    /// its result cannot make the ledger `Sure`.
    pub(super) fn learn(
        &mut self,
        since: Version,
        told: History,
        fresh: Version,
    ) -> (History, Option<Version>) {
        if since == self.version && self.left.is_none() {
            self.begin();
            self.version = fresh;
            self.standing = Standing::Sure(told.clone());
            return (told, Some(fresh));
        }
        if let Some((history, version)) = self.enter() {
            return (history, Some(version));
        }
        self.begin();
        (told, None)
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
        self.standing = if is_all { Standing::Sure(history) } else { Standing::InDoubt };
        self.version = fresh;
        self.left = None;
        is_all
    }

    /// Records an aborted turn; it is unknown whether the server has it.
    pub(super) fn leave(&mut self, attempt: Option<Attempt>, fresh: Version) {
        self.mark_stale(fresh);
        self.left = attempt.or(self.left.take());
    }

    /// The latest turn, if it is unknown whether the server has it.
    pub(super) fn left(&self) -> Option<&Attempt> {
        self.left.as_ref()
    }

    /// Marks the known state as uncertain.
    pub(super) fn mark_stale(&mut self, fresh: Version) {
        self.standing = Standing::InDoubt;
        self.version = fresh;
    }
}
