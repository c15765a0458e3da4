//! What a run came to.

use std::fmt;

use crate::ledger::{Ledger, Told};

/// Numbers of a run.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Tally {
    /// How often the gateway was killed.
    pub(crate) kills: usize,
    /// Requests that were sent.
    requests: usize,
    /// Of these, those that were acknowledged.
    acknowledged: usize,
    /// Those that were refused or failed.
    failed: usize,
    /// Those of whose end nobody was told.
    open: usize,
    /// Responses that were announced, had no end that anybody was told, and were gone on from.
    pub(crate) continued: usize,
    /// Requests that were made again.
    pub(crate) retried: usize,
    /// Of these, those whose first answer was to be given again.
    pub(crate) given_again: usize,
    /// Requests that writers of shared conversations repeated under their keys.
    pub(crate) repeated: usize,
}

impl Tally {
    /// Counts the requests of the present round.
    pub(crate) fn add(&mut self, ledger: &Ledger) {
        for (_, turn) in ledger.round() {
            self.requests += 1;
            match turn.told {
                Told::Done(_) => self.acknowledged += 1,
                Told::Failed(_) => self.failed += 1,
                Told::Nothing => self.open += 1,
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
            given_again,
            repeated,
        } = self;
        write!(
            f,
            "{kills} kills, {requests} requests: {acknowledged} acknowledged, {failed} failed, \
             {open} cut off; {continued} responses gone on from that were only announced, \
             {retried} requests made again, {given_again} of them already answered; {repeated} \
             requests repeated under their keys in shared conversations"
        )
    }
}
