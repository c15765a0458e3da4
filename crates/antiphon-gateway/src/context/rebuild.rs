//! Rebuilds the items of a prompt from the stored ones.

use antiphon::item::Head;
use antiphon::json::Object;
use antiphon::{HeldItem, Item, Kind};
use antiphon_store::{ResponseRecord, Seq};

use super::{Context, ContextItem, LeftOutItem, RepairReason, Source};
use crate::turn::{ChangedItem, SentItems, SentView};

/// Opens the compaction items of a tenant. Returns the item that the model receives instead.
pub(crate) type CompactionReader<'a> = &'a (dyn Fn(&Item) -> Option<Item> + Sync);

/// Rebuilds the context of a turn. `items` are all items before the end of the response, deleted
/// ones included. Without a key, `open` opens nothing.
pub(crate) fn rebuild(
    record: &ResponseRecord,
    items: &[HeldItem],
    open: CompactionReader<'_>,
) -> Context {
    let report = &record.response.report;
    let repairs = reported_repairs(report);
    let view = SentView::from_report(report);
    // Reports of earlier versions have repairs, but no record of the view.
    let is_recorded = view.is_some() || repairs.is_empty();
    let end = usize::try_from(record.output.start).unwrap_or(usize::MAX).min(items.len());
    let whole = || vec![SentItems::Range(0, end as Seq)];
    let (sent, left_out, truncated) = match view {
        Some(view) => (view.items, view.left_out, view.truncated),
        None => (whole(), Vec::new(), Vec::new()),
    };
    let mut rebuild = Rebuild { record, items, open, repairs, sent: vec![false; items.len()] };
    let sent: Vec<ContextItem> = sent.into_iter().flat_map(|it| rebuild.items_of(it)).collect();
    let left_out = rebuild.left_out(end, &left_out, &truncated);
    let is_here = |item: &ContextItem| item.item.is_some();
    let exact = is_recorded && sent.iter().all(is_here);
    let repairs = rebuild.repairs;
    Context { exact, items: sent, left_out, repairs, ..Context::from_record(record) }
}

/// The stored items of a turn, and the treatment of each.
struct Rebuild<'a> {
    record: &'a ResponseRecord,
    items: &'a [HeldItem],
    open: CompactionReader<'a>,
    repairs: Vec<RepairReason>,
    /// Whether each item is in the prompt.
    sent: Vec<bool>,
}

impl Rebuild<'_> {
    fn items_of(&mut self, sent: SentItems) -> Vec<ContextItem> {
        match sent {
            SentItems::Range(start, end) => (start..end).map(|at| self.stored(at)).collect(),
            SentItems::Changed(changed) => vec![self.changed(&changed)],
            SentItems::Opened { opened } => vec![self.opened(opened)],
            SentItems::Placeholder { placeholder, repair } => {
                let item = Item::parse(placeholder.into()).ok();
                item.map(|item| self.placeholder(item, repair)).into_iter().collect()
            }
            SentItems::Unknown { unknown } => vec![unknown_item(Kind::parse(&unknown))],
        }
    }

    /// An item that was sent unchanged.
    fn stored(&mut self, at: Seq) -> ContextItem {
        let Some(position) = self.mark_sent(at) else {
            return unknown_item(Kind::parse("unknown"));
        };
        let held = &self.items[position];
        let source = match self.record.input.contains(&at) {
            _ if held.is_placeholder() => Source::Placeholder,
            true => Source::Input,
            false => Source::Stored { response: None },
        };
        ContextItem {
            head: held.head.clone(),
            id: Some(held.id.to_string()),
            seq: Some(at),
            item: held.item(),
            is_deleted: held.is_tombstone(),
            source,
            repair: None,
        }
    }

    /// An item that was sent with other ids.
    fn changed(&mut self, changed: &ChangedItem) -> ContextItem {
        let stored = self.stored(changed.changed);
        let item = stored.item.as_ref().map(|item| item.with(|fields| changed.apply(fields)));
        let repair = self.repair(changed.repair);
        ContextItem { item, repair, ..stored }.with_own_head()
    }

    /// The content of a compaction.
    fn opened(&mut self, at: Seq) -> ContextItem {
        let compaction = self.stored(at);
        let item = compaction.item.as_ref().and_then(|item| (self.open)(item));
        ContextItem { item, source: Source::Compaction, ..compaction }.with_own_head()
    }

    /// An item that the gateway created for the prompt.
    fn placeholder(&self, item: Item, repair: Option<usize>) -> ContextItem {
        let repair = self.repair(repair);
        let item = Some(item);
        ContextItem { source: Source::Placeholder, item, repair, ..unknown_item(Kind::Message) }
            .with_own_head()
    }

    fn repair(&self, index: Option<usize>) -> Option<RepairReason> {
        self.repairs.get(index?).cloned()
    }

    /// Marks an item of the transcript as sent and returns its index.
    fn mark_sent(&mut self, at: Seq) -> Option<usize> {
        let position = usize::try_from(at).ok()?;
        *self.sent.get_mut(position)? = true;
        Some(position)
    }

    /// The items before the answer that were not sent.
    fn left_out(
        &self,
        end: usize,
        reasons: &[(Seq, usize)],
        truncated: &[Seq],
    ) -> Vec<LeftOutItem> {
        let unsent = (0..end).filter(|at| !self.sent[*at]);
        unsent
            .map(|at| {
                let (held, seq) = (&self.items[at], at as Seq);
                let reported = reasons.iter().find(|(left_out, _)| *left_out == seq);
                let reported = reported.and_then(|(_, repair)| self.repair(Some(*repair)));
                let reason = match truncated.binary_search(&seq) {
                    Ok(_) => RepairReason::new("truncated", "The prompt was too long."),
                    Err(_) => reported.unwrap_or_else(|| self.implied_reason(at)),
                };
                let (head, id) = (held.head.clone(), held.id.to_string());
                LeftOutItem { head, id, seq, reason }
            })
            .collect()
    }

    /// The reason for an omission that reports do not name, because it is not a fault.
    fn implied_reason(&self, at: usize) -> RepairReason {
        let held = &self.items[at];
        let is_sent_compaction = |position: usize| {
            self.sent[position] && self.items[position].head.kind == Kind::Compaction
        };
        match &held.head.kind {
            _ if held.is_tombstone() => {
                RepairReason::new("deleted", "The item was deleted before or after the turn.")
            }
            Kind::CompactionTrigger => {
                RepairReason::new("compaction_trigger", "An earlier trigger has no effect.")
            }
            _ if (at + 1..self.items.len()).any(is_sent_compaction) => {
                RepairReason::new("compacted", "A compaction replaced the item.")
            }
            Kind::Compaction => {
                RepairReason::new("compaction", "Another compaction starts the prompt.")
            }
            _ if held.head.role.is_some_and(antiphon::Role::instructs) => RepairReason::new(
                "superseded_instructions",
                "Later instructions replaced the message.",
            ),
            _ => RepairReason::new("unknown", "The reason was not recorded."),
        }
    }
}

/// An item about which only its kind is known.
fn unknown_item(kind: Kind) -> ContextItem {
    let head =
        Head { kind, id: None, call_id: None, role: None, unfinished: false, encrypted: false };
    ContextItem {
        head,
        id: None,
        seq: None,
        item: None,
        is_deleted: false,
        source: Source::Unknown,
        repair: None,
    }
}

impl ContextItem {
    /// The same with the head of its item.
    fn with_own_head(self) -> Self {
        let head = self.item.as_ref().map_or(self.head, |item| item.head().clone());
        Self { head, ..self }
    }
}

impl RepairReason {
    fn new(fault: &str, message: &str) -> Self {
        Self { fault: fault.into(), action: "dropped".into(), message: message.into() }
    }
}

/// The repairs that a stored report lists.
fn reported_repairs(report: &[u8]) -> Vec<RepairReason> {
    #[derive(serde::Deserialize)]
    struct Reported {
        fault: String,
        action: String,
        message: String,
    }
    let fields = Object::parse(report).ok();
    let repairs = fields.as_ref().and_then(|fields| fields.present("repairs"));
    let repairs = repairs.and_then(|raw| serde_json::from_str::<Vec<Reported>>(raw).ok());
    let reason = |Reported { fault, action, message }| RepairReason { fault, action, message };
    repairs.unwrap_or_default().into_iter().map(reason).collect()
}

impl Context {
    /// The values of a turn's record, without items.
    fn from_record(record: &ResponseRecord) -> Self {
        let response = &record.response;
        let envelope = Object::parse(&response.envelope).unwrap_or_default();
        let text = |key| envelope.string(key).map(std::borrow::Cow::into_owned);
        let usage = envelope.present("usage").and_then(|raw| Object::parse_str(raw).ok());
        let usage = usage.unwrap_or_default();
        let details = usage.present("input_tokens_details");
        let details = details.and_then(|raw| Object::parse_str(raw).ok()).unwrap_or_default();
        let count = |fields: &Object<'_>, key| fields.present(key).and_then(|raw| raw.parse().ok());
        Self {
            id: text("id").unwrap_or_else(|| response.id.to_string()),
            previous: text("previous_response_id"),
            conversation: response.conversation.as_ref().map(ToString::to_string),
            created_at: response.created_at,
            status: text("status").unwrap_or_default(),
            is_delta: false,
            upstream: None,
            api: None,
            fields: echoed_fields(&envelope).to_text(),
            items: Vec::new(),
            left_out: Vec::new(),
            repairs: Vec::new(),
            translation: None,
            cached_tokens: count(&details, "cached_tokens"),
            input_tokens: count(&usage, "input_tokens"),
            error: None,
            exact: false,
        }
    }
}

/// The fields of a response object that come from its request, except null ones.
fn echoed_fields<'a>(envelope: &'a Object<'_>) -> Object<'a> {
    let is_state = |key: &str| STATE_FIELDS.contains(&key);
    envelope.iter().filter(|(key, raw)| !is_state(key) && *raw != "null").collect()
}

/// The fields of a response object that are not fields of its request.
const STATE_FIELDS: [&str; 9] = [
    "id",
    "object",
    "created_at",
    "completed_at",
    "status",
    "incomplete_details",
    "output",
    "error",
    "usage",
];
