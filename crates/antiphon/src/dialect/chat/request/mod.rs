//! Encodes a Responses API request as a streaming Chat Completions request.
//!
//! ```text
//!   fields ── options, tools, tool_choice ────────────────────────┐
//!   items ─── messages ── turn (reasoning, text, calls, outputs) ─┼──> one JSON object
//!                    └─── content ────────────────────────────────┘
//! ```
//!
//! Guarantees: the order of the fields does not depend on the order in the request; arguments,
//! schemas and texts keep their bytes; every output directly follows the message with its call;
//! encoding takes linear time.

mod content;
mod messages;
mod options;
mod placeholder_reasoning;
mod reasoning;
#[cfg(test)]
mod tests;
mod tool_choice;
mod tools;
mod turn;

use bytes::Bytes;

use crate::dialect::chat::fields::Fields;
use crate::dialect::request::{Encoded, Omission, Request, RequestPath, Unsupported};
use crate::dialect::tools::as_functions;
use crate::json::Object;
pub(in crate::dialect::chat) use options::is_known as is_responses_field;
pub use placeholder_reasoning::with_placeholder_reasoning;

/// The name of the API in messages.
const DIALECT: &str = "Chat Completions";

/// Encodes the request, for an answer that is a stream and ends with its usage.
pub(in crate::dialect) fn encode(request: Request<'_>) -> Result<Encoded, Unsupported> {
    let mut omissions = ChatOmissions::default();
    let mut body = Body::new();
    body.present("model", request.fields.present("model"));
    let tools = tools::declared(request)?;
    let items = &*as_functions(request.items, &tools.names);
    let conversation = Request { items, ..request };
    body.raw("messages", &messages::encode(conversation, &tools.names, &mut omissions)?);
    tools::encode(request.fields, &tools, &mut body, &mut omissions)?;
    options::encode_formats(request.fields, &mut body, &mut omissions)?;
    options::encode_logprobs(request.fields, &mut body, &mut omissions);
    options::encode(request.fields, &mut body, &mut omissions)?;
    body.raw("stream", "true");
    body.raw("stream_options", r#"{"include_usage":true}"#);
    options::encode_unknown(request.fields, &mut body, &mut omissions);
    Ok(Encoded { body: body.into_bytes(), omissions: omissions.into_omissions() })
}

/// The fields of the body, and the names of those that belong to the API.
struct Body {
    fields: Fields,
    names: Vec<&'static str>,
}

impl Body {
    fn new() -> Self {
        Self { fields: Fields::new(), names: Vec::new() }
    }

    /// Appends a field of the API.
    fn raw(&mut self, name: &'static str, raw: &str) {
        self.fields.raw(name, raw);
        self.names.push(name);
    }

    /// Appends a field of the API if it has a value.
    fn present(&mut self, name: &'static str, raw: Option<&str>) {
        if let Some(raw) = raw {
            self.raw(name, raw);
        }
    }

    /// Appends an unknown field.
    fn unknown(&mut self, name: &str, raw: &str) {
        self.fields.raw(name, raw);
    }

    /// Whether the body has this field of the API.
    fn has(&self, name: &str) -> bool {
        self.names.contains(&name)
    }

    fn into_bytes(mut self) -> Bytes {
        self.fields.json().into()
    }
}

/// The omissions of one request, in order.
#[derive(Default)]
struct ChatOmissions {
    omissions: Vec<Omission>,
}

impl ChatOmissions {
    /// Reports that the value at `place` is left out. `because` completes a sentence about the API.
    fn leave_out(&mut self, place: RequestPath, because: &str) {
        let message = format!("'{place}' is left out for {DIALECT}: {because}.");
        self.omissions.push(Omission { place, message });
    }

    /// Reports the fields of the item at `position` that are not among `carried`.
    fn leave_out_fields(&mut self, position: usize, item: &Object<'_>, carried: &[&str]) {
        for (name, raw) in item.iter() {
            if raw != "null" && !carried.contains(&name) {
                let place = RequestPath::Item(position, name.to_owned());
                self.leave_out(place, "it has no such field");
            }
        }
    }

    fn into_omissions(self) -> Vec<Omission> {
        self.omissions
    }
}

/// The error for a value that the request needs. `because` is as in [`ChatOmissions::leave_out`].
fn unsupported(place: RequestPath, because: &str) -> Unsupported {
    let message = format!("'{place}' cannot be sent as {DIALECT}: {because}.");
    Unsupported { place, message }
}
