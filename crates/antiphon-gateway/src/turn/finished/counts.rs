//! Counts a finished turn in the metrics.

use super::{FinishedTurn, TurnEnd};
use crate::metrics::CountedTurn;
use crate::upstream::Upstream;

impl FinishedTurn<'_> {
    /// Counts the turn. Its times and items count only if it had an answer.
    pub(super) fn count(&self) {
        let metrics = &self.gateway.metrics.turns;
        let api = |upstream: Upstream<'_>| upstream.api().name();
        metrics.count(&CountedTurn {
            outcome: self.outcome().as_str(),
            tenant: self.tenant.as_str(),
            upstream: self.upstream.map(|upstream| (upstream.label(), api(upstream))),
            model: self.model,
            error_code: self.error_code().as_deref(),
            usage: self.usage(),
            cost: self.cost(),
        });
        if let TurnEnd::Answered { .. } = self.end {
            let (upstream, times) = (self.upstream.map(Upstream::label), self.times);
            metrics.count_times(upstream, times.total, times.first_event, times.own);
            metrics.count_items(self.items, self.repairs(), self.stream_repairs());
        }
    }
}
