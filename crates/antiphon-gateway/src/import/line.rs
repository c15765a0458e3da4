//! The lines of an export.

use antiphon::item::{CallId, FingerprintKey, Head, HeadError, Item, ItemId, Kind, Role};
use antiphon::json::Object;
use antiphon::{Body, HeldItem, Origin};
use antiphon_store::{
    Conversation, ConversationId, LedgerSubject, ResponseId, Seq, Shard, ThreadId, ThreadRecord,
    UpstreamId,
};
use bytes::Bytes;
use serde::Deserialize;
use serde_json::value::RawValue;

use super::values::without_position;
use crate::export::VERSION;

/// A line.
pub(super) enum Line {
    Head,
    Ledger(UpstreamId, LedgerSubject),
    Thread(ThreadRecord),
    Conversation {
        conversation: Conversation,
        binds_late: bool,
    },
    /// A response, as its record without output.
    Response(Bytes),
    Range(Range),
    Report(Bytes),
    Item(PlacedItem),
    OpenTurn(String),
    End {
        lines: u64,
    },
}

/// An item and its position. An item of an open turn has none.
pub(super) struct PlacedItem {
    pub(super) owner: Owner,
    pub(super) at: Option<Seq>,
    pub(super) item: HeldItem,
}

/// The object that an item belongs to.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Owner {
    Conversation,
    Response,
    Nothing,
}

/// The positions of a response.
#[derive(Deserialize)]
pub(super) struct Range {
    #[serde(deserialize_with = "response_id")]
    pub(super) response: ResponseId,
    #[serde(default, deserialize_with = "conversation_id")]
    pub(super) conversation: Option<ConversationId>,
    pub(super) created_at: i64,
    pub(super) input: Seq,
    pub(super) output: Seq,
    pub(super) end: Seq,
}

/// The reason why a line is invalid, as a sentence.
pub(super) type Reason = String;

impl Line {
    pub(super) fn parse(text: &Bytes, key: FingerprintKey) -> Result<Self, Reason> {
        let object = Object::parse(text).map_err(|error| without_position(&error))?;
        let kind = object.string("object").unwrap_or_default();
        Ok(match &*kind {
            "export" => head(&read(text)?)?,
            "ledger" => ledger(read(text)?)?,
            "thread" => Self::Thread(thread(read(text)?)?),
            "conversation" => conversation(read(text)?)?,
            "response" => Self::Response(envelope(object)),
            "response.range" => Self::Range(read(text)?),
            "response.report" => Self::Report(raw(&object, "report")?),
            "conversation.item" => Self::item(Owner::Conversation, text, key)?,
            "response.input_item" | "response.output_item" => {
                Self::item(Owner::Response, text, key)?
            }
            "item" => Self::item(Owner::Nothing, text, key)?,
            "open_turn" => Self::OpenTurn(open_turn(&object)?),
            "export.end" => Self::End { lines: read::<EndLine>(text)?.lines },
            _ => return Err(format!("'{kind}' is no object of an export")),
        })
    }

    fn item(owner: Owner, text: &Bytes, key: FingerprintKey) -> Result<Self, Reason> {
        let line: ItemLine<'_> = read(text)?;
        let at = line.at;
        Ok(Self::Item(PlacedItem { owner, at, item: line.into_item(text, key)? }))
    }
}

fn read<'a, T: Deserialize<'a>>(text: &'a [u8]) -> Result<T, Reason> {
    serde_json::from_slice(text).map_err(|error| without_position(&error))
}

#[derive(Deserialize)]
struct HeadLine {
    version: u32,
}

fn head(line: &HeadLine) -> Result<Line, Reason> {
    match line.version {
        VERSION => Ok(Line::Head),
        1 => Err("version 1 of an export has no positions; export the tenant again with this \
                  release"
            .into()),
        newer => Err(format!(
            "this release reads version {VERSION} of an export, and this one has version {newer}"
        )),
    }
}

#[derive(Deserialize)]
struct EndLine {
    lines: u64,
}

#[derive(Deserialize)]
struct LedgerLine {
    upstream: String,
    id: String,
    conversation: Option<String>,
    response: Option<String>,
}

fn ledger(line: LedgerLine) -> Result<Line, Reason> {
    let subject = line.conversation.or(line.response).unwrap_or_default();
    let subject = LedgerSubject::parse(&subject).ok_or_else(|| no_id(&subject))?;
    Ok(Line::Ledger(UpstreamId { upstream: line.upstream, id: line.id }, subject))
}

#[derive(Deserialize)]
struct ThreadLine {
    shard: String,
    id: String,
    tip: Seq,
    named: bool,
    lineage: Vec<(String, Seq)>,
}

fn thread(line: ThreadLine) -> Result<ThreadRecord, Reason> {
    let fork = |(id, upto): (String, Seq)| Ok((ThreadId(number(&id)?), upto));
    Ok(ThreadRecord {
        shard: Shard(number(&line.shard)?),
        thread: ThreadId(number(&line.id)?),
        lineage: line.lineage.into_iter().map(fork).collect::<Result<_, Reason>>()?,
        tip: line.tip,
        is_named: line.named,
    })
}

/// The number of 16 hexadecimal digits.
fn number(digits: &str) -> Result<u64, Reason> {
    let number = u64::from_str_radix(digits, 16).ok().filter(|_| digits.len() == 16);
    number.ok_or_else(|| format!("'{digits}' does not consist of 16 hexadecimal digits"))
}

#[derive(Deserialize)]
struct ConversationLine<'a> {
    id: String,
    created_at: i64,
    #[serde(borrow)]
    metadata: &'a RawValue,
    #[serde(default)]
    binds_late: bool,
}

fn conversation(line: ConversationLine<'_>) -> Result<Line, Reason> {
    let ConversationLine { id, created_at, metadata, binds_late } = line;
    let id = ConversationId::parse(&id).ok_or_else(|| no_id(&id))?;
    let metadata = Bytes::copy_from_slice(metadata.get().as_bytes());
    Ok(Line::Conversation { conversation: Conversation { id, created_at, metadata }, binds_late })
}

/// The record of a response: its items are stored as items.
fn envelope(mut response: Object<'_>) -> Bytes {
    response.set("output", "[]");
    response.to_bytes()
}

fn open_turn(line: &Object<'_>) -> Result<String, Reason> {
    let response = raw(line, "response")?;
    let response = Object::parse(&response).map_err(|error| error.to_string())?;
    Ok(response.string("id").unwrap_or_default().into_owned())
}

fn raw(object: &Object<'_>, field: &str) -> Result<Bytes, Reason> {
    let raw = object.present(field).ok_or_else(|| format!("missing field `{field}`"))?;
    Ok(Bytes::copy_from_slice(raw.as_bytes()))
}

fn no_id(text: &str) -> Reason {
    format!("'{text}' is no id of this gateway")
}

fn response_id<'de, D: serde::Deserializer<'de>>(text: D) -> Result<ResponseId, D::Error> {
    let text = String::deserialize(text)?;
    ResponseId::parse(&text).ok_or_else(|| serde::de::Error::custom(no_id(&text)))
}

fn conversation_id<'de, D: serde::Deserializer<'de>>(
    text: D,
) -> Result<Option<ConversationId>, D::Error> {
    let text = String::deserialize(text)?;
    let id = ConversationId::parse(&text);
    id.map(Some).ok_or_else(|| serde::de::Error::custom(no_id(&text)))
}

#[derive(Deserialize)]
struct ItemLine<'a> {
    id: String,
    at: Option<Seq>,
    origin: Option<String>,
    #[serde(default)]
    supersedes: bool,
    #[serde(borrow)]
    item: Option<&'a RawValue>,
    #[serde(default)]
    deleted: bool,
    head: Option<HeadFields>,
}

#[derive(Deserialize)]
struct HeadFields {
    r#type: String,
    id: Option<String>,
    call_id: Option<String>,
    role: Option<String>,
    #[serde(default)]
    unfinished: bool,
    #[serde(default)]
    encrypted: bool,
}

impl ItemLine<'_> {
    fn into_item(self, line: &Bytes, key: FingerprintKey) -> Result<HeldItem, Reason> {
        let id = ItemId::from(self.id);
        let origin = self.origin.map(Origin::new);
        if let Some(raw) = self.item {
            let item = Item::parse(line.slice_ref(raw.get().as_bytes()));
            let item = item.map_err(|error: HeadError| error.to_string())?;
            let held = HeldItem::new(id, &item, key, origin);
            return Ok(HeldItem { supersedes: self.supersedes, ..held });
        }
        let head = self.head.ok_or("an item without bytes needs a field `head`")?.into_head();
        let body = if self.deleted { Body::Erased } else { Body::StoredElsewhere };
        Ok(HeldItem { id, head, fingerprint: None, origin, supersedes: self.supersedes, body })
    }
}

impl HeadFields {
    fn into_head(self) -> Head {
        Head {
            kind: Kind::parse(&self.r#type),
            id: self.id.map(ItemId::from),
            call_id: self.call_id.map(CallId::from),
            role: self.role.as_deref().map(Role::parse),
            unfinished: self.unfinished,
            encrypted: self.encrypted,
        }
    }
}
