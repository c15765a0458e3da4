//! The report of a turn: dropped and repaired items, for the caller and the operator.

mod lines;
mod links;
mod prompt_changes;
mod resent;

use antiphon::Item;
use antiphon::json::Object;
use antiphon::reconcile::Admission;
use antiphon::repair::ReportedRepair;
use antiphon::stateful;
use antiphon::stream::{Finished, Note};
use antiphon_store::ResponseId;
use http::{HeaderMap, HeaderValue};
use serde::Serialize;

pub(super) use self::lines::counted;
pub(crate) use self::links::link_faults;
pub(super) use self::prompt_changes::PromptChanges;
use self::resent::ResentItems;
pub(crate) use self::resent::{ResentPlace, ResentRun, name_resent_items, resent_runs};
use super::client::Head;
use super::sent_view::SentView;
use crate::request_id::RequestId;
use crate::settings::Prices;

/// The report of one turn. It names items and rules, never content.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Report {
    object: &'static str,
    /// The id of the request; `None` for a turn that did not pass through the gateway.
    #[serde(skip_serializing_if = "Option::is_none")]
    request_id: Option<String>,
    /// The number of items in the request.
    input_items: usize,
    /// The number of those items that were added to the conversation.
    #[serde(skip)]
    new_items: usize,
    /// Whether the turn replaces an earlier attempt that was cut short.
    superseding: bool,
    /// The earlier attempt at the same request whose stored input the turn answers.
    #[serde(skip_serializing_if = "Option::is_none")]
    retry_of: Option<String>,
    /// The number of items that the model received, once it is known.
    #[serde(skip)]
    sent_items: Option<usize>,
    /// How often the upstream was asked again after a failure.
    retries: u32,
    /// The state error of an upstream after which the gateway resynced the ledger and sent the turn
    /// once more.
    #[serde(skip_serializing_if = "Option::is_none")]
    relearned: Option<Relearned>,
    /// How many stored items were sent in full, because the upstream has lost the previous
    /// response.
    #[serde(skip_serializing_if = "Option::is_none")]
    replayed: Option<usize>,
    /// Items that were stored already.
    resent: ResentItems,
    /// The differences between the items and the prompt.
    #[serde(flatten)]
    pub(super) changes: PromptChanges,
    /// The items that the model received, if they are not the whole transcript. Callers read it as
    /// the context of the turn.
    #[serde(skip_serializing_if = "Option::is_none")]
    view: Option<Box<SentView>>,
    /// Repairs of the upstream's stream.
    stream: Vec<StreamRepair>,
    /// The cost of the answer's tokens; `None` without tokens or prices.
    #[serde(skip_serializing_if = "Option::is_none")]
    cost: Option<Cost>,
}

/// An amount of money.
#[derive(Clone, Debug, PartialEq, Serialize)]
struct Cost {
    amount: f64,
    /// The currency of the settings, if they name one.
    #[serde(skip_serializing_if = "Option::is_none")]
    currency: Option<String>,
}

/// A rejection that made the gateway resync its ledger.
#[derive(Clone, Debug, PartialEq, Serialize)]
struct Relearned {
    fault: &'static str,
    /// The upstream's message.
    message: String,
}

#[derive(Clone, Debug, Serialize)]
struct StreamRepair {
    fault: &'static str,
    from: Option<String>,
    /// The replacement; null if there is none.
    to: Option<String>,
}

impl Report {
    pub(super) fn new(input_items: usize) -> Self {
        Self {
            object: "antiphon.report",
            request_id: None,
            input_items,
            new_items: 0,
            superseding: false,
            retry_of: None,
            sent_items: None,
            retries: 0,
            relearned: None,
            replayed: None,
            resent: ResentItems::Runs(Vec::new()),
            changes: PromptChanges::default(),
            view: None,
            stream: Vec::new(),
            cost: None,
        }
    }

    /// Reports the items of the input that were not added to the transcript unchanged.
    pub(super) fn from_admission(input: &[Item], admission: &Admission) -> Self {
        let mut report = Self::new(input.len());
        report.new_items = admission.transcript.items().len() - admission.held;
        report.resent = ResentItems::from_admission(admission);
        report.changes.repairs = ReportedRepair::from_admission(input, admission);
        report
    }

    /// Reports the changes to a request with this number of items, and this number of new ones.
    pub(super) fn from_changes(
        input_items: usize,
        new_items: usize,
        changes: stateful::Report,
    ) -> Self {
        let stateful::Report { resent_items, repairs, replayed, .. } = changes;
        let new = Self::new(input_items);
        let resent = ResentItems::Named(resent_items);
        let mut report = Self { new_items, replayed, resent, ..new };
        report.changes.repairs = repairs;
        report
    }

    /// Sets the id of the request.
    pub(super) fn with_request(mut self, id: &RequestId) -> Self {
        self.request_id = Some(id.to_string());
        self
    }

    /// Reports that earlier attempts at the same request were cut short.
    /// `replaced`: the turn replaces one of them. `retry_of` stored the input of the turn.
    pub(super) fn set_prior_attempt(&mut self, replaced: bool, retry_of: Option<&ResponseId>) {
        self.superseding = replaced;
        self.retry_of = retry_of.map(ToString::to_string);
    }

    /// Reports that the upstream rejected the turn and that the ledger was resynced.
    pub(super) fn set_resynced(&mut self, fault: &'static str, message: &str) {
        self.relearned = Some(Relearned { fault, message: message.to_owned() });
    }

    /// Sets the number of items that the model received.
    pub(super) fn set_sent(&mut self, sent_items: usize) {
        self.sent_items = Some(sent_items);
    }

    /// The report with the view of the turn, which differs from the transcript.
    pub(super) fn with_view(self, view: SentView) -> Self {
        Self { view: Some(Box::new(view)), ..self }
    }

    /// The number of items in the request.
    pub(super) fn input_items(&self) -> usize {
        self.input_items
    }

    /// The number of items that the model received, once it is known.
    pub(super) fn sent_items(&self) -> Option<usize> {
        self.sent_items
    }

    /// Sets how often the upstream was asked again.
    pub(super) fn set_retries(&mut self, retries: u32) {
        self.retries = retries;
    }

    /// How often the upstream was asked again.
    pub(super) fn retries(&self) -> u32 {
        self.retries
    }

    /// The numbers of items that were added to the conversation, and of those that were stored
    /// before.
    pub(super) fn new_and_known(&self) -> (usize, usize) {
        (self.new_items, self.resent.len())
    }

    /// The faults of the input that were repaired, once for each repair.
    pub(super) fn faults(&self) -> impl Iterator<Item = &'static str> {
        self.changes.faults()
    }

    /// The faults of the upstream's answer that were repaired, once for each repair.
    pub(super) fn stream_faults(&self) -> impl Iterator<Item = &'static str> {
        self.stream.iter().map(|repair| repair.fault)
    }

    /// Counts the repairs by fault, for a log line.
    pub(super) fn repairs(&self) -> Option<String> {
        self.changes.short_counts()
    }

    /// The number of items that were dropped because the prompt was too long.
    pub(super) fn truncated(&self) -> usize {
        self.changes.truncated.len()
    }

    /// Adds the repairs of the model's answer, and its cost at these prices.
    pub(super) fn with_answer(mut self, finished: &Finished, model: &str, prices: &Prices) -> Self {
        self.stream = finished.notes.iter().map(stream_repair).collect();
        let amount = finished.usage.and_then(|usage| prices.cost(model, usage));
        self.cost = amount.map(|amount| Cost { amount, currency: prices.currency.clone() });
        self
    }

    /// The cost of the answer's tokens, if the model has a price.
    pub(super) fn cost(&self) -> Option<f64> {
        self.cost.as_ref().map(|cost| cost.amount)
    }

    /// The headers, known before the first byte.
    pub(super) fn head(&self, response_id: &ResponseId) -> Head {
        let Head(mut headers) = self.head_unnamed();
        if self.superseding {
            headers.insert("antiphon-superseding", HeaderValue::from_static("true"));
        }
        headers.insert("antiphon-response", id_header(response_id));
        Head(headers)
    }

    /// The headers without a response id, if there is no response or its id is not known yet.
    pub(super) fn head_unnamed(&self) -> Head {
        let mut headers = HeaderMap::new();
        headers.insert("antiphon-resent", self.resent.len().into());
        if let Some(repairs) = self.changes.counts() {
            let value = HeaderValue::try_from(repairs).expect("faults' names are plain text");
            headers.insert("antiphon-repairs", value);
        }
        if self.relearned.is_some() {
            headers.insert("antiphon-relearned", HeaderValue::from_static("true"));
        }
        if let Some(items) = self.replayed {
            headers.insert("antiphon-replayed", items.into());
        }
        if !self.changes.truncated.is_empty() {
            headers.insert("antiphon-truncated", self.changes.truncated.len().into());
        }
        Head(headers)
    }

    pub(super) fn to_json(&self) -> String {
        serde_json::to_string(self).expect("a report is plain data")
    }
}

/// The earlier attempt that stored the input of the response with this report; `None` if the
/// response stored its own input.
pub(crate) fn input_stored_by(report: &[u8]) -> Option<ResponseId> {
    let attempt = Object::parse(report).ok()?.string("retry_of")?.into_owned();
    ResponseId::parse(&attempt)
}

fn stream_repair(note: &Note) -> StreamRepair {
    match note {
        Note::ItemIdReplaced { from, to } => StreamRepair {
            fault: "item_id_replaced",
            from: from.as_ref().map(ToString::to_string),
            to: Some(to.to_string()),
        },
        Note::CallIdReplaced { from, to } => StreamRepair {
            fault: "call_id_replaced",
            from: Some(from.to_string()),
            to: Some(to.to_string()),
        },
        Note::CallSuppressed { tool } => {
            StreamRepair { fault: "call_not_permitted", from: Some(tool.clone()), to: None }
        }
        Note::ParallelCallSuppressed { tool } => {
            StreamRepair { fault: "parallel_call", from: Some(tool.clone()), to: None }
        }
        Note::CallMissing { tool } => {
            StreamRepair { fault: "call_missing", from: tool.clone(), to: None }
        }
        Note::EventsRepeated { count } => {
            StreamRepair { fault: "events_repeated", from: Some(count.to_string()), to: None }
        }
        Note::InvalidUtf8 { events } => {
            StreamRepair { fault: "invalid_utf8", from: Some(events.to_string()), to: None }
        }
        Note::FinishReasonMissing => {
            StreamRepair { fault: "finish_reason_missing", from: None, to: None }
        }
        Note::Omitted { what } => {
            StreamRepair { fault: "left_out", from: Some(what.clone()), to: None }
        }
    }
}

/// The headers of a replayed answer.
pub(super) fn head_again(response_id: &ResponseId) -> Head {
    let Head(mut headers) = head_again_unnamed();
    headers.insert("antiphon-response", id_header(response_id));
    Head(headers)
}

/// The headers of a replayed answer whose body contains its id.
pub(super) fn head_again_unnamed() -> Head {
    let mut headers = HeaderMap::new();
    headers.insert("antiphon-answered-again", HeaderValue::from_static("true"));
    Head(headers)
}

fn id_header(response_id: &ResponseId) -> HeaderValue {
    HeaderValue::try_from(response_id.as_str()).expect("an id is plain text")
}

#[cfg(test)]
mod tests;
