//! What is known of one conversation.

use super::history::History;
use super::retry::Attempt;

/// A state of what is known, unlike any other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Version(u64);

impl Version {
    /// The version of a number that was given once.
    pub(super) fn of(stamp: u64) -> Self {
        Self(stamp)
    }
}

/// What is known of a conversation that a server keeps.
///
/// ```text
///            learnt             a turn ended well, planned on this version
///   InDoubt --------> Sure <------------------.
///      ^               |  '-------------------'
///      '---------------'  a turn was left, failed or refused; another wrote; two turns at once
/// ```
///
/// It is never sure and wrong: what a turn leaves counts only where nothing else has come since the version
/// that it was planned on, and while a turn is on its way no other is planned on what is known.
#[derive(Debug)]
pub(super) struct Ledger {
    standing: Standing,
    version: Version,
    /// How many turns are on their way.
    underway: usize,
    /// The latest turn, where nobody knows whether the server has it.
    left: Option<Attempt>,
    /// What turns brought there and got since the server last told what it holds, while it does not tell.
    /// It may hold more.
    heard: History,
}

#[derive(Debug)]
enum Standing {
    InDoubt,
    Sure(History),
}

impl Ledger {
    /// Of which nothing is known.
    pub(super) fn unknown(version: Version) -> Self {
        let (standing, heard) = (Standing::InDoubt, History::default());
        Self { standing, version, underway: 0, left: None, heard }
    }

    pub(super) fn version(&self) -> Version {
        self.version
    }

    /// Whether no turn of it is on its way.
    pub(super) fn is_idle(&self) -> bool {
        self.underway == 0
    }

    /// A turn begins on what is known; `None` where that may not be so any more.
    pub(super) fn enter(&mut self) -> Option<(History, Version)> {
        let Standing::Sure(history) = &self.standing else { return None };
        if !self.is_idle() {
            return None;
        }
        let known = (history.clone(), self.version);
        self.begin();
        Some(known)
    }

    /// A turn begins.
    pub(super) fn begin(&mut self) {
        self.underway += 1;
    }

    /// A turn is over, whatever it left.
    pub(super) fn end(&mut self) {
        self.underway = self.underway.saturating_sub(1);
    }

    /// What is known where the server does not tell: perhaps not all.
    pub(super) fn heard(&self) -> &History {
        &self.heard
    }

    /// A turn ended well that was planned on what was heard.
    pub(super) fn hear(&mut self, history: History, fresh: Version) {
        self.doubt(fresh);
        self.left = None;
        self.heard = history;
    }

    /// A turn begins on what the server told, asked at version `since`. What came to be known since then may
    /// be newer, and a turn that was left may come to its end there only now: a turn that is planned on less
    /// than that is sure of nothing.
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

    /// A turn that was planned on this version has left this. Whether that is all that there is.
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

    /// A turn was left of which nobody knows whether the server has it.
    pub(super) fn leave(&mut self, attempt: Option<Attempt>, fresh: Version) {
        self.doubt(fresh);
        self.left = attempt.or(self.left.take());
    }

    /// The latest turn, where nobody knows whether the server has it.
    pub(super) fn left(&self) -> Option<&Attempt> {
        self.left.as_ref()
    }

    /// What it holds may be something else.
    pub(super) fn doubt(&mut self, fresh: Version) {
        self.standing = Standing::InDoubt;
        self.version = fresh;
    }
}
