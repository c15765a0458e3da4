//! What a decoder has to know of the request whose answer it hears.

use std::collections::HashSet;

use serde_json::value::RawValue;

use crate::json::Object;
use crate::transcript::Origin;

/// A request, as far as its answer cannot be understood without it.
#[derive(Clone, Debug)]
pub struct Asked {
    /// Who answers: what it seals goes back only there.
    pub origin: Origin,
    /// The names of the request's custom tools, whose input is a text rather than JSON.
    custom_tools: HashSet<String>,
    /// Whether the caller asked how likely the pieces of a text were.
    pub(crate) wants_logprobs: bool,
}

/// How a caller asks for that in `include`.
const LOGPROBS: &str = "message.output_text.logprobs";

impl Asked {
    /// What has to be known of a request (in the Responses API's fields) to `origin`.
    pub fn of(request: &Object<'_>, origin: Origin) -> Self {
        let tools = request.present("tools").and_then(|tools| serde_json::from_str(tools).ok());
        let tools: Vec<&RawValue> = tools.unwrap_or_default();
        let custom_tools = tools.iter().filter_map(|tool| custom_tool(tool.get())).collect();
        let include = request.present("include").and_then(|raw| serde_json::from_str(raw).ok());
        let include: Vec<String> = include.unwrap_or_default();
        let wants_logprobs = include.iter().any(|included| included == LOGPROBS);
        Self { origin, custom_tools, wants_logprobs }
    }

    /// Nothing is known of the request but who answers.
    pub fn of_nothing_known(origin: Origin) -> Self {
        Self { origin, custom_tools: HashSet::new(), wants_logprobs: false }
    }

    /// Whether a tool of this name is a custom tool.
    pub fn is_custom(&self, tool: &str) -> bool {
        self.custom_tools.contains(tool)
    }
}

fn custom_tool(raw: &str) -> Option<String> {
    let tool = Object::parse(raw.as_bytes()).ok()?;
    let name = tool.string("name").filter(|_| tool.string("type").as_deref() == Some("custom"));
    name.map(std::borrow::Cow::into_owned)
}
