//! The request as an upstream gets it.

use std::collections::HashMap;

use antiphon::dialect::{self, Dialect, Encoded, Place, Request, Unsupported};
use antiphon::json::{Object, quote};
use antiphon::{Item, Kind, Origin};
use bytes::Bytes;

use crate::chunks::Chunks;
use crate::error::ApiError;
use crate::request::{CreateRequest, ENCRYPTED, includes};

/// What the gateway does itself, so that no upstream is asked for it.
const OWN_FIELDS: [&str; 3] = ["conversation", "previous_response_id", "background"];

/// The field that asks for compaction.
const COMPACTION: &str = "context_management";

/// What an upstream of the Responses API is asked for beside the answer, because not all can do it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Beside {
    /// Its reasoning, encrypted.
    pub(super) encrypted: bool,
    /// To compact the history by itself where the caller wishes it.
    pub(super) compaction: bool,
}

/// The response that a request to an upstream that keeps the state goes on from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Previous<'a> {
    /// The one that the caller named, if any.
    AsAsked,
    /// Another, or none.
    Other(Option<&'a str>),
}

/// The request in the dialect of an upstream that does not speak the Responses API, and what of it
/// was left out.
pub(super) fn translated(
    dialect: Dialect,
    request: &CreateRequest,
    view: &[Item],
    origin: &Origin,
) -> Result<Encoded, ApiError> {
    let mut fields = request.object();
    // What is too long is compacted or cut here, since these APIs know no such fields.
    for key in OWN_FIELDS.into_iter().chain(["store", "truncation", COMPACTION]) {
        fields.remove(key);
    }
    dialect::encode(dialect, Request { fields: &fields, items: view, origin })
        .map_err(|error| unsupported(&error, request, view))
}

/// What an upstream's dialect cannot carry is the caller's to change: it is named where the caller
/// wrote it.
fn unsupported(error: &Unsupported, request: &CreateRequest, view: &[Item]) -> ApiError {
    let refused = |message: &str| ApiError::invalid(message).code("unsupported_parameter");
    let Place::Item(at, path) = &error.place else {
        return refused(&error.message).param(error.place.to_string());
    };
    let source = Sources::of(&request.input).position(&view[*at]);
    let param = source.map(|position| Place::Item(position, path.clone()).to_string());
    refused(&message_of(&error.message, *at, &view[*at], source))
        .param(param.unwrap_or("input".into()))
}

/// An encoder's sentence on the item at `at` of the view, which names it as its caller knows it: by
/// its place in the input, or, where it was held before, by its id.
pub(super) fn message_of(message: &str, at: usize, item: &Item, source: Option<usize>) -> String {
    let id = item.head().id.as_ref().map_or("without an id", antiphon::ItemId::as_str);
    let known_as = match source {
        Some(position) => format!("input[{position}]"),
        None => format!("held item {id}"),
    };
    message.replace(&format!("input[{at}]"), &known_as)
}

/// Where in the input the items of the view came from: they are the same bytes.
pub(super) struct Sources(HashMap<*const u8, usize>);

impl Sources {
    pub(super) fn of(input: &[Item]) -> Self {
        let places = input.iter().map(|item| item.raw().as_ptr());
        Self(places.enumerate().map(|(position, place)| (place, position)).collect())
    }

    /// The position in the input; `None` for what was held before.
    pub(super) fn position(&self, item: &Item) -> Option<usize> {
        self.0.get(&item.raw().as_ptr()).copied()
    }
}

/// The body of the upstream's request: stateless, streamed, with this input. The caller's other
/// fields stand in it as they came; the items are shared, not copied.
pub(super) fn encode(request: &CreateRequest, input: &[Item], beside: Beside) -> Chunks {
    let mut fields = request.object();
    for key in OWN_FIELDS {
        fields.remove(key);
    }
    if !beside.compaction {
        fields.remove(COMPACTION);
    }
    match include(&fields, beside.encrypted) {
        Some(include) => fields.set("include", include),
        None => fields.remove("include"),
    }
    fields.set("store", "false");
    fields.set("stream", "true");
    with_input(&fields.to_text(), input)
}

/// The body of a request to an upstream that keeps the state: with this input, streamed unless its caller
/// wants to be told that it is queued, and else as the caller made it; or behind another response than
/// it names.
pub(super) fn as_it_came(
    request: &CreateRequest,
    input: &[Item],
    previous: Previous<'_>,
) -> Chunks {
    let mut fields = request.object();
    match previous {
        Previous::AsAsked => {}
        Previous::Other(None) => fields.remove("previous_response_id"),
        Previous::Other(Some(id)) => fields.set_string("previous_response_id", id),
    }
    if !request.is_queued() {
        fields.set("stream", "true");
    }
    with_input(&fields.to_text(), input)
}

/// The body of a request for nothing but a compaction of this input.
pub(super) fn encode_compact(request: &CreateRequest, input: &[Item]) -> Bytes {
    let mut fields = request.object();
    for key in OWN_FIELDS.into_iter().chain(["store", "stream", "include", COMPACTION]) {
        fields.remove(key);
    }
    with_input(&fields.to_text(), input).to_bytes()
}

/// The body of a request that asks how many tokens this input is.
pub(super) fn for_count(request: &CreateRequest, input: &[Item]) -> Bytes {
    let mut fields = request.object();
    for key in OWN_FIELDS {
        fields.remove(key);
    }
    with_input(&fields.to_text(), input).to_bytes()
}

/// The object `fields` with the array of items as its last field.
fn with_input(fields: &str, input: &[Item]) -> Chunks {
    let open = fields.strip_suffix('}').expect("an object ends with a brace");
    let mut body = Chunks::from(format!(r#"{open},"input":["#));
    for (position, item) in input.iter().enumerate() {
        if position > 0 {
            body.push(Bytes::from_static(b","));
        }
        body.push(as_a_provider_takes_it(item));
    }
    body.push(Bytes::from_static(b"]}"));
    body
}

/// The item without the `status` that callers are shown of every item, where OpenAI's API defines
/// none for its kind, or, of reasoning, refuses the one that it defines: `Unknown parameter:
/// 'input[1].status'.`
fn as_a_provider_takes_it(item: &Item) -> Bytes {
    use Kind as K;
    let goes_without = matches!(
        item.head().kind,
        K::Reasoning
            | K::Compaction
            | K::Program
            | K::McpListTools
            | K::McpApprovalRequest
            | K::McpApprovalResponse
    );
    match goes_without && item.object().get("status").is_some() {
        true => item.with(|object| object.remove("status")).raw().clone(),
        false => item.raw().clone(),
    }
}

/// What to include: as the caller asked, and encrypted reasoning where the model gives it.
fn include(fields: &Object<'_>, encrypted: bool) -> Option<String> {
    let mut includes = includes(fields).unwrap_or_default();
    includes.retain(|include| include != ENCRYPTED);
    if encrypted {
        includes.push(ENCRYPTED.to_owned());
    }
    let includes: Vec<String> = includes.iter().map(|include| quote(include)).collect();
    (!includes.is_empty()).then(|| format!("[{}]", includes.join(",")))
}
