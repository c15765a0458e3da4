//! A request of the Responses API as a streaming Chat Completions request.
//!
//! ```text
//!   fields ── options, tools, tool_choice, response_format ──┐
//!   items ─── messages ── turn (reasoning, text, calls) ─────┼──> one JSON object
//!                    └─── content, output ───────────────────┘
//! ```
//!
//! Laws: what a server is given is in one order, whatever order the fields came in; arguments,
//! schemas and texts pass in the bytes that came; every output stands directly behind the calls it
//! belongs to; time is linear in the request.

mod body;
mod call_ids;
mod content;
mod kinds;
mod logprobs;
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
pub use stand_in::with_reasoning_stood_in;

use crate::dialect::request::{Encoded, Request, Unsupported};

/// What this dialect is called in messages.
const DIALECT: &str = "Chat Completions";

/// The request as Chat Completions has it, to be answered as a stream that ends with its usage.
pub(in crate::dialect) fn encode(request: Request<'_>) -> Result<Encoded, Unsupported> {
    let mut report = Report::default();
    let mut body = Body::new();
    body.present("model", request.fields.present("model"));
    body.raw("messages", &messages::encode(request, &mut report)?);
    tools::encode(request.fields, &mut body)?;
    response_format::encode(request.fields, &mut body, &mut report)?;
    logprobs::encode(request.fields, &mut body, &mut report);
    options::encode(request.fields, &mut body, &mut report)?;
    body.raw("stream", "true");
    body.raw("stream_options", r#"{"include_usage":true}"#);
    options::pass_on(request.fields, &mut body, &mut report);
    Ok(Encoded { body: body.into_bytes(), omissions: report.into_omissions() })
}
