//! A request in the dialect of Anthropic's Messages API: the body of `POST /v1/messages` under
//! `anthropic-version: 2023-06-01`, to be answered as a stream. No beta header is needed for it.
//!
//! - [`conversation`]: items become `system` and `messages`.
//! - [`content`], [`media`]: parts of messages and outputs become blocks.
//! - [`tools`], [`tool_choice`]: tools, and which of them are sent.
//! - [`thinking`], [`sampling`], [`options`]: all other fields.
//! - [`model`]: what of it depends on the model's generation.
//!
//! A field that the Responses API does not have (`top_k`, `stop_sequences`, `thinking`,
//! `cache_control`, …) passes as it came, in the place of what would have been made here.

mod block;
mod call;
mod call_names;
mod content;
mod conversation;
mod media;
mod model;
mod options;
mod report;
mod sampling;
#[cfg(test)]
mod tests;
mod thinking;
mod tool_choice;
mod tools;
mod turns;

use std::borrow::Cow;

use self::conversation::Conversation;
use self::model::Model;
use self::report::Report;
use self::sampling::Sampling;
use self::thinking::Thinking;
use self::tool_choice::ToolChoice;
use self::tools::Tools;
use crate::dialect::request::{Encoded, Request, Unsupported};
use crate::json::Object;

/// `max_tokens` where a request has no `max_output_tokens`: Anthropic Messages requires the field.
/// No model since Claude 4 writes less in one answer, thinking included; earlier ones get what they
/// can write at most.
pub const DEFAULT_MAX_TOKENS: u64 = 32_000;

pub(in crate::dialect) fn encode(request: Request<'_>) -> Result<Encoded, Unsupported> {
    let fields = request.fields;
    options::refuse(fields)?;
    let mut report = Report::default();
    let model = Model::of(fields);
    let conversation = Conversation::of(request, &mut report)?;
    let choice = ToolChoice::of(fields)?;
    choice.is_among(&Tools::names(fields))?;
    let tools = Tools::of(fields, &choice, &mut report)?;
    let max_tokens = MaxTokens::of(fields, &model);
    let limits = thinking::Limits {
        max_tokens: max_tokens.number,
        forced_tool: choice.forces() && !tools.is_empty(),
        needs_thinking_first: conversation.lacks_thinking_first(),
    };
    let thinking = Thinking::of(fields, &model, limits, &mut report)?;
    let sampling = Sampling::of(fields, &model, thinking.is_on(), &mut report);

    let mut body = Object::default();
    if let Some(model) = fields.present("model") {
        body.set("model", model);
    }
    body.set("max_tokens", max_tokens.raw);
    body.set("stream", "true");
    conversation.write(&mut body);
    tools.write(&choice, &conversation, &mut body);
    sampling.write(&mut body);
    thinking.write(&mut body);
    options::write(fields, &mut body, &mut report);
    Ok(Encoded { body: body.to_bytes(), omissions: report.into_omissions() })
}

/// How much the model may write, thinking included: `max_output_tokens` means the same.
struct MaxTokens<'a> {
    raw: Cow<'a, str>,
    number: u64,
}

impl<'a> MaxTokens<'a> {
    fn of(fields: &'a Object<'_>, model: &Model) -> Self {
        let own = fields.present("max_tokens").or_else(|| fields.present("max_output_tokens"));
        if let Some(raw) = own {
            return Self { raw: raw.into(), number: raw.parse().unwrap_or(DEFAULT_MAX_TOKENS) };
        }
        let number = model.writes_at_most().unwrap_or(DEFAULT_MAX_TOKENS);
        Self { raw: number.to_string().into(), number }
    }
}
