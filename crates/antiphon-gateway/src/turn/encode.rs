//! Encodes the upstream request.

use std::borrow::Cow;
use std::collections::HashMap;

use antiphon::dialect::{Encoded, Encoder, Request, RequestPath, Unsupported};
use antiphon::item::StatusField;
use antiphon::json::{Object, quote};
use antiphon::stateful::ContinueFrom;
use antiphon::{Item, Origin};
use bytes::Bytes;

use crate::chunks::Chunks;
use crate::error::ApiError;
use crate::request::{CreateRequest, ENCRYPTED, includes};
use crate::upstream::AnswerForm;

/// Fields that the gateway implements itself, so that the upstream never receives them.
const OWN_FIELDS: [&str; 3] = ["conversation", "previous_response_id", "background"];

/// The field that requests compaction.
const COMPACTION: &str = "context_management";

/// The form of the answer, and the optional features that the gateway requests from a Responses API
/// upstream. Not every upstream has them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct UpstreamOptions {
    /// The form of the answer.
    pub(super) form: AnswerForm,
    /// Encrypted reasoning.
    pub(super) encrypted: bool,
    /// Compaction by the upstream, if the caller requests it.
    pub(super) compaction: bool,
}

/// Encodes the request for an upstream that does not speak the Responses API. Returns the omitted
/// fields and items as well.
pub(super) fn translate(
    encode: Encoder,
    request: &CreateRequest,
    view: &[Item],
    origin: &Origin,
) -> Result<Encoded, ApiError> {
    let mut fields = request.object();
    remove_own_fields(&mut fields);
    encode(Request { fields: &fields, items: view, origin })
        .map_err(|error| unsupported(&error, request, view))
}

/// The error for a part of the request that the dialect cannot carry. It names the caller's own
/// field or input position, which the caller can change.
fn unsupported(error: &Unsupported, request: &CreateRequest, view: &[Item]) -> ApiError {
    let RequestPath::Item(at, path) = &error.place else {
        let message = error.message.clone();
        return ApiError::UnsupportedByDialect { path: error.place.to_string(), message };
    };
    let source = Sources::new(&request.input).position(&view[*at]);
    let param = source.map(|position| RequestPath::Item(position, path.clone()).to_string());
    let message = rewrite_message(&error.message, *at, &view[*at], source);
    ApiError::UnsupportedByDialect { path: param.unwrap_or("input".into()), message }
}

/// Rewrites an encoder's message about the item at `at` of the view so that it names the item as
/// the caller knows it: by its position in the input or, for a stored item, by its id.
pub(super) fn rewrite_message(
    message: &str,
    at: usize,
    item: &Item,
    source: Option<usize>,
) -> String {
    let id = item.head().id.as_ref().map_or("without an id", antiphon::ItemId::as_str);
    let known_as = match source {
        Some(position) => format!("input[{position}]"),
        None => format!("held item {id}"),
    };
    message.replace(&format!("input[{at}]"), &known_as)
}

/// Encodes items for an upstream that does not speak the Responses API. `None` if its API cannot
/// carry them.
pub(crate) fn encode_for_api(
    encode: Encoder,
    mut fields: Object<'_>,
    items: &[Item],
    origin: &Origin,
) -> Option<Bytes> {
    remove_own_fields(&mut fields);
    encode(Request { fields: &fields, items, origin }).ok().map(|encoded| encoded.body)
}

/// Removes the fields that other APIs do not have: the gateway compacts or cuts a long input
/// itself.
fn remove_own_fields(fields: &mut Object<'_>) {
    for key in OWN_FIELDS.into_iter().chain(["store", "truncation", COMPACTION]) {
        fields.remove(key);
    }
}

/// Maps items of the view to their positions in the input. Both share the same bytes.
pub(super) struct Sources(HashMap<*const u8, usize>);

impl Sources {
    pub(super) fn new(input: &[Item]) -> Self {
        let places = input.iter().map(|item| item.raw().as_ptr());
        Self(places.enumerate().map(|(position, place)| (place, position)).collect())
    }

    /// The position in the input; `None` for a stored item.
    pub(super) fn position(&self, item: &Item) -> Option<usize> {
        self.0.get(&item.raw().as_ptr()).copied()
    }
}

/// Encodes a stateless request with this input. The caller's other fields are copied as
/// they are; the items are shared, not copied.
pub(super) fn encode(request: &CreateRequest, input: &[Item], options: UpstreamOptions) -> Chunks {
    let mut fields = request.object();
    for key in OWN_FIELDS {
        fields.remove(key);
    }
    if !options.compaction {
        fields.remove(COMPACTION);
    }
    match include(&fields, options.encrypted) {
        Some(include) => fields.set("include", include),
        None => fields.remove("include"),
    }
    fields.set("store", "false");
    match options.form {
        AnswerForm::Events => fields.set("stream", "true"),
        AnswerForm::Whole => {
            fields.set("stream", "false");
            // Allowed only in a request for a stream.
            fields.remove("stream_options");
        }
    }
    with_input(&fields.to_text(), input)
}

/// Encodes a request for an upstream that owns the state. The caller's fields stay as they are,
/// except that the request is streamed (unless it is queued) and that `continue_from` can replace
/// the previous response.
pub(super) fn encode_unchanged(
    request: &CreateRequest,
    input: &[Item],
    continue_from: &ContinueFrom,
) -> Chunks {
    let mut fields = request.object();
    continue_from.write(&mut fields);
    if !request.is_queued() {
        fields.set("stream", "true");
    }
    with_input(&fields.to_text(), input)
}

/// Encodes a request that only compacts this input.
pub(super) fn encode_compact(request: &CreateRequest, input: &[Item]) -> Bytes {
    let mut fields = request.object();
    for key in OWN_FIELDS.into_iter().chain(["store", "stream", "include", COMPACTION]) {
        fields.remove(key);
    }
    with_input(&fields.to_text(), input).to_bytes()
}

/// Encodes a request that counts the tokens of this input.
pub(super) fn encode_for_count(request: &CreateRequest, input: &[Item]) -> Bytes {
    let mut fields = request.object();
    for key in OWN_FIELDS {
        fields.remove(key);
    }
    with_input(&fields.to_text(), input).to_bytes()
}

/// Appends the items to the object `fields` as its last field, `input`.
fn with_input(fields: &str, input: &[Item]) -> Chunks {
    let open = fields.strip_suffix('}').expect("an object ends with a brace");
    let mut body = Chunks::with_capacity(2 * input.len() + 2);
    body.push(format!(r#"{open},"input":["#));
    for (position, item) in input.iter().enumerate() {
        if position > 0 {
            body.push(Bytes::from_static(b","));
        }
        body.push(without_rejected_status(item).raw().clone());
    }
    body.push(Bytes::from_static(b"]}"));
    body
}

/// Removes the `status` that the gateway shows on every item. OpenAI's API defines none for these
/// kinds and, for reasoning, rejects the one that it defines: `Unknown parameter:
/// 'input[1].status'.`
pub(crate) fn without_rejected_status(item: &Item) -> Cow<'_, Item> {
    let is_rejected = item.head().kind.status() == StatusField::Rejected;
    match is_rejected && item.object().get("status").is_some() {
        true => Cow::Owned(item.with(|object| object.remove("status"))),
        false => Cow::Borrowed(item),
    }
}

/// The `include` field: the caller's values, and encrypted reasoning if the model provides it.
fn include(fields: &Object<'_>, encrypted: bool) -> Option<String> {
    let mut includes = includes(fields).unwrap_or_default();
    includes.retain(|include| include != ENCRYPTED);
    if encrypted {
        includes.push(ENCRYPTED.to_owned());
    }
    let includes: Vec<String> = includes.iter().map(|include| quote(include)).collect();
    (!includes.is_empty()).then(|| format!("[{}]", includes.join(",")))
}
