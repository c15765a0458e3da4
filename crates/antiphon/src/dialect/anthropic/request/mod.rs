//! Encodes a request for Anthropic's Messages API: the body of `POST /v1/messages` under
//! `anthropic-version: 2023-06-01`, with a streamed answer. The request needs no beta header.
//!
//! - [`conversation`]: `system` and `messages`, from items.
//! - [`content`], [`media`]: blocks, from the parts of messages and outputs.
//! - [`tools`], [`tool_choice`]: the tools, and the choice among them.
//! - [`thinking`], [`options`]: all other fields.
//! - [`model`]: the differences between the generations of models.
//!
//! A field that the Responses API does not have (`top_k`, `stop_sequences`, `thinking`,
//! `cache_control`, …) is sent unchanged and overrides the value that the encoder would send.

mod block;
mod content;
mod conversation;
mod media;
mod model;
mod options;
#[cfg(test)]
mod tests;
mod thinking;
mod tool_choice;
mod tools;
mod turns;

use std::borrow::Cow;

use self::conversation::Conversation;
use self::model::Model;
use self::options::Sampling;
use self::thinking::Thinking;
use self::tool_choice::ToolChoice;
use self::tools::Tools;
use crate::dialect::request::{Encoded, Omission, Request, RequestPath, Unsupported};
use crate::dialect::tools::as_functions;
use crate::json::Object;

/// The `max_tokens` of a request without `max_output_tokens`, because Anthropic requires the field.
/// Every model since Claude 4 can write this many tokens in one answer, thinking included; earlier
/// models get their own maximum.
pub const DEFAULT_MAX_TOKENS: u64 = 32_000;

pub(in crate::dialect) fn encode(request: Request<'_>) -> Result<Encoded, Unsupported> {
    let fields = request.fields;
    options::refuse(fields)?;
    let mut omissions = AnthropicOmissions::default();
    let model = Model::from_fields(fields);
    let declared = tools::declared(request)?;
    let items = &*as_functions(request.items, &declared.names);
    let request = Request { items, ..request };
    let conversation = Conversation::from_request(request, &declared.names, &mut omissions)?;
    let choice = ToolChoice::from_fields(fields, &declared)?;
    choice.check_defined(&tools::names(&declared))?;
    let tools = Tools::from_declared(&declared, &choice, &mut omissions)?;
    let max_tokens = MaxTokens::from_fields(fields, &model);
    let limits = thinking::Limits {
        max_tokens: max_tokens.number,
        forced_tool: choice.forces() && !tools.is_empty(),
        needs_thinking_first: conversation.lacks_thinking_first(),
    };
    let thinking = Thinking::from_fields(fields, &model, limits, &mut omissions)?;
    let sampling = Sampling::from_fields(fields, &model, thinking.is_on(), &mut omissions);

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
    options::write(fields, &mut body, &mut omissions);
    Ok(Encoded { body: body.to_bytes(), omissions: omissions.into_omissions() })
}

/// Whether a request of the Responses API has a field of this name. Any other field of a request is
/// sent unchanged.
pub(super) fn is_responses_field(name: &str) -> bool {
    options::is_known(name)
}

/// The limit of the output, thinking included. `max_output_tokens` has the same meaning.
struct MaxTokens<'a> {
    raw: Cow<'a, str>,
    number: u64,
}

impl<'a> MaxTokens<'a> {
    fn from_fields(fields: &'a Object<'_>, model: &Model) -> Self {
        let own = fields.present("max_tokens").or_else(|| fields.present("max_output_tokens"));
        if let Some(raw) = own {
            return Self { raw: raw.into(), number: raw.parse().unwrap_or(DEFAULT_MAX_TOKENS) };
        }
        let number = model.max_output_tokens().unwrap_or(DEFAULT_MAX_TOKENS);
        Self { raw: number.to_string().into(), number }
    }
}

/// The omissions and changes so far.
#[derive(Default)]
struct AnthropicOmissions(Vec<Omission>);

impl AnthropicOmissions {
    /// Reports that the value at `place` is left out. `why` names the API.
    fn leave_out(&mut self, place: RequestPath, why: &str) {
        let message = format!("'{place}' is left out: {why}");
        self.0.push(Omission { place, message });
    }

    /// Reports that the value at `place` is sent in another form. `how` names the API.
    fn change(&mut self, place: RequestPath, how: &str) {
        let message = format!("'{place}' is changed: {how}");
        self.0.push(Omission { place, message });
    }

    fn into_omissions(self) -> Vec<Omission> {
        self.0
    }
}

/// The error for a value at `place` that cannot be sent. `why` names the API.
fn unsupported(place: RequestPath, why: &str) -> Unsupported {
    let message = format!("'{place}' cannot be sent: {why}");
    Unsupported { place, message }
}
