//! The errors of arguments, and the deserialization that finds the last of them.

use std::fmt;

use serde::de::DeserializeOwned;

/// The arguments of a call do not match the parameters of its tool, so the tool did not run.
///
/// The text names every field that is wrong, so that the model can correct all of them in its next
/// call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InvalidArguments {
    /// The name of the tool.
    pub tool: String,
    /// Everything that is wrong.
    pub faults: Vec<ArgumentFault>,
}

/// One thing that is wrong with the arguments of a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArgumentFault {
    /// The path of the field, such as `items[0].price`; empty for the arguments as a whole.
    pub field: String,
    /// The problem, such as `expected an integer, got the string "3"`.
    pub problem: String,
}

impl fmt::Display for InvalidArguments {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "Invalid arguments. The tool `{}` did not run.", self.tool)?;
        for fault in &self.faults {
            writeln!(f, "- {fault}")?;
        }
        write!(f, "Correct the arguments and call `{}` again.", self.tool)
    }
}

impl fmt::Display for ArgumentFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.field.as_str() {
            "" => f.write_str(&self.problem),
            field => write!(f, "`{field}`: {}", self.problem),
        }
    }
}

/// A problem of the arguments as a whole.
pub(super) fn whole(problem: String) -> Vec<ArgumentFault> {
    vec![ArgumentFault { field: String::new(), problem }]
}

/// Reads `text` as `T`. `field` is the path of the value in the arguments.
pub(super) fn deserialize<T: DeserializeOwned>(
    text: &str,
    field: Option<&str>,
) -> Result<T, Vec<ArgumentFault>> {
    let mut json = serde_json::Deserializer::from_str(text);
    serde_path_to_error::deserialize(&mut json).map_err(|error| {
        let path = match error.path().to_string() {
            path if path == "." => String::new(),
            path => path,
        };
        let field = match field {
            None => path,
            Some(field) if path.is_empty() || path.starts_with('[') => format!("{field}{path}"),
            Some(field) => format!("{field}.{path}"),
        };
        vec![ArgumentFault { field, problem: without_position(&error.into_inner()) }]
    })
}

/// The message of an error without its position: the JSON may be a part of the arguments.
fn without_position(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let position = format!(" at line {} column {}", error.line(), error.column());
    text.strip_suffix(&position).unwrap_or(&text).to_owned()
}
