//! Content blocks, their pieces, and the message around them, as JSON.

use std::borrow::Cow;
use std::collections::HashSet;

use super::ending::usage_of;
use crate::json::{Object, quote, unquote};
use crate::stream::Event;

/// What a delta adds to its block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Delta {
    Text,
    Thinking,
    Signature,
    Input,
    Citation,
}

impl Delta {
    /// Whether it adds a piece of a text, a raw JSON string.
    pub(super) fn is_text(self) -> bool {
        matches!(self, Self::Text | Self::Thinking | Self::Input)
    }

    /// The delta's type, and the field that holds what it adds.
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

/// A piece of a block's life.
#[derive(Debug)]
pub(super) enum Piece<'a> {
    /// It starts as this block, raw.
    Start(Cow<'a, str>),
    /// It goes on by this value, raw.
    Delta(Delta, Cow<'a, str>),
    Stop,
}

impl Piece<'_> {
    pub(super) fn into_owned(self) -> Piece<'static> {
        match self {
            Self::Start(block) => Piece::Start(block.into_owned().into()),
            Self::Delta(delta, raw) => Piece::Delta(delta, raw.into_owned().into()),
            Self::Stop => Piece::Stop,
        }
    }

    /// The event that tells of it, in the block of this index.
    pub(super) fn event(&self, index: u64) -> Event {
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

/// Written for every word: in memory of just its length.
fn delta_event(index: &str, delta: Delta, raw: &str) -> String {
    let (name, key) = delta.names();
    let event = r#"{"type":"content_block_delta","index":"#;
    let [of_type, of_key] = [r#","delta":{"type":""#, r#"",""#];
    [event, index, of_type, name, of_key, key, r#"":"#, raw, "}}"].concat()
}

/// The ids of the `tool_use` blocks of one message.
#[derive(Debug, Default)]
pub(super) struct ToolIds(HashSet<String>);

impl ToolIds {
    /// The id for a call: its `call_id`, or the item's id where another call has that.
    pub(super) fn id_of(&mut self, call: &Object<'_>) -> String {
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

/// A `tool_use` block of this call with this input, raw.
pub(super) fn tool_use(call: &Object<'_>, tools: &mut ToolIds, input: &str) -> String {
    let id = quote(&tools.id_of(call));
    let name = call.get("name").unwrap_or(r#""""#);
    format!(r#"{{"type":"tool_use","id":{id},"name":{name},"input":{input}}}"#)
}

/// The input of a call with these arguments. What is no JSON object, such as arguments that were cut
/// short, goes as its field `_raw`, as it does in requests: a call without arguments is another call.
pub(super) fn input_of(arguments: &str) -> String {
    let text = unquote(arguments).unwrap_or_default();
    match Object::parse(text.as_bytes()) {
        Ok(_) => text.trim().to_owned(),
        Err(_) if text.trim().is_empty() => "{}".to_owned(),
        Err(_) => format!(r#"{{"_raw":{arguments}}}"#),
    }
}

/// The citation for an annotation. What only Anthropic's search knows of it, the cited text and
/// its index, is empty; of files nothing is known that a citation needs.
pub(super) fn citation_of(annotation: &Object<'_>) -> Option<String> {
    let url = annotation.get("url")?;
    let is_of_a_url = annotation.string("type").as_deref() == Some("url_citation");
    let title = annotation.get("title").unwrap_or("null");
    is_of_a_url.then(|| {
        format!(
            r#"{{"type":"web_search_result_location","cited_text":"","encrypted_index":"","title":{title},"url":{url}}}"#
        )
    })
}

/// The block that an extension item holds, where its type is the item's.
pub(super) fn held_block(item: &Object<'_>) -> Option<String> {
    let kind = item.string("type")?;
    let raw = item.get("content")?;
    let block = Object::parse(raw.as_bytes()).ok()?;
    let is_its_own = kind.strip_prefix("anthropic:") == block.string("type").as_deref();
    is_its_own.then(|| raw.to_owned())
}

/// A message that answers this response, with these blocks.
pub(super) fn message(
    response: &Object<'_>,
    content: &str,
    stop_reason: &str,
    usage: Option<&Object<'_>>,
) -> String {
    let id = response.string("id").unwrap_or_default();
    let id = quote(&format!("msg_{}", id.strip_prefix("resp_").unwrap_or(&id)));
    let model = response.present("model").unwrap_or(r#""""#);
    let usage = usage_of(usage);
    format!(
        r#"{{"id":{id},"type":"message","role":"assistant","model":{model},"content":[{content}],"stop_reason":{stop_reason},"stop_sequence":null,"usage":{usage}}}"#
    )
}
