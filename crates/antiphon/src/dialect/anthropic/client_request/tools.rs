//! `tools` and `tool_choice`.

use super::RequestDecoder;
use super::field::{Field, Fields};
use crate::dialect::{InvalidRequest, UpstreamApi};
use crate::json::{Object, quote};

/// Fields of a tool that change how it is called but not its meaning. They are not reported. Only
/// an Anthropic upstream receives `cache_control`.
const SILENT: [&str; 3] = ["cache_control", "defer_loading", "eager_input_streaming"];

/// The fields of a tool that become fields of a function.
const READ: [&str; 5] = ["type", "name", "description", "input_schema", "strict"];

/// Decodes the tools that the client runs into functions. An Anthropic upstream receives its own
/// tools (`web_search_20250305`, `bash_20250124`) as extensions; they are left out for others.
pub(super) fn decode(
    request: &Fields<'_>,
    decoder: &mut RequestDecoder,
) -> Result<(), InvalidRequest> {
    let mut tools = Vec::new();
    let list = request.present("tools").map(|tools| tools.array()).transpose()?;
    let list = list.unwrap_or_default();
    let mut left_out = Vec::new();
    for tool in &list {
        match Tool::decode(tool, decoder)? {
            Some(tool) => tools.push(tool),
            None => left_out.extend(tool.object()?.present("name").map(|name| name.text())),
        }
    }
    let left_out: Vec<String> = left_out.into_iter().collect::<Result<_, _>>()?;
    if !tools.is_empty() {
        let raws: Vec<&str> = tools.iter().map(|tool| &*tool.json).collect();
        decoder.set_raw("tools", format!("[{}]", raws.join(",")));
    }
    match request.present("tool_choice") {
        Some(choice) if tools.is_empty() && !list.is_empty() => {
            decoder.leave_out(choice.path(), "the request is sent without its tools");
            Ok(())
        }
        Some(choice) => decode_choice(&choice, &tools, &left_out, decoder),
        None => Ok(()),
    }
}

/// A tool of the Responses API.
struct Tool {
    name: String,
    json: String,
    /// The type, if the tool is Anthropic's own.
    own_kind: Option<String>,
}

impl Tool {
    fn decode(
        field: &Field<'_>,
        decoder: &mut RequestDecoder,
    ) -> Result<Option<Self>, InvalidRequest> {
        let tool = field.object()?;
        let kind = tool.present("type").map(|kind| kind.text()).transpose()?;
        match kind.as_deref() {
            None | Some("custom") => {
                Self::function(field, &tool.typed("custom"), decoder).map(Some)
            }
            Some(kind) if decoder.is_for(UpstreamApi::Anthropic) => {
                Ok(Some(Self::own(kind, &tool, field)))
            }
            Some(kind) => {
                let why = format!("the upstream has no equivalent of the tool '{kind}'");
                decoder.leave_out(field.path(), &why);
                Ok(None)
            }
        }
    }

    /// A function. Its schema is not strict unless the client says so, other than in the Responses
    /// API.
    fn function(
        field: &Field<'_>,
        tool: &Fields<'_>,
        decoder: &mut RequestDecoder,
    ) -> Result<Self, InvalidRequest> {
        let name = tool.required("name")?.text()?;
        let schema = tool.required("input_schema")?;
        schema.object()?;
        let strict = tool.present("strict").map(|strict| strict.boolean()).transpose()?;
        let mut function = Object::default();
        function.set_string("type", "function");
        function.set_string("name", &name);
        if let Some(description) = tool.present("description") {
            function.set("description", quote(&description.text()?));
        }
        function.set("parameters", schema.raw().to_owned());
        function.set("strict", strict.unwrap_or(false).to_string());
        if let Some(mark) =
            tool.present("cache_control").filter(|_| decoder.is_for(UpstreamApi::Anthropic))
        {
            function.set("cache_control", mark.raw().to_owned());
        }
        for (key, _) in tool.object().iter() {
            if !READ.contains(&key) && !SILENT.contains(&key) {
                let path = format!("{}.{key}", field.path());
                decoder.leave_out(&path, "functions have no counterpart");
            }
        }
        Ok(Self { json: function.to_text(), name, own_kind: None })
    }

    fn own(kind: &str, tool: &Fields<'_>, field: &Field<'_>) -> Self {
        let name = tool.object().string("name").unwrap_or_default().into_owned();
        let kind = format!("anthropic:{kind}");
        let json = format!(
            r#"{{"type":{},"name":{},"content":{}}}"#,
            quote(&kind),
            quote(&name),
            field.raw()
        );
        Self { name, json, own_kind: Some(kind) }
    }

    /// The choice of this tool.
    fn to_choice(&self) -> String {
        match &self.own_kind {
            Some(kind) => format!(r#"{{"type":{}}}"#, quote(kind)),
            None => format!(r#"{{"type":"function","name":{}}}"#, quote(&self.name)),
        }
    }
}

fn decode_choice(
    choice: &Field<'_>,
    tools: &[Tool],
    left_out: &[String],
    decoder: &mut RequestDecoder,
) -> Result<(), InvalidRequest> {
    let fields = choice.object()?;
    let kind = fields.kind()?;
    if fields.object().is_true("disable_parallel_tool_use") {
        decoder.set_raw("parallel_tool_calls", "false");
    }
    match &*kind {
        "none" => decoder.set_text("tool_choice", "none"),
        "auto" => decoder.set_text("tool_choice", "auto"),
        "any" => decoder.set_text("tool_choice", "required"),
        "tool" => {
            let name = fields.typed("tool").required("name")?.text()?;
            if let Some(tool) = tools.iter().find(|tool| tool.name == name) {
                decoder.set_raw("tool_choice", tool.to_choice());
            } else if left_out.contains(&name) {
                decoder.leave_out(choice.path(), "the request is sent without this tool");
            } else {
                let message = format!("Tool '{name}' not found in provided tools");
                return Err(InvalidRequest::invalid_value(choice.path(), message));
            }
        }
        other => {
            let sentence = format!(
                "Input tag '{other}' found using 'type' does not match any of the expected tags: \
                 'auto', 'any', 'tool', 'none'"
            );
            return Err(super::field::invalid(choice.path(), &sentence));
        }
    }
    Ok(())
}
