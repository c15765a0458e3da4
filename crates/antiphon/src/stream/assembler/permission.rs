//! The tool calls that a request allows, and the call that it requires. Other calls are suppressed.
//!
//! Sources: the Open Responses specification on `tool_choice`: with `none` the model must not call,
//! with `required` it must, a named function is forced, and `allowed_tools` is a hard constraint: a
//! call of an unlisted tool is suppressed. The provider's reference on `parallel_tool_calls`: if it
//! is false, at most one tool is called.

use std::collections::HashSet;

use serde_json::value::RawValue;

use super::note::{Note, Notes};
use crate::item::{Item, Kind, Tool};
use crate::json::{Object, unquote};
use crate::stream::tool_name::ToolName;
use crate::stream::upstream_event::UpstreamEvent;

/// The tool calls that a request allows, and the call that it requires. By default every call is
/// allowed and none is required.
#[derive(Clone, Debug, Default)]
pub struct Permission {
    /// The allowed tools; `None` allows any tool.
    tools: Option<HashSet<ToolName>>,
    /// The required call.
    required: RequiredCall,
    /// Whether only one function or custom tool call is allowed.
    is_single: bool,
}

/// The call that a request requires.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
enum RequiredCall {
    /// No call.
    #[default]
    None,
    /// A call of any tool.
    AnyTool,
    /// A call of this tool.
    Tool(ToolName),
}

impl Permission {
    /// Parses a request's `tool_choice` and `parallel_tool_calls`.
    pub fn from_request(request: &Object<'_>) -> Self {
        let choice = request.present("tool_choice").map(Self::parse_choice).unwrap_or_default();
        Self { is_single: request.get("parallel_tool_calls") == Some("false"), ..choice }
    }

    fn parse_choice(choice: &str) -> Self {
        match unquote(choice).as_deref() {
            Some(mode) => Self::from_mode(mode, None),
            None => Object::parse(choice.as_bytes())
                .map(|choice| Self::from_object(&choice))
                .unwrap_or_default(),
        }
    }

    /// Parses `none`, `auto` or `required`, restricted to `tools`.
    fn from_mode(mode: &str, tools: Option<HashSet<ToolName>>) -> Self {
        match mode {
            "none" => Self { tools: Some(HashSet::new()), ..Self::default() },
            "required" => Self { tools, required: RequiredCall::AnyTool, ..Self::default() },
            _ => Self { tools, ..Self::default() },
        }
    }

    /// Parses a choice that names tools. A named function is the only tool that may be called. A
    /// provider's own tool runs within the answer, and other calls may follow it.
    fn from_object(choice: &Object<'_>) -> Self {
        if choice.string("type").as_deref() == Some("allowed_tools") {
            return Self::from_mode(
                &choice.string("mode").unwrap_or_default(),
                allowed_tools(choice),
            );
        }
        let Some(tool) = ToolName::from_definition(choice) else { return Self::default() };
        let tools = matches!(tool, ToolName::Named(_)).then(|| HashSet::from([tool.clone()]));
        Self { tools, required: RequiredCall::Tool(tool), ..Self::default() }
    }

    /// The forbidden tool that the item calls, if any.
    fn forbidden_tool(&self, item: &Item) -> Option<ToolName> {
        let tools = self.tools.as_ref()?;
        ToolName::from_call(item).filter(|tool| !tools.contains(tool))
    }

    /// Whether the item, after `others`, exceeds the limit of one call.
    fn exceeds_limit<'a>(&self, item: &Item, mut others: impl Iterator<Item = &'a Item>) -> bool {
        self.is_single && is_client_call(item) && others.any(is_client_call)
    }

    /// Whether these items include the required call. An item of unknown kind may be a call.
    fn is_satisfied_by<'a>(&self, mut items: impl Iterator<Item = &'a Item>) -> bool {
        match &self.required {
            RequiredCall::None => true,
            RequiredCall::AnyTool => items.any(|item| {
                let kind = &item.head().kind;
                !matches!(kind, Kind::Message | Kind::Reasoning | Kind::Compaction)
            }),
            RequiredCall::Tool(tool) => {
                items.any(|item| ToolName::from_call(item).as_ref() == Some(tool))
            }
        }
    }

    /// The required tool, if the request names one.
    fn required_tool(&self) -> Option<&ToolName> {
        match &self.required {
            RequiredCall::Tool(tool) => Some(tool),
            RequiredCall::None | RequiredCall::AnyTool => None,
        }
    }
}

/// The tools of `allowed_tools`; `None` if there is no list.
fn allowed_tools(choice: &Object<'_>) -> Option<HashSet<ToolName>> {
    let tools: Vec<&RawValue> = serde_json::from_str(choice.get("tools")?).ok()?;
    let named = tools
        .iter()
        .filter_map(|tool| ToolName::from_definition(&Object::parse(tool.get().as_bytes()).ok()?));
    Some(named.collect())
}

/// Whether the client answers this call. `parallel_tool_calls` counts only such calls.
fn is_client_call(item: &Item) -> bool {
    let head = item.head();
    head.kind.tool().is_some_and(Tool::is_named) || head.is_client_search()
}

/// Suppresses the calls that a request does not allow.
#[derive(Default)]
pub(super) struct CallFilter {
    pub(super) permission: Permission,
    suppressed: SuppressedCalls,
}

/// The upstream's indexes and ids of the suppressed calls.
#[derive(Default)]
struct SuppressedCalls {
    indexes: HashSet<u64>,
    ids: HashSet<String>,
}

impl CallFilter {
    /// Whether the event belongs to a suppressed call.
    pub(super) fn has_suppressed(&self, event: &UpstreamEvent<'_>) -> bool {
        let SuppressedCalls { indexes, ids } = &self.suppressed;
        event.index().is_some_and(|index| indexes.contains(&index))
            || event.item_id().is_some_and(|id| ids.contains(&*id))
    }

    /// Whether the item calls a tool that the request forbids. Each such call is noted once.
    pub(super) fn suppresses(
        &mut self,
        item: &Item,
        event: Option<&UpstreamEvent<'_>>,
        notes: &mut Notes,
    ) -> bool {
        let Some(tool) = self.permission.forbidden_tool(item) else {
            return false;
        };
        if !self.suppressed.add(item, event) {
            notes.push(Note::CallSuppressed { tool: tool.to_string() });
        }
        true
    }

    /// Whether the item, which is new after `others`, exceeds the number of calls that the request
    /// allows. Each such call is noted once.
    pub(super) fn suppresses_extra<'a>(
        &mut self,
        item: &Item,
        others: impl Iterator<Item = &'a Item>,
        event: Option<&UpstreamEvent<'_>>,
        notes: &mut Notes,
    ) -> bool {
        if !self.permission.exceeds_limit(item, others) {
            return false;
        }
        if !self.suppressed.add(item, event) {
            let tool = item.object().string("name").unwrap_or_default().into_owned();
            notes.push(Note::ParallelCallSuppressed { tool });
        }
        true
    }

    /// The note about the required call if `items` lack it.
    pub(super) fn missing_call<'a>(&self, items: impl Iterator<Item = &'a Item>) -> Option<Note> {
        let tool = || self.permission.required_tool().map(ToString::to_string);
        (!self.permission.is_satisfied_by(items)).then(|| Note::CallMissing { tool: tool() })
    }

    /// Forgets the suppressed calls.
    pub(super) fn reset(&mut self) {
        self.suppressed = SuppressedCalls::default();
    }
}

impl SuppressedCalls {
    /// Adds a call. Returns whether it was suppressed before.
    fn add(&mut self, item: &Item, event: Option<&UpstreamEvent<'_>>) -> bool {
        let id = item.head().id.as_ref().map(|id| id.as_str().to_owned());
        let index = event.and_then(UpstreamEvent::index);
        let known_index = index.is_some_and(|index| !self.indexes.insert(index));
        let known_id = id.is_some_and(|id| !self.ids.insert(id));
        known_index || known_id
    }
}
