//! A request of the Responses API for an upstream, and its encoded form.

use std::collections::{HashMap, HashSet};
use std::fmt;

use bytes::Bytes;

use super::tools::{DeclaredTool, DeclaredTools, FlatNames, TOOL_SEARCH};
use crate::item::Item;
use crate::json::{Object, quote};
use crate::transcript::Origin;

/// A request in the form of the Responses API. Its items are complete and in an order that
/// providers accept: repaired, and without references to a server's state.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    /// Every field but `input`.
    pub fields: &'a Object<'a>,
    /// The input for the model.
    pub items: &'a [Item],
    /// The upstream and model. Sealed reasoning is returned only to its own origin.
    pub origin: &'a Origin,
}

/// A request in an upstream's dialect.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Encoded {
    /// The request's body.
    pub body: Bytes,
    /// The parts that the dialect cannot carry and the model can do without.
    pub omissions: Vec<Omission>,
}

/// A part of a request that is left out or changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Omission {
    /// The location of the part.
    pub place: RequestPath,
    /// The reason: a sentence that names the field and the dialect.
    pub message: String,
}

/// The error for a part that the upstream's dialect cannot carry. The request would have another
/// meaning without it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Unsupported {
    /// The location of the part.
    pub place: RequestPath,
    /// A sentence that names the field and the dialect.
    pub message: String,
}

/// The error for the tool at `path` without a name, with the text of the Responses API.
pub(super) fn missing_name(path: &str) -> Unsupported {
    let path = format!("{path}.name");
    Unsupported {
        message: format!("Missing required parameter: '{path}'."),
        place: RequestPath::Field(path),
    }
}

/// The call ids in use, each unique in its request. An API may restrict ids more than the Responses
/// API does, so a call may need another id. An id never depends on later calls: the next request of
/// the conversation begins with the same bytes, as prompt caches need it.
#[derive(Default)]
pub(super) struct CallIds {
    taken: HashSet<String>,
    /// The last number that was appended to each stem.
    numbers: HashMap<String, usize>,
}

impl CallIds {
    /// The id for the next call: `id` if the API allows it and it is free, or else the first free
    /// one of `stem_2`, `stem_3` and so on.
    pub(super) fn next(&mut self, id: Option<&str>, stem: &str) -> String {
        if let Some(id) = id.filter(|id| self.taken.insert((*id).to_owned())) {
            return id.to_owned();
        }
        let number = self.numbers.entry(stem.to_owned()).or_insert(1);
        loop {
            *number += 1;
            let id = format!("{stem}_{number}");
            if self.taken.insert(id.clone()) {
                return id;
            }
        }
    }
}

/// A location in a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RequestPath {
    /// In a field: `tools[2].type`.
    Field(String),
    /// An item's position in the items, and a path in the item (`content[0]`), which may be empty.
    Item(usize, String),
}

impl RequestPath {
    /// A field, by its path.
    pub fn field(path: impl Into<String>) -> Self {
        Self::Field(path.into())
    }
}

/// The path in the form of API errors: `tools[2].type`, `input[3].content[0]`.
impl fmt::Display for RequestPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Field(path) => f.write_str(path),
            Self::Item(position, path) if path.is_empty() => write!(f, "input[{position}]"),
            Self::Item(position, path) => write!(f, "input[{position}].{path}"),
        }
    }
}

/// The data of a request that decoding its answer requires.
#[derive(Clone, Debug)]
pub struct RequestContext {
    /// The server that answers. Sealed reasoning is returned only to it.
    pub origin: Origin,
    /// The names of the request's custom tools, whose input is text instead of JSON. Those of tools
    /// in namespaces are flat.
    custom_tools: HashSet<String>,
    /// The flat names of the request's tools in namespaces.
    names: FlatNames,
    /// Whether the client runs tool searches.
    has_client_search: bool,
    /// Whether the client requested log probabilities.
    pub(crate) wants_logprobs: bool,
}

/// The form of a call in the Responses API.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CallForm {
    /// A call with JSON as its arguments, which stream.
    Function,
    /// A call with a text as its input, which streams.
    Custom,
    /// A search that the client runs. Its arguments come as one JSON value.
    ToolSearch,
}

/// The value of `include` that requests log probabilities.
const LOGPROBS: &str = "message.output_text.logprobs";

impl RequestContext {
    /// Reads a request to `origin`, in the fields of the Responses API, with the `items` of its
    /// prompt, in which the client's tool searches have found tools.
    pub fn from_request(request: &Object<'_>, items: &[Item], origin: Origin) -> Self {
        let declared = DeclaredTools::from_request(request, items).unwrap_or_default();
        let custom_tools = declared.tools.iter().filter_map(custom_tool).collect();
        let include = request.present("include").and_then(|raw| serde_json::from_str(raw).ok());
        let include: Vec<String> = include.unwrap_or_default();
        let wants_logprobs = include.iter().any(|included| included == LOGPROBS);
        let DeclaredTools { names, has_client_search, .. } = declared;
        Self { origin, custom_tools, names, has_client_search, wants_logprobs }
    }

    /// An unknown request to `origin`.
    pub fn unknown(origin: Origin) -> Self {
        let (custom_tools, names) = (HashSet::new(), FlatNames::default());
        let (has_client_search, wants_logprobs) = (false, false);
        Self { origin, custom_tools, names, has_client_search, wants_logprobs }
    }

    /// Whether the request has a custom tool with this name.
    pub fn is_custom(&self, tool: &str) -> bool {
        self.custom_tools.contains(tool)
    }

    /// The form of a call of the tool with this name.
    pub(super) fn call_form(&self, called: &str) -> CallForm {
        if self.is_custom(called) {
            CallForm::Custom
        } else if self.has_client_search && called == TOOL_SEARCH {
            CallForm::ToolSearch
        } else {
            CallForm::Function
        }
    }

    /// Writes the name of a called tool to the item of the call. `called` is the name that the
    /// model knows: for a tool in a namespace the flat one.
    pub(super) fn write_name(&self, called: &str, call: &mut Object<'_>) {
        match self.names.find(called) {
            Some(tool) => {
                call.set("name", quote(&tool.name));
                call.set("namespace", quote(&tool.namespace));
            }
            None => call.set("name", quote(called)),
        }
    }
}

fn custom_tool(DeclaredTool { definition: tool, .. }: &DeclaredTool<'_>) -> Option<String> {
    let name = tool.string("name").filter(|_| tool.string("type").as_deref() == Some("custom"));
    name.map(std::borrow::Cow::into_owned)
}
