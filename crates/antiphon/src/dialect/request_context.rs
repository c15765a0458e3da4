//! The parts of a request that its answer's decoder needs.

use std::collections::HashSet;

use serde_json::value::RawValue;

use crate::json::Object;
use crate::transcript::Origin;

/// The data of a request that decoding its answer requires.
#[derive(Clone, Debug)]
pub struct RequestContext {
    /// The server that answers. Sealed reasoning is returned only to it.
    pub origin: Origin,
    /// The names of the request's custom tools, whose input is text instead of JSON.
    custom_tools: HashSet<String>,
    /// Whether the client requested log probabilities.
    pub(crate) wants_logprobs: bool,
}

/// The value of `include` that requests log probabilities.
const LOGPROBS: &str = "message.output_text.logprobs";

impl RequestContext {
    /// Reads a request to `origin`, in the fields of the Responses API.
    pub fn from_request(request: &Object<'_>, origin: Origin) -> Self {
        let tools = request.present("tools").and_then(|tools| serde_json::from_str(tools).ok());
        let tools: Vec<&RawValue> = tools.unwrap_or_default();
        let custom_tools = tools.iter().filter_map(|tool| custom_tool(tool.get())).collect();
        let include = request.present("include").and_then(|raw| serde_json::from_str(raw).ok());
        let include: Vec<String> = include.unwrap_or_default();
        let wants_logprobs = include.iter().any(|included| included == LOGPROBS);
        Self { origin, custom_tools, wants_logprobs }
    }

    /// An unknown request to `origin`.
    pub fn unknown(origin: Origin) -> Self {
        Self { origin, custom_tools: HashSet::new(), wants_logprobs: false }
    }

    /// Whether the request has a custom tool with this name.
    pub fn is_custom(&self, tool: &str) -> bool {
        self.custom_tools.contains(tool)
    }
}

fn custom_tool(raw: &str) -> Option<String> {
    let tool = Object::parse(raw.as_bytes()).ok()?;
    let name = tool.string("name").filter(|_| tool.string("type").as_deref() == Some("custom"));
    name.map(std::borrow::Cow::into_owned)
}
