//! The output of a call.

use std::any::TypeId;

use antiphon::json::unquote;
use serde::Serialize;
use serde_json::{Map, Value};

use super::ToolError;

/// The output of a call, in the form in which the model reads it.
///
/// A tool usually returns a value that implements [`Serialize`], which becomes text; see
/// [`IntoToolOutput`].
#[derive(Clone, Debug, PartialEq)]
pub enum ToolOutput {
    /// Text. JSON is text too.
    Text(String),
    /// Text, images and files.
    Parts(Vec<ContentPart>),
    /// The fields of the output item, except `type` and `call_id`: for the calls of tools that a
    /// provider defines and the client runs, such as `shell_call`.
    Fields(Map<String, Value>),
}

/// A part of an output.
///
/// Source: the content parts of the Responses API.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ContentPart {
    /// Text.
    Text(String),
    /// An image: a URL, also one of the scheme `data:`.
    ImageUrl(String),
    /// An image that was uploaded.
    ImageId(String),
    /// A file: a URL.
    FileUrl(String),
    /// A file that was uploaded.
    FileId(String),
    /// A file: its name, and its content as a URL of the scheme `data:`.
    FileData {
        /// The name, with its extension.
        name: String,
        /// The content.
        data: String,
    },
}

impl ToolOutput {
    /// An output of text.
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text(text.into())
    }

    /// An output of text, images and files.
    ///
    /// ```
    /// use antiphon_agents::tool::{ContentPart, ToolOutput};
    ///
    /// let page = ContentPart::FileData {
    ///     name: "page.pdf".to_owned(),
    ///     data: "data:application/pdf;base64,JVBERi0=".to_owned(),
    /// };
    /// let output = ToolOutput::parts([ContentPart::Text("Page 1:".to_owned()), page]);
    /// assert!(matches!(output, ToolOutput::Parts(parts) if parts.len() == 2));
    /// ```
    pub fn parts(parts: impl IntoIterator<Item = ContentPart>) -> Self {
        Self::Parts(parts.into_iter().collect())
    }

    /// The JSON of `value`, with the fields in their order. A string is text without quotes.
    pub fn json(value: &(impl Serialize + ?Sized)) -> Result<Self, serde_json::Error> {
        let json = serde_json::to_string(value)?;
        let text = unquote(&json).map(std::borrow::Cow::into_owned);
        Ok(Self::Text(text.unwrap_or(json)))
    }
}

impl From<&str> for ToolOutput {
    fn from(text: &str) -> Self {
        Self::text(text)
    }
}

impl From<String> for ToolOutput {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<Value> for ToolOutput {
    fn from(value: Value) -> Self {
        match value {
            Value::String(text) => Self::Text(text),
            other => Self::Text(other.to_string()),
        }
    }
}

impl From<Vec<ContentPart>> for ToolOutput {
    fn from(parts: Vec<ContentPart>) -> Self {
        Self::Parts(parts)
    }
}

impl From<ContentPart> for ToolOutput {
    fn from(part: ContentPart) -> Self {
        Self::Parts(vec![part])
    }
}

impl ContentPart {
    pub(super) fn to_json(&self) -> Value {
        let (kind, field, text) = match self {
            Self::Text(text) => ("input_text", "text", text),
            Self::ImageUrl(url) => ("input_image", "image_url", url),
            Self::ImageId(id) => ("input_image", "file_id", id),
            Self::FileUrl(url) => ("input_file", "file_url", url),
            Self::FileId(id) => ("input_file", "file_id", id),
            Self::FileData { data, .. } => ("input_file", "file_data", data),
        };
        let mut part = serde_json::json!({"type": kind, field: text});
        if let Self::FileData { name, .. } = self {
            part["filename"] = name.as_str().into();
        }
        part
    }
}

/// A value that a tool can return as its output: [`ToolOutput`], and every value that implements
/// [`Serialize`].
///
/// A string becomes text as it is, `()` becomes `Done.`, and any other value becomes JSON.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be the output of a tool",
    label = "does not implement `serde::Serialize`",
    note = "add `#[derive(serde::Serialize)]` to `{Self}`, or return a `ToolOutput`"
)]
pub trait IntoToolOutput {
    /// Converts the value. Fails if its implementation of [`Serialize`] does.
    fn into_tool_output(self) -> Result<ToolOutput, ToolError>;
}

#[diagnostic::do_not_recommend]
impl<T: Serialize + 'static> IntoToolOutput for T {
    fn into_tool_output(self) -> Result<ToolOutput, ToolError> {
        if TypeId::of::<T>() == TypeId::of::<()>() {
            return Ok(ToolOutput::text("Done."));
        }
        ToolOutput::json(&self).map_err(|error| {
            ToolError::new(format!("The tool ran, but its output has no JSON form: {error}"))
        })
    }
}

impl IntoToolOutput for ToolOutput {
    fn into_tool_output(self) -> Result<ToolOutput, ToolError> {
        Ok(self)
    }
}

/// The value that the function of a tool returns: a [`Result`], or text, JSON or a [`ToolOutput`]
/// if the function cannot fail.
#[diagnostic::on_unimplemented(
    message = "a tool cannot return `{Self}`",
    label = "not the result of a tool",
    note = "return `Result<T, ToolError>`, where `T` implements `serde::Serialize`",
    note = "a tool that cannot fail may return `String`, `&'static str`, `serde_json::Value`, \
            `ToolOutput` or `()`"
)]
pub trait IntoToolResult {
    /// Converts the value.
    fn into_tool_result(self) -> Result<ToolOutput, ToolError>;
}

impl<T: IntoToolOutput, E: Into<ToolError>> IntoToolResult for Result<T, E> {
    fn into_tool_result(self) -> Result<ToolOutput, ToolError> {
        self.map_err(Into::into)?.into_tool_output()
    }
}

macro_rules! infallible {
    ($($output:ty),*) => {
        $(impl IntoToolResult for $output {
            fn into_tool_result(self) -> Result<ToolOutput, ToolError> {
                self.into_tool_output()
            }
        })*
    };
}

infallible!((), &'static str, String, Value, ToolOutput);

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[derive(Serialize)]
    struct Receipt {
        order: &'static str,
        cents: u32,
    }

    #[derive(Serialize)]
    #[serde(rename_all = "snake_case")]
    enum Status {
        Paid,
    }

    fn text(output: impl IntoToolOutput) -> String {
        match output.into_tool_output() {
            Ok(ToolOutput::Text(text)) => text,
            other => panic!("no text: {other:?}"),
        }
    }

    #[test]
    fn struct_becomes_json_in_field_order() {
        assert_eq!(text(Receipt { order: "A 1", cents: 5 }), r#"{"order":"A 1","cents":5}"#);
        assert_eq!(text(vec![1, 2]), "[1,2]");
        assert_eq!(text(None::<u8>), "null");
    }

    #[test]
    fn strings_become_plain_text() {
        assert_eq!(text("20 \"degrees\""), "20 \"degrees\"");
        assert_eq!(text(json!("20 degrees")), "20 degrees");
        assert_eq!(text(Status::Paid), "paid");
        assert_eq!(ToolOutput::from(json!("a")), ToolOutput::from("a"));
    }

    #[test]
    fn unit_says_that_the_tool_is_done() {
        assert_eq!(text(()), "Done.");
    }

    #[test]
    fn value_without_json_form_is_an_error() {
        let map = std::collections::HashMap::from([((1, 2), "a tuple is no key")]);
        let error = map.into_tool_output().unwrap_err();
        assert!(error.message().starts_with("The tool ran, but"), "{error}");
    }

    #[test]
    fn results_convert_their_errors() {
        let failed: Result<u8, std::num::ParseIntError> = "x".parse::<u8>();
        let error = failed.into_tool_result().unwrap_err();
        assert_eq!(error.message(), "invalid digit found in string");
        assert_eq!("ok".into_tool_result(), Ok(ToolOutput::text("ok")));
    }

    #[test]
    fn parts_have_the_fields_of_the_api() {
        let data = ContentPart::FileData { name: "a.pdf".into(), data: "data:,".into() };
        let expected = [
            (ContentPart::Text("a".into()), json!({"type": "input_text", "text": "a"})),
            (ContentPart::ImageUrl("u".into()), json!({"type": "input_image", "image_url": "u"})),
            (ContentPart::ImageId("f".into()), json!({"type": "input_image", "file_id": "f"})),
            (ContentPart::FileUrl("u".into()), json!({"type": "input_file", "file_url": "u"})),
            (ContentPart::FileId("f".into()), json!({"type": "input_file", "file_id": "f"})),
            (data, json!({"type": "input_file", "file_data": "data:,", "filename": "a.pdf"})),
        ];
        for (part, json) in expected {
            assert_eq!(part.to_json(), json);
        }
    }
}
