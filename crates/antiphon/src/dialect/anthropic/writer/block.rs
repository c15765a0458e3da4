//! Content blocks, their events, their signatures, and the message around them, as JSON.

use std::borrow::Cow;
use std::collections::HashSet;

use super::ending::usage_json;
use crate::dialect::{Dialect, Seal};
use crate::json::{Object, quote, unquote};
use crate::stream::Event;
use crate::transcript::Origin;

/// The type of a block's delta.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Delta {
    Text,
    Thinking,
    Signature,
    Input,
    Citation,
}

impl Delta {
    /// Whether the delta is a event of text: a raw JSON string.
    pub(super) fn is_text(self) -> bool {
        matches!(self, Self::Text | Self::Thinking | Self::Input)
    }

    /// The delta's type, and the name of its value's field.
    fn names(self) -> (&'static str, &'static str) {
        match self {
            Self::Text => ("text_delta", "text"),
            Self::Thinking => ("thinking_delta", "thinking"),
            Self::Signature => ("signature_delta", "signature"),
            Self::Input => ("input_json_delta", "partial_json"),
            Self::Citation => ("citations_delta", "citation"),
        }
    }
}

/// An event of one block.
#[derive(Debug)]
pub(super) enum BlockEvent<'a> {
    /// The start, with the raw block.
    Start(Cow<'a, str>),
    /// A delta with its raw value.
    Delta(Delta, Cow<'a, str>),
    Stop,
}

impl BlockEvent<'_> {
    pub(super) fn into_owned(self) -> BlockEvent<'static> {
        match self {
            Self::Start(block) => BlockEvent::Start(block.into_owned().into()),
            Self::Delta(delta, raw) => BlockEvent::Delta(delta, raw.into_owned().into()),
            Self::Stop => BlockEvent::Stop,
        }
    }

    /// The stream event for the block at this index.
    pub(super) fn to_stream_event(&self, index: u64) -> Event {
        let (kind, data) = match self {
            Self::Start(block) => (
                "content_block_start",
                format!(
                    r#"{{"type":"content_block_start","index":{index},"content_block":{block}}}"#
                ),
            ),
            Self::Delta(delta, raw) => {
                ("content_block_delta", delta_event(&index.to_string(), *delta, raw))
            }
            Self::Stop => (
                "content_block_stop",
                format!(r#"{{"type":"content_block_stop","index":{index}}}"#),
            ),
        };
        Event { kind: Cow::Borrowed(kind), data: data.into() }
    }
}

/// Builds the event in one allocation, because it is written for every delta.
fn delta_event(index: &str, delta: Delta, raw: &str) -> String {
    let (name, key) = delta.names();
    let event = r#"{"type":"content_block_delta","index":"#;
    let [of_type, of_key] = [r#","delta":{"type":""#, r#"",""#];
    [event, index, of_type, name, of_key, key, r#"":"#, raw, "}}"].concat()
}

/// The ids of the `tool_use` blocks of one message.
#[derive(Debug, Default)]
pub(in crate::dialect) struct ToolIds(HashSet<String>);

impl ToolIds {
    /// Assigns the id of a call: its `call_id`, or the item's id if another call has the `call_id`.
    pub(in crate::dialect) fn assign(&mut self, call: &Object<'_>) -> String {
        let call_id = call.string("call_id").unwrap_or_default().into_owned();
        let is_new = self.0.insert(call_id.clone());
        if is_new && !call_id.is_empty() {
            return call_id;
        }
        let id = call.string("id").unwrap_or_default().into_owned();
        self.0.insert(id.clone());
        id
    }
}

/// The raw `tool_use` block of this call, with this raw input.
pub(super) fn tool_use(call: &Object<'_>, tools: &mut ToolIds, input: &str) -> String {
    let id = quote(&tools.assign(call));
    let name = call.get("name").unwrap_or(r#""""#);
    format!(r#"{{"type":"tool_use","id":{id},"name":{name},"input":{input}}}"#)
}

/// The input for these arguments. Arguments that are not a JSON object, for example because a limit
/// cut them short, are sent in the field `_raw`, as in requests; `{}` would be another call.
pub(in crate::dialect) fn input_json(arguments: &str) -> String {
    let text = unquote(arguments).unwrap_or_default();
    match Object::parse(text.as_bytes()) {
        Ok(_) => text.trim().to_owned(),
        Err(_) if text.trim().is_empty() => "{}".to_owned(),
        Err(_) => format!(r#"{{"_raw":{arguments}}}"#),
    }
}

/// The citation for an annotation. The cited text and the encrypted index are empty, because only
/// Anthropic's search has them. File citations are dropped: an annotation lacks their required
/// data.
pub(super) fn citation_json(annotation: &Object<'_>) -> Option<String> {
    let url = annotation.get("url")?;
    let is_of_a_url = annotation.string("type").as_deref() == Some("url_citation");
    let title = annotation.get("title").unwrap_or("null");
    is_of_a_url.then(|| {
        let page = format!(r#""title":{title},"url":{url}"#);
        format!(
            r#"{{"type":"web_search_result_location","cited_text":"","encrypted_index":"",{page}}}"#
        )
    })
}

/// The block of an extension item, if the block's type matches the item's type.
pub(super) fn extension_block(item: &Object<'_>) -> Option<String> {
    let kind = item.string("type")?;
    let name = kind.strip_prefix("anthropic:")?;
    let raw = item.get("content")?;
    let block = Object::parse(raw.as_bytes()).ok()?;
    let is_its_own = block.string("type").as_deref() == Some(name);
    is_its_own.then(|| raw.to_owned())
}

/// The `message` object for this response, with these blocks.
pub(super) fn message(
    response: &Object<'_>,
    content: &str,
    stop_reason: &str,
    usage: Option<&Object<'_>>,
) -> String {
    let id = response.string("id").unwrap_or_default();
    let id = quote(&format!("msg_{}", id.strip_prefix("resp_").unwrap_or(&id)));
    let model = response.present("model").unwrap_or(r#""""#);
    let usage = usage_json(usage);
    let head = format!(r#""id":{id},"type":"message","role":"assistant","model":{model}"#);
    let ending = format!(r#""stop_reason":{stop_reason},"stop_sequence":null,"usage":{usage}"#);
    format!(r#"{{{head},"content":[{content}],{ending}}}"#)
}

/// The sealed form of a reasoning item for Anthropic's clients, which return it unchanged.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Sealed {
    /// Nothing is sealed.
    Nothing,
    /// A signature, as a raw JSON string: Anthropic's own, or the `encrypted_content` of another
    /// provider, sealed so that the client returns it.
    Signature(String),
    /// A whole `redacted_thinking` block, raw.
    Redacted(String),
}

impl Sealed {
    /// `origin` created the reasoning. It seals content that its provider encrypted.
    pub(super) fn from_item(reasoning: &Object<'_>, origin: Option<&Origin>) -> Self {
        let Some(text) = reasoning.string("encrypted_content").filter(|text| !text.is_empty())
        else {
            return Self::Nothing;
        };
        match Seal::parse(&text) {
            Some(seal) if seal.dialect == Dialect::Anthropic => Self::from_block(seal.content),
            None if let Some(origin) = origin => {
                Self::Signature(quote(&Seal::from_encrypted(&text, origin.clone()).to_text()))
            }
            _ => Self::Signature(quote(&text)),
        }
    }

    fn from_block(raw: String) -> Self {
        let block = Object::parse(raw.as_bytes()).unwrap_or_default();
        if block.string("type").as_deref() == Some("redacted_thinking") {
            return Self::Redacted(raw);
        }
        let signature = block.get("signature").filter(|raw| raw.len() > 2);
        signature.map_or(Self::Nothing, |raw| Self::Signature(raw.to_owned()))
    }
}
