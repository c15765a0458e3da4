//! The numbers of a run.

use std::fmt;

use crate::ledger::{Ledger, Outcome};

/// The numbers of a run.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Tally {
    /// Kills of a gateway.
    pub(crate) kills: usize,
    /// Requests.
    requests: usize,
    /// Acknowledged requests.
    acknowledged: usize,
    /// Refused or failed requests.
    failed: usize,
    /// Requests without a known outcome.
    open: usize,
    /// Announced responses without a known outcome that were continued.
    pub(crate) continued: usize,
    /// Retried requests.
    pub(crate) retried: usize,
    /// Retried requests that should get their first answer again.
    pub(crate) replayed: usize,
    /// Requests that writers of shared conversations repeated with their keys.
    pub(crate) repeated: usize,
}

impl Tally {
    /// Counts the requests of the current round.
    pub(crate) fn add(&mut self, ledger: &Ledger) {
        for (_, turn) in ledger.current_round() {
            self.requests += 1;
            match turn.outcome {
                Outcome::Done(_) => self.acknowledged += 1,
                Outcome::Failed(_) => self.failed += 1,
                Outcome::Unknown => self.open += 1,
            }
        }
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            kills,
            requests,
            acknowledged,
            failed,
            open,
            continued,
            retried,
            replayed,
            repeated,
        } = self;
        write!(
            f,
            "{kills} kills, {requests} requests: {acknowledged} acknowledged, {failed} failed, \
             {open} cut off; {continued} announced responses continued, {retried} requests \
             retried, {replayed} of them already answered; {repeated} requests repeated with \
             their keys in shared conversations"
        )
    }
}
