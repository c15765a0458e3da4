//! `tools` and `toolConfig`.

use super::RequestDecoder;
use super::field::{Field, Fields, invalid};
use super::schema::to_json_schema;
use crate::dialect::InvalidRequest;
use crate::json::{Object, quote};

const DECLARATIONS: &str = "functionDeclarations";

/// The fields of a declaration that become fields of a function.
const READ: [&str; 4] = ["name", "description", "parameters", "parametersJsonSchema"];

/// Fields of a declaration that describe its response. They do not change how it is called, and are
/// not reported.
const SILENT: [&str; 3] = ["response", "responseJsonSchema", "behavior"];

/// Decodes the declared functions. Tools that Google runs (`googleSearch`, `codeExecution`) are
/// left out and reported.
pub(super) fn decode(
    request: &Fields<'_>,
    decoder: &mut RequestDecoder,
) -> Result<(), InvalidRequest> {
    let mut functions = Vec::new();
    for tool in request.array_at("tools")? {
        let tool = tool.object()?;
        for declaration in tool.array_at(DECLARATIONS)? {
            functions.push(Function::decode(&declaration, decoder)?);
        }
        for (kind, _) in tool.iter().filter(|(kind, _)| kind != DECLARATIONS) {
            let why = format!("the upstream has no equivalent of the tool '{kind}'");
            decoder.leave_out(&tool.path_of(&kind), &why);
        }
    }
    if let Some(config) = request.object_at("toolConfig")? {
        decode_config(&config, &mut functions, decoder)?;
    }
    if !functions.is_empty() {
        let raws: Vec<&str> = functions.iter().map(|function| &*function.json).collect();
        decoder.set_raw("tools", format!("[{}]", raws.join(",")));
    }
    Ok(())
}

struct Function {
    name: String,
    /// The tool of the Responses API.
    json: String,
}

impl Function {
    /// Its schema is not strict, other than by default in the Responses API.
    fn decode(field: &Field<'_>, decoder: &mut RequestDecoder) -> Result<Self, InvalidRequest> {
        let declaration = field.object()?;
        let name = declaration.required("name")?.text()?;
        let mut function = Object::default();
        function.set_string("type", "function");
        function.set_string("name", &name);
        if let Some(description) = declaration.text_at("description")? {
            function.set("description", quote(&description));
        }
        function.set("parameters", parameters(&declaration)?);
        function.set("strict", "false");
        for (key, _) in declaration.iter() {
            if !READ.contains(&&*key) && !SILENT.contains(&&*key) {
                decoder.leave_out(&declaration.path_of(&key), "functions have no counterpart");
            }
        }
        Ok(Self { json: function.to_text(), name })
    }
}

fn parameters(declaration: &Fields<'_>) -> Result<String, InvalidRequest> {
    let schema = declaration.present("parametersJsonSchema");
    match schema.or_else(|| declaration.present("parameters")) {
        Some(schema) => schema.object().map(|_| to_json_schema(schema.raw())),
        None => Ok(r#"{"type":"object","properties":{}}"#.to_owned()),
    }
}

/// Decodes the mode in which functions are called. Functions that are not allowed are not sent.
fn decode_config(
    config: &Fields<'_>,
    functions: &mut Vec<Function>,
    decoder: &mut RequestDecoder,
) -> Result<(), InvalidRequest> {
    for (key, _) in config.iter().filter(|(key, _)| key != "functionCallingConfig") {
        decoder.leave_out(&config.path_of(&key), "the upstream has no counterpart");
    }
    let Some(calling) = config.object_at("functionCallingConfig")? else { return Ok(()) };
    let mut allowed = Vec::new();
    for name in calling.array_at("allowedFunctionNames")? {
        let text = name.text()?;
        if !functions.iter().any(|function| function.name == text) {
            let sentence = format!("the function '{text}' is not declared in tools");
            return Err(invalid(name.path(), &sentence));
        }
        allowed.push(text);
    }
    let mode = calling.present("mode");
    let choice = match mode.as_ref().map(Field::text).transpose()?.as_deref() {
        None | Some("MODE_UNSPECIFIED" | "AUTO" | "VALIDATED") => "auto",
        Some("ANY") => "required",
        Some("NONE") => "none",
        Some(other) => {
            let sentence = format!("'{other}' is none of AUTO, ANY, NONE and VALIDATED");
            return Err(invalid(&calling.path_of("mode"), &sentence));
        }
    };
    if !allowed.is_empty() {
        functions.retain(|function| allowed.contains(&function.name));
    }
    if !functions.is_empty() && choice != "auto" {
        decoder.set_text("tool_choice", choice);
    }
    Ok(())
}
