//! The JSON of a context.

use antiphon::item::Head;
use serde::Serialize;
use serde_json::value::{RawValue, to_raw_value};

use super::{Context, ContextItem, Difference, LeftOutItem, RepairReason, Source};

#[derive(Serialize)]
struct ContextJson<'a> {
    object: &'static str,
    id: &'a str,
    previous_response_id: Option<&'a str>,
    conversation: Option<&'a str>,
    created_at: i64,
    status: &'a str,
    state: &'static str,
    exact: bool,
    upstream: Option<&'a str>,
    api: Option<&'a str>,
    request: Box<RawValue>,
    items: Vec<ItemJson<'a>>,
    left_out: Vec<LeftOutJson<'a>>,
    translation: Option<Box<RawValue>>,
    usage: UsageJson,
    error: Option<ErrorJson<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    difference: Option<&'a Difference>,
}

#[derive(Serialize)]
struct ItemJson<'a> {
    source: &'static str,
    seq: Option<u64>,
    item_id: Option<&'a str>,
    response_id: Option<&'a str>,
    #[serde(flatten)]
    head: HeadJson<'a>,
    deleted: bool,
    repair: Option<RepairJson<'a>>,
    item: Option<Box<RawValue>>,
}

#[derive(Serialize)]
struct HeadJson<'a> {
    #[serde(rename = "type")]
    kind: &'a str,
    call_id: Option<&'a str>,
}

#[derive(Serialize)]
struct LeftOutJson<'a> {
    seq: u64,
    item_id: &'a str,
    #[serde(flatten)]
    head: HeadJson<'a>,
    #[serde(flatten)]
    reason: RepairJson<'a>,
}

#[derive(Serialize)]
struct RepairJson<'a> {
    fault: &'a str,
    action: &'a str,
    message: &'a str,
}

#[derive(Serialize)]
struct UsageJson {
    input_tokens: Option<u64>,
    cached_tokens: Option<u64>,
}

#[derive(Serialize)]
struct ErrorJson<'a> {
    code: &'a str,
    message: &'a str,
}

/// The answer of `GET /v1/responses/{id}/context`, with the difference to another turn.
pub(crate) fn to_json(context: &Context, difference: Option<&Difference>) -> String {
    let json = ContextJson {
        object: "antiphon.context",
        id: &context.id,
        previous_response_id: context.previous.as_deref(),
        conversation: context.conversation.as_deref(),
        created_at: context.created_at,
        status: &context.status,
        state: if context.is_delta { "upstream" } else { "gateway" },
        exact: context.exact,
        upstream: context.upstream.as_deref(),
        api: context.api,
        request: raw(context.fields.as_bytes()),
        items: context.items.iter().map(ItemJson::new).collect(),
        left_out: context.left_out.iter().map(LeftOutJson::new).collect(),
        translation: context.translation.as_deref().map(raw),
        usage: UsageJson {
            input_tokens: context.input_tokens,
            cached_tokens: context.cached_tokens,
        },
        error: context.error.as_ref().map(|(code, message)| ErrorJson { code, message }),
        difference,
    };
    serde_json::to_string(&json).expect("a context is plain data")
}

impl<'a> ItemJson<'a> {
    fn new(item: &'a ContextItem) -> Self {
        let response_id = match &item.source {
            Source::Stored { response } => {
                response.as_ref().map(antiphon_store::ResponseId::as_str)
            }
            _ => None,
        };
        Self {
            source: item.source.name(),
            seq: item.seq,
            item_id: item.id.as_deref(),
            response_id,
            head: HeadJson::new(&item.head),
            deleted: item.is_deleted,
            repair: item.repair.as_ref().map(RepairJson::new),
            item: item.item.as_ref().map(|item| raw(item.raw())),
        }
    }
}

impl<'a> LeftOutJson<'a> {
    fn new(item: &'a LeftOutItem) -> Self {
        let (head, reason) = (HeadJson::new(&item.head), RepairJson::new(&item.reason));
        Self { seq: item.seq, item_id: &item.id, head, reason }
    }
}

impl<'a> HeadJson<'a> {
    fn new(head: &'a Head) -> Self {
        Self {
            kind: head.kind.as_str(),
            call_id: head.call_id.as_ref().map(antiphon::CallId::as_str),
        }
    }
}

impl<'a> RepairJson<'a> {
    fn new(reason: &'a RepairReason) -> Self {
        let RepairReason { fault, action, message } = reason;
        Self { fault, action, message }
    }
}

/// Valid JSON, byte for byte.
fn raw(json: &[u8]) -> Box<RawValue> {
    let text = String::from_utf8_lossy(json).into_owned();
    RawValue::from_string(text).unwrap_or_else(|_| to_raw_value(&()).expect("null is JSON"))
}
