//! The tools of a request, and the ones that may or must be called.

use serde_json::{Map, Value};

use super::SimError;

/// A tool that the model can call. Hosted tools are excluded: nobody hosts them here.
#[derive(Debug)]
pub(super) struct Tool {
    pub(super) name: String,
    /// The namespace that declares the tool, if there is one.
    pub(super) namespace: Option<String>,
    pub(super) description: String,
    pub(super) input: Input,
}

/// The input of a tool.
#[derive(Debug)]
pub(super) enum Input {
    /// A function: JSON arguments, with a schema if there is one.
    Arguments(Option<Value>),
    /// A custom tool: text.
    Text,
}

/// The value of `tool_choice`.
#[derive(Debug)]
pub(super) enum Choice {
    None,
    Auto,
    Required,
    Named(String),
    Allowed { names: Vec<String>, required: bool },
}

/// The tools that may be called in this turn.
#[derive(Debug)]
pub(super) struct Callable<'a> {
    pub(super) tools: Vec<&'a Tool>,
    /// Whether one of them must be called.
    pub(super) forced: bool,
    /// Whether only one call is allowed.
    pub(super) single: bool,
}

/// Parses `tools`, with those of namespaces. Skips the tools that are not called by name.
pub(super) fn read_tools(values: &[Value]) -> Result<Vec<Tool>, SimError> {
    let mut tools = Vec::new();
    for (index, value) in values.iter().enumerate() {
        if value["type"] == "namespace" {
            let within = value["tools"].as_array().map(Vec::as_slice).unwrap_or_default();
            for tool in within {
                tools.extend(read_tool(index, value["name"].as_str(), tool)?);
            }
        } else {
            tools.extend(read_tool(index, None, value)?);
        }
    }
    Ok(tools)
}

fn read_tool(
    index: usize,
    namespace: Option<&str>,
    value: &Value,
) -> Result<Option<Tool>, SimError> {
    let fields = value.as_object().ok_or_else(|| invalid_tool(index, "a tool, as an object"))?;
    let input = match text(fields, "type") {
        Some("function") => Input::Arguments(parameters(index, fields)?),
        Some("custom") => Input::Text,
        Some(_) => return Ok(None),
        None => return Err(invalid_tool(index, "a tool with a 'type'")),
    };
    let name = text(fields, "name").ok_or_else(|| invalid_tool(index, "a tool with a 'name'"))?;
    let description = text(fields, "description").unwrap_or_default().to_owned();
    let (name, namespace) = (name.to_owned(), namespace.map(str::to_owned));
    Ok(Some(Tool { name, namespace, description, input }))
}

fn parameters(index: usize, fields: &Map<String, Value>) -> Result<Option<Value>, SimError> {
    match fields.get("parameters") {
        None | Some(Value::Null) => Ok(None),
        Some(schema @ Value::Object(_)) => Ok(Some(schema.clone())),
        Some(_) => Err(invalid_tool(index, "'parameters' that are a JSON schema object")),
    }
}

impl Choice {
    pub(super) fn read(value: Option<&Value>) -> Result<Self, SimError> {
        match value {
            None | Some(Value::Null) => Ok(Self::Auto),
            Some(Value::String(mode)) => Self::mode(mode),
            Some(Value::Object(fields)) => Self::object(fields),
            Some(_) => Err(invalid_choice("a string or an object")),
        }
    }

    fn mode(mode: &str) -> Result<Self, SimError> {
        match mode {
            "none" => Ok(Self::None),
            "auto" => Ok(Self::Auto),
            "required" => Ok(Self::Required),
            _ => Err(invalid_choice("'none', 'auto' or 'required'")),
        }
    }

    fn object(fields: &Map<String, Value>) -> Result<Self, SimError> {
        match text(fields, "type") {
            Some("function" | "custom") => text(fields, "name")
                .map(|name| Self::Named(name.to_owned()))
                .ok_or_else(|| invalid_choice("the 'name' of a tool")),
            Some("allowed_tools") => Self::parse_allowed(fields),
            _ => Err(invalid_choice("a function, a custom tool or allowed_tools")),
        }
    }

    fn parse_allowed(fields: &Map<String, Value>) -> Result<Self, SimError> {
        let required = match text(fields, "mode") {
            Some("required") => true,
            Some("auto") | None => false,
            // The specification also permits `none` next to a list of allowed tools.
            Some("none") => return Ok(Self::None),
            Some(_) => return Err(invalid_choice("a 'mode' of 'none', 'auto' or 'required'")),
        };
        let tools = fields.get("tools").and_then(Value::as_array);
        let tools = tools.ok_or_else(|| invalid_choice("the allowed 'tools', as an array"))?;
        let names = tools.iter().filter_map(|tool| tool["name"].as_str().map(str::to_owned));
        Ok(Self::Allowed { names: names.collect(), required })
    }
}

impl<'a> Callable<'a> {
    /// Selects the tools that `choice` permits.
    pub(super) fn select(
        tools: &'a [Tool],
        choice: &Choice,
        parallel: bool,
    ) -> Result<Self, SimError> {
        let named = |name: &String| {
            let found = tools.iter().find(|tool| tool.name == *name);
            found.ok_or_else(|| SimError::UnknownTool(name.clone()))
        };
        let (chosen, forced) = match choice {
            Choice::None => (Vec::new(), false),
            Choice::Auto => (tools.iter().collect(), false),
            Choice::Required => (tools.iter().collect(), true),
            Choice::Named(name) => (vec![named(name)?], true),
            Choice::Allowed { names, required } => {
                (names.iter().map(named).collect::<Result<_, _>>()?, *required)
            }
        };
        if forced && chosen.is_empty() {
            return Err(SimError::NothingToCall);
        }
        let single = !parallel || matches!(choice, Choice::Named(_));
        Ok(Self { tools: chosen, forced, single })
    }
}

fn text<'a>(fields: &'a Map<String, Value>, key: &str) -> Option<&'a str> {
    fields.get(key).and_then(Value::as_str).filter(|text| !text.is_empty())
}

fn invalid_tool(index: usize, expected: &'static str) -> SimError {
    SimError::InvalidParameter { param: format!("tools[{index}]"), expected }
}

fn invalid_choice(expected: &'static str) -> SimError {
    SimError::InvalidParameter { param: "tool_choice".to_owned(), expected }
}
