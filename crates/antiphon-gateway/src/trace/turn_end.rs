//! The end of a turn, on the span of its request.

use opentelemetry::{Array, KeyValue, StringValue, Value};

use super::log_span::{MAX_TEXT, shortened};
use crate::request::{Continues, CreateRequest};
use crate::request_id::is_plain_id;
use crate::span::attribute::{
    CONVERSATION_ID, ERROR_TYPE, ITEMS_KNOWN, ITEMS_NEW, ITEMS_OUTPUT, ITEMS_RECEIVED,
    ITEMS_REPAIRED, ITEMS_SENT, ITEMS_TRUNCATED, MODEL, REPAIRS, RESPONSE_ID, RETRIES, STORED,
    STREAMED, TURN_OUTCOME, UPSTREAM,
};
use crate::span::{TraceSpan, count, optional};

/// The facts about a turn that has ended. They are counts and names, never content.
#[derive(Default)]
pub(crate) struct EndedTurnFacts<'a> {
    /// The result in one word.
    pub(crate) outcome: &'a str,
    /// The class of the error, if the turn failed.
    pub(crate) error_type: Option<&'a str>,
    /// The id of the response, if the caller knows it.
    pub(crate) response: Option<&'a str>,
    /// The items of the request.
    pub(crate) received: usize,
    /// Those that were not stored before.
    pub(crate) new: Option<usize>,
    /// Those that were stored already.
    pub(crate) known: Option<usize>,
    /// The items that the model received.
    pub(crate) sent: Option<usize>,
    /// The items of the answer.
    pub(crate) output: usize,
    /// The oldest items, left out because the prompt was too long.
    pub(crate) truncated: usize,
    /// The name of the fault of each repair.
    pub(crate) repairs: Vec<&'static str>,
    /// How often the upstream was asked again.
    pub(crate) retries: u32,
}

impl TraceSpan {
    /// Records the request of a turn.
    pub(crate) fn record_turn(&self, request: &CreateRequest, upstream: Option<&str>) {
        self.record(|| {
            let conversation = match &request.continues {
                Continues::Conversation(id) if is_plain_id(id) => Some(id.clone()),
                _ => None,
            };
            let attributes = [
                Some(KeyValue::new(MODEL, shortened(&request.model, MAX_TEXT).to_owned())),
                Some(KeyValue::new(STREAMED, request.stream)),
                Some(KeyValue::new(STORED, request.store)),
                optional(UPSTREAM, upstream.map(str::to_owned)),
                optional(CONVERSATION_ID, conversation),
            ];
            attributes.into_iter().flatten()
        });
    }

    /// Records the end of a turn.
    pub(crate) fn record_turn_end(&self, end: &EndedTurnFacts<'_>) {
        self.record(|| end.attributes());
        if let Some(error_type) = end.error_type {
            self.fail(error_type);
        }
    }

    /// Records that a turn was refused with this class of error. The span has not failed unless the
    /// gateway or the upstream is at fault: the status of the answer decides that.
    pub(crate) fn record_refusal(&self, error_type: &str, is_fault_of_caller: bool) {
        self.set(TURN_OUTCOME, "refused");
        match is_fault_of_caller {
            true => self.set(ERROR_TYPE, error_type.to_owned()),
            false => self.fail(error_type),
        }
    }
}

impl EndedTurnFacts<'_> {
    fn attributes(&self) -> Vec<KeyValue> {
        let is_some = |number: usize| (number > 0).then_some(number);
        let attributes = [
            Some(KeyValue::new(TURN_OUTCOME, self.outcome.to_owned())),
            optional(RESPONSE_ID, self.response.map(str::to_owned)),
            Some(count(ITEMS_RECEIVED, self.received)),
            self.new.map(|new| count(ITEMS_NEW, new)),
            self.known.map(|known| count(ITEMS_KNOWN, known)),
            self.sent.map(|sent| count(ITEMS_SENT, sent)),
            Some(count(ITEMS_OUTPUT, self.output)),
            is_some(self.truncated).map(|truncated| count(ITEMS_TRUNCATED, truncated)),
            is_some(self.repairs.len()).map(|repaired| count(ITEMS_REPAIRED, repaired)),
            is_some(self.repairs.len()).map(|_| self.faults()),
            (self.retries > 0).then(|| count(RETRIES, self.retries)),
        ];
        attributes.into_iter().flatten().collect()
    }

    /// The names of the repaired faults, each once.
    fn faults(&self) -> KeyValue {
        let mut faults = self.repairs.clone();
        faults.sort_unstable();
        faults.dedup();
        let faults = faults.into_iter().map(StringValue::from).collect();
        KeyValue::new(REPAIRS, Value::Array(Array::String(faults)))
    }
}
