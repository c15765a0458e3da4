//! What was left out and mended, told to the caller and to the operator.

mod lines;
mod upstream;

use std::collections::BTreeMap;
use std::fmt::Write;

use antiphon::faults::LeftOut;
use antiphon::json::Object;
use antiphon::reconcile::Resent;
use antiphon::repair::Mend;
use antiphon::stream::Note;
use antiphon::{Item, ItemId, Kind};
use antiphon_store::ResponseId;
use http::{HeaderMap, HeaderValue};
use serde::Serialize;

pub(super) use self::lines::log_again;
pub(crate) use self::lines::{log_refusal, log_unreadable};
use self::upstream::Relearned;
use super::Head;
use super::retry::CutAttempts;
use crate::error::ApiError;
use crate::request_id::RequestId;

/// The report of one turn. It names items and rules, never what they say.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Report {
    object: &'static str,
    /// The id of the request; `None` where the turn came past the gateway.
    #[serde(skip_serializing_if = "Option::is_none")]
    request_id: Option<String>,
    /// How many items the caller sent.
    input_items: usize,
    /// Whether the turn stands in the place of an earlier attempt that was cut short.
    superseding: bool,
    /// The earlier attempt at the same request whose stored input the turn answers.
    #[serde(skip_serializing_if = "Option::is_none")]
    retry_of: Option<String>,
    /// How often the upstream was asked again because it failed.
    retries: u32,
    /// What an upstream that keeps the state refused, whereupon it was asked what it holds and the turn
    /// was sent once more.
    #[serde(skip_serializing_if = "Option::is_none")]
    relearned: Option<Relearned>,
    /// How many held items were sent in full, in the place of a response that the upstream no longer has.
    #[serde(skip_serializing_if = "Option::is_none")]
    replayed: Option<usize>,
    /// Items that were held already.
    resent: Vec<ResentItem>,
    /// What a provider would have refused, and what was done about it.
    repairs: Vec<Repair>,
    /// Fields that the upstream's API cannot carry as they are: left out, or put otherwise.
    adapted_fields: Vec<AdaptedField>,
    /// The oldest items, left out of what the model was given because it was too long.
    truncated: Vec<TruncatedItem>,
    /// What was put right in the upstream's stream.
    stream: Vec<StreamRepair>,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
struct TruncatedItem {
    /// Its position in the input; null for an item that was held before.
    position: Option<usize>,
    #[serde(rename = "type")]
    kind: String,
    item_id: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
struct AdaptedField {
    /// Its path in the request.
    field: String,
    message: String,
}

#[derive(Clone, Debug, Serialize)]
struct ResentItem {
    /// Its position in the input.
    position: usize,
    #[serde(rename = "type")]
    kind: String,
    /// The id under which it is held.
    item_id: String,
    /// The rule by which it was known.
    rule: &'static str,
    /// Whether it said something else than what is held, which was kept.
    differs: bool,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
struct Repair {
    /// Its position in the input; null for an item that was held before.
    position: Option<usize>,
    #[serde(rename = "type")]
    kind: String,
    item_id: Option<String>,
    /// Its call, by which the log names an item without an id.
    #[serde(skip)]
    call_id: Option<String>,
    fault: &'static str,
    action: &'static str,
    /// The provider's words for the fault, or ours where it has none.
    message: String,
}

#[derive(Clone, Debug, Serialize)]
struct StreamRepair {
    fault: &'static str,
    from: Option<String>,
    /// What stands in its place; null where nothing does.
    to: Option<String>,
}

impl Report {
    pub(super) fn new(input_items: usize) -> Self {
        Self {
            object: "antiphon.report",
            request_id: None,
            input_items,
            superseding: false,
            retry_of: None,
            retries: 0,
            relearned: None,
            replayed: None,
            resent: Vec::new(),
            repairs: Vec::new(),
            adapted_fields: Vec::new(),
            truncated: Vec::new(),
            stream: Vec::new(),
        }
    }

    /// The same with the id of the request that it reports on.
    pub(super) fn of_request(mut self, id: &RequestId) -> Self {
        self.request_id = Some(id.to_string());
        self
    }

    /// Earlier attempts at the same request were cut short.
    pub(super) fn follows(&mut self, cut: &CutAttempts) {
        self.superseding = cut.superseded;
        self.retry_of = cut.prior.as_ref().map(|prior| prior.response.to_string());
    }

    /// How often the upstream was asked again.
    pub(super) fn retried(&mut self, retries: u32) {
        self.retries = retries;
    }

    /// Adds what another report of the same turn says beyond this one.
    pub(super) fn add_new(&mut self, other: Self) {
        for repair in other.repairs {
            if !self.repairs.contains(&repair) {
                self.repairs.push(repair);
            }
        }
        for field in other.adapted_fields {
            if !self.adapted_fields.contains(&field) {
                self.adapted_fields.push(field);
            }
        }
        self.truncated.extend(other.truncated);
    }

    /// What was left out of something beside the turn because it was too long.
    pub(super) fn truncated_too(&mut self, other: Self) {
        self.truncated.extend(other.truncated);
    }

    /// An item was left out because the whole was too long.
    pub(super) fn truncated(&mut self, position: Option<usize>, item: &Item, id: Option<&ItemId>) {
        let (kind, item_id) = (item.head().kind.to_string(), id.map(ToString::to_string));
        self.truncated.push(TruncatedItem { position, kind, item_id });
    }

    pub(super) fn resent(&mut self, position: usize, item: &Item, held: &ItemId, resent: Resent) {
        self.resent.push(ResentItem {
            position,
            kind: item.head().kind.to_string(),
            item_id: held.to_string(),
            rule: resent.rule.name(),
            differs: resent.differs,
        });
    }

    pub(super) fn left_out(&mut self, position: usize, item: &Item, why: LeftOut) {
        self.left_out_of_view(Some(position), item, why);
    }

    pub(super) fn left_out_of_view(&mut self, source: Option<usize>, item: &Item, why: LeftOut) {
        self.repair(source, item, why.name(), "dropped", why.message().into());
    }

    /// A compaction that the model cannot read gave its place to the items that it stands for.
    pub(super) fn expanded(&mut self, source: Option<usize>, item: &Item) {
        let why = LeftOut::ForeignCompaction;
        self.repair(source, item, why.name(), "expanded", why.message().into());
    }

    /// The history was to be compacted, and could not be: the turn goes on with all of it.
    pub(super) fn compaction_failed(&mut self, error: &ApiError) {
        let (position, item_id, call_id) = (None, None, None);
        let (fault, action) = ("failed_compaction", "uncompacted");
        let kind = Kind::Compaction.to_string();
        let message = format!("The history could not be compacted: {}", error.message());
        self.repairs.push(Repair { position, kind, item_id, call_id, fault, action, message });
    }

    pub(super) fn renamed(&mut self, position: usize, item: &Item, id: &ItemId) {
        let message = format!("The id is held for another message; this one is held as '{id}'.");
        self.repair(Some(position), item, "used_id", "renamed", message);
    }

    pub(super) fn mended(&mut self, source: Option<usize>, item: &Item, mend: &Mend) {
        let refusal = mend.fault.refusal(source.unwrap_or(mend.position));
        self.repair(source, item, mend.fault.name(), mend.action.name(), refusal.message);
    }

    /// A field that the upstream's API cannot carry.
    pub(super) fn adapted_field(&mut self, field: &str, message: &str) {
        let (field, message) = (field.to_owned(), message.to_owned());
        self.adapted_fields.push(AdaptedField { field, message });
    }

    /// An item, or a part of one, that the upstream's API cannot carry.
    pub(super) fn adapted_item(&mut self, source: Option<usize>, item: &Item, message: &str) {
        self.repair(source, item, "not_in_dialect", "adapted", message.to_owned());
    }

    /// Calls whose reasoning is lost went with something in its place.
    pub(super) fn reasoning_stood_in(&mut self, calls: usize) {
        let repair = Repair {
            position: None,
            kind: "reasoning".to_owned(),
            item_id: None,
            call_id: None,
            fault: "missing_reasoning",
            action: "stood_in",
            message: "The upstream wants back the reasoning that calls were made with, and it is \
                      not here. A space stands in its place."
                .to_owned(),
        };
        self.repairs.extend(std::iter::repeat_n(repair, calls));
    }

    fn repair(
        &mut self,
        position: Option<usize>,
        item: &Item,
        fault: &'static str,
        action: &'static str,
        message: String,
    ) {
        let head = item.head();
        let item_id = head.id.as_ref().map(ToString::to_string);
        let call_id = head.call_id.as_ref().map(ToString::to_string);
        let kind = head.kind.to_string();
        self.repairs.push(Repair { position, kind, item_id, call_id, fault, action, message });
    }

    /// The report with what was put right in the stream.
    pub(super) fn with_notes(mut self, notes: &[Note]) -> Self {
        self.stream = notes.iter().map(stream_repair).collect();
        self
    }

    /// What is known before the first byte.
    pub(super) fn head(&self, response_id: &ResponseId) -> Head {
        let Head(mut headers) = self.head_unnamed();
        if self.superseding {
            headers.insert("antiphon-superseding", HeaderValue::from_static("true"));
        }
        headers.insert("antiphon-response", id_header(response_id));
        Head(headers)
    }

    /// The same where there is no response, or its id is not known yet.
    pub(super) fn head_unnamed(&self) -> Head {
        let mut headers = HeaderMap::new();
        headers.insert("antiphon-resent", self.resent.len().into());
        let repairs = self.counts();
        if !repairs.is_empty() {
            let value = HeaderValue::try_from(repairs).expect("faults' names are plain text");
            headers.insert("antiphon-repairs", value);
        }
        if self.relearned.is_some() {
            headers.insert("antiphon-relearned", HeaderValue::from_static("true"));
        }
        if let Some(items) = self.replayed {
            headers.insert("antiphon-replayed", items.into());
        }
        if !self.truncated.is_empty() {
            headers.insert("antiphon-truncated", self.truncated.len().into());
        }
        Head(headers)
    }

    /// `fault=N, …`, by name.
    fn counts(&self) -> String {
        let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
        for repair in &self.repairs {
            *counts.entry(repair.fault).or_default() += 1;
        }
        if !self.adapted_fields.is_empty() {
            counts.insert("adapted_field", self.adapted_fields.len());
        }
        let mut text = String::new();
        for (fault, count) in counts {
            let comma = if text.is_empty() { "" } else { ", " };
            write!(text, "{comma}{fault}={count}").expect("writing to a string does not fail");
        }
        text
    }

    pub(super) fn to_json(&self) -> String {
        serde_json::to_string(self).expect("a report is plain data")
    }
}

/// The earlier attempt that stored the input of a response with this report; `None` where the
/// response stored its own.
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
        Note::LeftOut { what } => {
            StreamRepair { fault: "left_out", from: Some(what.clone()), to: None }
        }
    }
}

/// What is known before the first byte of an answer that is given again.
pub(super) fn head_again(response_id: &ResponseId) -> Head {
    let Head(mut headers) = head_again_unnamed();
    headers.insert("antiphon-response", id_header(response_id));
    Head(headers)
}

/// The same where the answer tells its id.
pub(super) fn head_again_unnamed() -> Head {
    let mut headers = HeaderMap::new();
    headers.insert("antiphon-answered-again", HeaderValue::from_static("true"));
    Head(headers)
}

fn id_header(response_id: &ResponseId) -> HeaderValue {
    HeaderValue::try_from(response_id.as_str()).expect("an id is plain text")
}
