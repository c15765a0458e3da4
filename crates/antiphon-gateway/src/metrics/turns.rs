//! Finished turns.

use std::time::Duration;

use antiphon::stream::Usage;
use prometheus::{CounterVec, Histogram, HistogramVec, IntCounter, IntCounterVec};

use super::families::{
    CALL_SECONDS, Families, WORK_SECONDS, counter, counters, histogram, histograms, sums,
};
use super::label::BoundedLabel;

/// How many models have series of their own.
const MAX_MODELS: usize = 100;
/// How many tenants have series of their own.
const MAX_TENANTS: usize = 1000;
/// How many error codes have series of their own.
const MAX_CODES: usize = 100;

/// The label of a turn without an upstream.
pub(super) const NONE: &str = "none";

/// Finished turns.
pub(crate) struct TurnMetrics {
    turns: IntCounterVec,
    errors: IntCounterVec,
    codes: BoundedLabel,
    seconds: HistogramVec,
    first_event: HistogramVec,
    own: Histogram,
    items: ItemMetrics,
    tokens: TokenMetrics,
    /// `None` if tenants are not named.
    tenants: Option<TenantMetrics>,
}

/// The values of a finished turn that are counted.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CountedTurn<'a> {
    /// The result in one word, one of a few.
    pub(crate) outcome: &'static str,
    pub(crate) tenant: &'a str,
    /// The name of the upstream and of its API; `None` if no upstream serves the model.
    pub(crate) upstream: Option<(&'a str, &'static str)>,
    pub(crate) model: Option<&'a str>,
    /// The code of the error, if the turn failed or was rejected.
    pub(crate) error_code: Option<&'a str>,
    /// The tokens, if the upstream reported them.
    pub(crate) usage: Option<Usage>,
    /// The cost of these tokens, if the model has a price.
    pub(crate) cost: Option<f64>,
}

/// The numbers of items of a turn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct ItemCounts {
    /// The items of the request.
    pub(crate) received: usize,
    /// Those of them that were added to the conversation.
    pub(crate) new: usize,
    /// Those of them that were stored before.
    pub(crate) known: usize,
    /// The items of the answer.
    pub(crate) output: usize,
}

struct ItemMetrics {
    received: IntCounter,
    new: IntCounter,
    known: IntCounter,
    output: IntCounter,
    repaired: IntCounterVec,
    stream_repairs: IntCounterVec,
}

struct TokenMetrics {
    models: BoundedLabel,
    input: IntCounterVec,
    cached: IntCounterVec,
    output: IntCounterVec,
    reasoning: IntCounterVec,
    cost: CounterVec,
}

struct TenantMetrics {
    tenants: BoundedLabel,
    turns: IntCounterVec,
    tokens: IntCounterVec,
    cost: CounterVec,
}

impl TurnMetrics {
    pub(super) fn new(to: &Families, names_tenants: bool) -> Self {
        let upstream = &["upstream"];
        Self {
            turns: counters(
                to,
                "antiphon_turns_total",
                "Turns that ended, by outcome.",
                &["outcome", "upstream", "api"],
            ),
            errors: counters(
                to,
                "antiphon_turn_errors_total",
                "Turns that failed or were rejected, by the code of the error.",
                &["code", "upstream"],
            ),
            codes: BoundedLabel::new(MAX_CODES),
            seconds: histograms(
                to,
                (
                    "antiphon_turn_seconds",
                    "From a request that was read to the end of its turn. Rejected and replayed \
                     turns are not counted.",
                ),
                upstream,
                &CALL_SECONDS,
            ),
            first_event: histograms(
                to,
                (
                    "antiphon_turn_first_event_seconds",
                    "From a request that was read to the first event of its answer.",
                ),
                upstream,
                &CALL_SECONDS,
            ),
            own: histogram(
                to,
                "antiphon_turn_own_seconds",
                "The gateway's own work for a turn before its request to the upstream and after \
                 its answer.",
                &WORK_SECONDS,
            ),
            items: ItemMetrics::new(to),
            tokens: TokenMetrics::new(to),
            tenants: names_tenants.then(|| TenantMetrics::new(to)),
        }
    }

    /// Counts a turn.
    pub(crate) fn count(&self, turn: &CountedTurn<'_>) {
        let (upstream, api) = turn.upstream.unwrap_or((NONE, NONE));
        self.turns.with_label_values(&[turn.outcome, upstream, api]).inc();
        if let Some(code) = turn.error_code {
            self.errors.with_label_values(&[self.codes.bounded(code), upstream]).inc();
        }
        if let (Some(usage), Some(model)) = (turn.usage, turn.model) {
            self.tokens.count(upstream, model, usage, turn.cost);
        }
        if let Some(tenants) = &self.tenants {
            tenants.count(turn);
        }
    }

    /// Counts the times of an answer.
    pub(crate) fn count_times(
        &self,
        upstream: Option<&str>,
        total: Duration,
        first_event: Option<Duration>,
        own: Duration,
    ) {
        let upstream = &[upstream.unwrap_or(NONE)];
        self.seconds.with_label_values(upstream).observe(total.as_secs_f64());
        if let Some(first_event) = first_event {
            let first_events = self.first_event.with_label_values(upstream);
            first_events.observe(first_event.as_secs_f64());
        }
        self.own.observe(own.as_secs_f64());
    }

    /// Counts the items of a turn, and the names of the faults that were repaired.
    pub(crate) fn count_items(
        &self,
        items: ItemCounts,
        repairs: impl Iterator<Item = &'static str>,
        stream_repairs: impl Iterator<Item = &'static str>,
    ) {
        let to = &self.items;
        for (counter, count) in [
            (&to.received, items.received),
            (&to.new, items.new),
            (&to.known, items.known),
            (&to.output, items.output),
        ] {
            counter.inc_by(count as u64);
        }
        repairs.for_each(|fault| to.repaired.with_label_values(&[fault]).inc());
        stream_repairs.for_each(|fault| to.stream_repairs.with_label_values(&[fault]).inc());
    }

    /// Counts calls that an upstream announced twice in an answer that passed.
    pub(crate) fn count_repaired_calls(&self, calls: u64) {
        self.items.stream_repairs.with_label_values(&["duplicate_call"]).inc_by(calls);
    }
}

impl ItemMetrics {
    fn new(to: &Families) -> Self {
        Self {
            received: counter(to, "antiphon_items_received_total", "Items of requests."),
            new: counter(
                to,
                "antiphon_items_new_total",
                "Items of requests that were added to their conversation.",
            ),
            known: counter(
                to,
                "antiphon_items_known_total",
                "Items of requests that were stored before.",
            ),
            output: counter(to, "antiphon_items_output_total", "Items of answers."),
            repaired: counters(
                to,
                "antiphon_items_repaired_total",
                "Repairs of items that a provider would have rejected, by fault.",
                &["fault"],
            ),
            stream_repairs: counters(
                to,
                "antiphon_stream_repairs_total",
                "Repairs of answers of upstreams, by fault.",
                &["fault"],
            ),
        }
    }
}

impl TokenMetrics {
    fn new(to: &Families) -> Self {
        let tokens = |name, help| counters(to, name, help, &["upstream", "model"]);
        Self {
            models: BoundedLabel::new(MAX_MODELS),
            input: tokens(
                "antiphon_input_tokens_total",
                "Input tokens that upstreams report, cached ones included.",
            ),
            cached: tokens(
                "antiphon_cached_tokens_total",
                "Input tokens that upstreams read from their caches.",
            ),
            output: tokens(
                "antiphon_output_tokens_total",
                "Output tokens that upstreams report, reasoning included.",
            ),
            reasoning: tokens("antiphon_reasoning_tokens_total", "Output tokens of reasoning."),
            cost: sums(
                to,
                "antiphon_cost_total",
                "The cost of tokens at the prices of the settings, in their currency.",
                &["upstream", "model"],
            ),
        }
    }

    fn count(&self, upstream: &str, model: &str, usage: Usage, cost: Option<f64>) {
        let labels = &[upstream, self.models.bounded(model)];
        for (counter, tokens) in [
            (&self.input, usage.input_tokens),
            (&self.cached, usage.cached_tokens),
            (&self.output, usage.output_tokens),
            (&self.reasoning, usage.reasoning_tokens),
        ] {
            counter.with_label_values(labels).inc_by(tokens);
        }
        if let Some(cost) = cost {
            self.cost.with_label_values(labels).inc_by(cost);
        }
    }
}

impl TenantMetrics {
    fn new(to: &Families) -> Self {
        Self {
            tenants: BoundedLabel::new(MAX_TENANTS),
            turns: counters(
                to,
                "antiphon_tenant_turns_total",
                "Turns that ended, by tenant.",
                &["tenant", "outcome"],
            ),
            tokens: counters(
                to,
                "antiphon_tenant_tokens_total",
                "Input and output tokens by tenant.",
                &["tenant", "direction"],
            ),
            cost: sums(
                to,
                "antiphon_tenant_cost_total",
                "The cost of tokens by tenant, at the prices of the settings.",
                &["tenant"],
            ),
        }
    }

    fn count(&self, turn: &CountedTurn<'_>) {
        let tenant = self.tenants.bounded(turn.tenant);
        self.turns.with_label_values(&[tenant, turn.outcome]).inc();
        if let Some(usage) = turn.usage {
            self.tokens.with_label_values(&[tenant, "input"]).inc_by(usage.input_tokens);
            self.tokens.with_label_values(&[tenant, "output"]).inc_by(usage.output_tokens);
        }
        if let Some(cost) = turn.cost {
            self.cost.with_label_values(&[tenant]).inc_by(cost);
        }
    }
}
