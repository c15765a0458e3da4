//! Encodes a Responses API request as a streaming Chat Completions request.
//!
//! ```text
//!   fields ── options, tools, tool_choice, response_format ──┐
//!   items ─── messages ── turn (reasoning, text, calls) ─────┼──> one JSON object
//!                    └─── content, output ───────────────────┘
//! ```
//!
//! Guarantees: the order of the fields does not depend on the order in the request; arguments,
//! schemas and texts keep their bytes; every output directly follows the message with its call;
//! encoding takes linear time.

mod body;
mod call_ids;
mod content;
mod messages;
mod options;
mod output;
mod parts;
mod reasoning;
mod report;
mod response_format;
mod stand_in;
#[cfg(test)]
mod tests;
mod tool_choice;
mod tools;
mod turn;

use body::Body;
use report::Report;
pub use stand_in::with_placeholder_reasoning;

use crate::dialect::request::{Encoded, Request, Unsupported};

/// The name of the API in messages.
const DIALECT: &str = "Chat Completions";

/// Encodes the request, for an answer that is a stream and ends with its usage.
pub(in crate::dialect) fn encode(request: Request<'_>) -> Result<Encoded, Unsupported> {
    let mut report = Report::default();
    let mut body = Body::new();
    body.present("model", request.fields.present("model"));
    body.raw("messages", &messages::encode(request, &mut report)?);
    tools::encode(request.fields, &mut body)?;
    response_format::encode(request.fields, &mut body, &mut report)?;
    options::encode_logprobs(request.fields, &mut body, &mut report);
    options::encode(request.fields, &mut body, &mut report)?;
    body.raw("stream", "true");
    body.raw("stream_options", r#"{"include_usage":true}"#);
    options::encode_unknown(request.fields, &mut body, &mut report);
    Ok(Encoded { body: body.into_bytes(), omissions: report.into_omissions() })
}
