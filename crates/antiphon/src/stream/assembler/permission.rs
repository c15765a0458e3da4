//! What a request lets a model call, and what it demands.
//!
//! Source: the Open Responses specification on `tool_choice`: `none` must not call, `required` must, a
//! named function is forced, and `allowed_tools` is a hard constraint: a call to a tool that is not
//! listed is suppressed. The provider's reference on `parallel_tool_calls`: where it is false, at most one
//! tool is called.

use std::collections::HashSet;

use serde_json::value::RawValue;

use crate::item::{Item, Kind};
use crate::json::{Object, unquote};
use crate::stream::tool_name::ToolName;

/// What a request lets a model call, and what it demands. By default anything, and nothing.
#[derive(Clone, Debug, Default)]
pub struct Permission {
    /// The tools that it may call; `None`: any.
    tools: Option<HashSet<ToolName>>,
    /// What it has to call.
    demand: Demand,
    /// Whether it may call one function or custom tool only.
    is_single: bool,
}

/// What a model has to call.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
enum Demand {
    /// Nothing.
    #[default]
    Nothing,
    /// Some tool.
    AnyTool,
    /// This tool.
    Tool(ToolName),
}

impl Permission {
    /// What a request's `tool_choice` and `parallel_tool_calls` permit and demand.
    pub fn of(request: &Object<'_>) -> Self {
        let choice = request.present("tool_choice").map(Self::of_choice).unwrap_or_default();
        Self { is_single: request.get("parallel_tool_calls") == Some("false"), ..choice }
    }

    fn of_choice(choice: &str) -> Self {
        match unquote(choice).as_deref() {
            Some(mode) => Self::of_mode(mode, None),
            None => Object::parse(choice.as_bytes())
                .map(|choice| Self::of_object(&choice))
                .unwrap_or_default(),
        }
    }

    /// `none`, `auto` or `required`, among these tools.
    fn of_mode(mode: &str, tools: Option<HashSet<ToolName>>) -> Self {
        match mode {
            "none" => Self { tools: Some(HashSet::new()), ..Self::default() },
            "required" => Self { tools, demand: Demand::AnyTool, ..Self::default() },
            _ => Self { tools, ..Self::default() },
        }
    }

    /// A choice that names tools. A function that is named is the only one to be called; a tool of the
    /// provider's runs within the answer, and others may follow.
    fn of_object(choice: &Object<'_>) -> Self {
        if choice.string("type").as_deref() == Some("allowed_tools") {
            return Self::of_mode(&choice.string("mode").unwrap_or_default(), listed(choice));
        }
        let Some(tool) = ToolName::of_definition(choice) else { return Self::default() };
        let tools = matches!(tool, ToolName::Named(_)).then(|| HashSet::from([tool.clone()]));
        Self { tools, demand: Demand::Tool(tool), ..Self::default() }
    }

    /// The tool that an item calls and may not.
    pub(super) fn ruled_out(&self, item: &Item) -> Option<ToolName> {
        let tools = self.tools.as_ref()?;
        ToolName::of_call(item).filter(|tool| !tools.contains(tool))
    }

    /// Whether an item, behind `others`, is one call too many.
    pub(super) fn is_one_too_many<'a>(
        &self,
        item: &Item,
        mut others: impl Iterator<Item = &'a Item>,
    ) -> bool {
        self.is_single && is_for_the_caller(item) && others.any(is_for_the_caller)
    }

    /// Whether the model called what it had to with these items. Of an item that nobody here knows it may
    /// be a call.
    pub(super) fn is_heeded<'a>(&self, mut items: impl Iterator<Item = &'a Item>) -> bool {
        match &self.demand {
            Demand::Nothing => true,
            Demand::AnyTool => items.any(|item| {
                let kind = &item.head().kind;
                !matches!(kind, Kind::Message | Kind::Reasoning | Kind::Compaction)
            }),
            Demand::Tool(tool) => items.any(|item| ToolName::of_call(item).as_ref() == Some(tool)),
        }
    }

    /// The tool that has to be called, where it is a certain one.
    pub(super) fn demanded(&self) -> Option<&ToolName> {
        match &self.demand {
            Demand::Tool(tool) => Some(tool),
            Demand::Nothing | Demand::AnyTool => None,
        }
    }
}

/// The tools of `allowed_tools`; `None` where there is no list.
fn listed(choice: &Object<'_>) -> Option<HashSet<ToolName>> {
    let tools: Vec<&RawValue> = serde_json::from_str(choice.get("tools")?).ok()?;
    let named = tools
        .iter()
        .filter_map(|tool| ToolName::of_definition(&Object::parse(tool.get().as_bytes()).ok()?));
    Some(named.collect())
}

/// Whether it is a call that its caller answers, of those that `parallel_tool_calls` is about.
fn is_for_the_caller(item: &Item) -> bool {
    matches!(item.head().kind, Kind::FunctionCall | Kind::CustomToolCall)
}
