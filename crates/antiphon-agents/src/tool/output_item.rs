//! The output items of calls.

use antiphon::item::{CallKey, HeadError, Item, Kind, TextField};
use antiphon::json::quote;
use antiphon::placeholder::create_failed_output;
use serde_json::{Map, Value};

use super::{ContentPart, ToolError, ToolOutput};

/// The reason why a call cannot have an output item.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum OutputError {
    /// The item is not a call that the client answers.
    #[error("an item of type '{0}' is not a call that a tool answers")]
    NotACall(Kind),
    /// No output can refer to the call.
    #[error("the {0} has no call_id, so no output can answer it")]
    NoCallId(Kind),
    /// Outputs of this kind have fields of their own.
    #[error("a {0} does not consist of text: return `ToolOutput::Fields`")]
    NeedsFields(Kind),
    /// Outputs of this kind contain text only.
    #[error("a {0} contains no parts: return text")]
    NeedsText(Kind),
    /// No error can be the output of the call: a computer call, for example, needs a screenshot.
    #[error("no error text can answer a {0}")]
    NoErrorForm(Kind),
    /// The fields of the output contain another `type` or `call_id`.
    #[error("the fields of the output do not answer {} '{}'", .0.kind, .0.call_id)]
    OtherCall(CallKey),
    /// The fields of the output are not those of an item.
    #[error("the fields of the output are not those of an item: {0}")]
    Fields(HeadError),
}

/// Creates the item that answers `call` with the result of its tool.
///
/// ```
/// use antiphon::Item;
/// use antiphon_agents::tool::{ToolError, ToolOutput, output_item};
///
/// let call = r#"{"type":"function_call","call_id":"call_1","name":"f","arguments":"{}"}"#;
/// let call = Item::parse(call.into()).unwrap();
/// let output = output_item(&call, &Ok(ToolOutput::text("20 degrees"))).unwrap();
/// assert_eq!(
///     output.text(),
///     r#"{"type":"function_call_output","call_id":"call_1","output":"20 degrees"}"#
/// );
/// let output = output_item(&call, &Err(ToolError::new("no such city"))).unwrap();
/// assert!(output.text().contains(r#""output":"no such city""#));
/// ```
pub fn output_item(
    call: &Item,
    result: &Result<ToolOutput, ToolError>,
) -> Result<Item, OutputError> {
    let (key, kind) = answered(call)?;
    let fields = match result {
        Ok(output) => fields(&kind, output)?,
        Err(error) => {
            let output = create_failed_output(&key, error.message());
            return output.ok_or(OutputError::NoErrorForm(key.kind));
        }
    };
    let bare = Item::parse(format!(r#"{{"type":{}}}"#, quote(kind.as_str())).into());
    let bare = bare.expect("the text above is an item").with_call_id(&key.call_id);
    let mut object = bare.object();
    for (name, value) in fields {
        object.set(name, value.to_string());
    }
    let item = Item::parse(object.to_bytes()).map_err(OutputError::Fields)?;
    let answers = item.head().pairing().is_some_and(|(_, answered)| answered == key);
    if answers { Ok(item) } else { Err(OutputError::OtherCall(key)) }
}

/// The name of the tool of a call: its `name`, or its kind if calls of that kind have no name.
pub fn tool_name(call: &Item) -> String {
    let object = call.object();
    let name = object.present("name").and_then(|name| serde_json::from_str(name).ok());
    name.unwrap_or_else(|| call.head().kind.as_str().to_owned())
}

/// The text that a tool reads: the arguments or the input, or else the whole call.
pub(crate) fn arguments(call: &Item) -> String {
    let object = call.object();
    let text = object.string("arguments").or_else(|| object.string("input"));
    text.map_or_else(|| call.text().to_owned(), Into::into)
}

/// A call, as the model wrote it.
#[derive(Clone, Copy, Debug)]
pub struct CallRef<'a>(&'a Item);

impl<'a> CallRef<'a> {
    pub(crate) fn new(call: &'a Item) -> Self {
        Self(call)
    }

    /// The name of the tool that is called.
    pub fn tool(&self) -> String {
        tool_name(self.0)
    }

    /// The arguments of the call: the text that the model wrote, usually JSON.
    pub fn arguments(&self) -> String {
        arguments(self.0)
    }

    /// The id of the call, by which a decision names it.
    pub fn call_id(&self) -> &'a str {
        self.0.head().call_id.as_ref().expect("a call of a run has an id").as_str()
    }

    /// The whole item.
    pub fn item(&self) -> &'a Item {
        self.0
    }
}

/// The key of a call and the kind of its output.
fn answered(call: &Item) -> Result<(CallKey, Kind), OutputError> {
    let kind = &call.head().kind;
    let output = kind.output().ok_or_else(|| OutputError::NotACall(kind.clone()))?;
    match call.head().pairing() {
        Some((_, key)) if !key.call_id.as_str().is_empty() => Ok((key, output)),
        _ => Err(OutputError::NoCallId(kind.clone())),
    }
}

/// The fields of an output of this kind, except its type and call id.
fn fields(kind: &Kind, output: &ToolOutput) -> Result<Map<String, Value>, OutputError> {
    let value = match (output, kind.text_field()) {
        (ToolOutput::Fields(fields), _) => return Ok(fields.clone()),
        (_, None) => return Err(OutputError::NeedsFields(kind.clone())),
        (ToolOutput::Text(text), Some(_)) => Value::from(text.as_str()),
        (ToolOutput::Parts(parts), Some(TextField::Parts(_))) => {
            parts.iter().map(ContentPart::to_json).collect()
        }
        (ToolOutput::Parts(_), Some(TextField::Plain(_))) => {
            return Err(OutputError::NeedsText(kind.clone()));
        }
    };
    let name = kind.text_field().map_or("output", TextField::name);
    Ok(Map::from_iter([(name.to_owned(), value)]))
}

#[cfg(test)]
mod tests {
    use antiphon::placeholder::is_placeholder_item;
    use serde_json::json;

    use super::*;

    fn item(json: &Value) -> Item {
        Item::parse(json.to_string().into()).unwrap()
    }

    fn call(kind: &str) -> Item {
        item(&json!({"type": kind, "id": "x_1", "call_id": "call_1", "name": "f"}))
    }

    fn json_of(item: &Item) -> Value {
        serde_json::from_str(item.text()).unwrap()
    }

    fn answer(call: &Item, output: ToolOutput) -> Result<Value, OutputError> {
        output_item(call, &Ok(output)).map(|item| json_of(&item))
    }

    #[test]
    fn text_answers_functions_and_custom_tools() {
        for kind in ["function_call", "custom_tool_call"] {
            let expected = json!({
                "type": format!("{kind}_output"), "call_id": "call_1", "output": "a \"b\""
            });
            assert_eq!(answer(&call(kind), "a \"b\"".into()), Ok(expected));
        }
    }

    #[test]
    fn parts_stay_parts() {
        let output = ToolOutput::parts([
            ContentPart::Text("Bonn:".into()),
            ContentPart::ImageUrl("data:,".into()),
        ]);
        let json = answer(&call("function_call"), output.clone()).unwrap();
        let expected = json!([
            {"type": "input_text", "text": "Bonn:"},
            {"type": "input_image", "image_url": "data:,"},
        ]);
        assert_eq!(json["output"], expected);
        let refused = OutputError::NeedsText(Kind::LocalShellCallOutput);
        assert_eq!(answer(&call("local_shell_call"), output), Err(refused));
    }

    #[test]
    fn fields_answer_tools_of_the_provider() {
        let stdout = json!([{"stdout": "a", "stderr": "", "outcome": {"type": "exit"}}]);
        let fields = Map::from_iter([("output".to_owned(), stdout.clone())]);
        let json = answer(&call("shell_call"), ToolOutput::Fields(fields)).unwrap();
        assert_eq!(
            json,
            json!({"type": "shell_call_output", "call_id": "call_1", "output": stdout})
        );
        let refused = OutputError::NeedsFields(Kind::ShellCallOutput);
        assert_eq!(answer(&call("shell_call"), "a".into()), Err(refused));
    }

    #[test]
    fn errors_have_the_form_of_their_kind() {
        let failed = |kind: &str| output_item(&call(kind), &Err(ToolError::new("no such file")));
        let shell = failed("shell_call").unwrap();
        assert_eq!(json_of(&shell)["output"][0]["stderr"], "no such file");
        let function = failed("function_call").unwrap();
        assert_eq!(json_of(&function)["output"], "no such file");
        assert!(!is_placeholder_item(&function));
        let refused = OutputError::NoErrorForm(Kind::ComputerCall);
        assert_eq!(failed("computer_call"), Err(refused));
    }

    #[test]
    fn only_calls_with_an_id_are_answered() {
        let message = item(&json!({"role": "user", "content": "hi"}));
        assert_eq!(answer(&message, "a".into()), Err(OutputError::NotACall(Kind::Message)));
        let anonymous = item(&json!({"type": "function_call", "name": "f"}));
        let refused = OutputError::NoCallId(Kind::FunctionCall);
        assert_eq!(answer(&anonymous, "a".into()), Err(refused));
    }

    #[test]
    fn fields_cannot_answer_another_call() {
        for field in ["type", "call_id"] {
            let fields = Map::from_iter([(field.to_owned(), json!("call_2"))]);
            let refused = answer(&call("function_call"), ToolOutput::Fields(fields));
            assert!(matches!(refused, Err(OutputError::OtherCall(_))), "{refused:?}");
        }
        let fields = Map::from_iter([("id".to_owned(), json!(7))]);
        let refused = answer(&call("function_call"), ToolOutput::Fields(fields));
        assert!(matches!(refused, Err(OutputError::Fields(_))), "{refused:?}");
    }
}
