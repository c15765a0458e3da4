//! The form of an agent's last answer.

use schemars::JsonSchema;
use serde_json::Value;

use crate::model::OutputFormat;
use crate::tool::{Parameters, SchemaFault};

/// The form of an agent's last answer: JSON of a type.
#[derive(Clone, Debug)]
pub(crate) struct OutputType {
    name: String,
    form: Parameters,
}

impl OutputType {
    pub(crate) fn new<T: JsonSchema>() -> Self {
        let allowed = |letter: char| if letter.is_ascii_alphanumeric() { letter } else { '_' };
        let name = T::schema_name().chars().map(allowed).collect();
        Self { name, form: Parameters::from_type::<T>() }
    }

    /// Lets the provider use the schema as a hint.
    pub(crate) fn not_strict(self) -> Self {
        Self { form: self.form.not_strict(), ..self }
    }

    /// The format for a request.
    pub(crate) fn format(&self) -> Result<OutputFormat, SchemaFault> {
        let schema = self.form.schema()?.clone();
        Ok(OutputFormat { name: self.name.clone(), schema, strict: self.form.is_strict() })
    }

    /// Checks an answer. The error is a message for the model.
    pub(crate) fn validate(&self, text: &str) -> Result<(), String> {
        match self.form.parse::<Value>(text) {
            Ok(_) => Ok(()),
            Err(faults) => {
                let faults: Vec<_> = faults.iter().map(|fault| format!("- {fault}\n")).collect();
                Err(format!(
                    "The answer does not have the required form.\n{}Answer again with the correct \
                     JSON only.",
                    faults.concat()
                ))
            }
        }
    }
}
