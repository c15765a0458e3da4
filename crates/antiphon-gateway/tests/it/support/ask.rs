//! Bodies of `POST /v1/responses`.

use serde_json::{Value, json};

/// A model of the fake upstream that reasons.
pub(crate) const MODEL: &str = "fake-model";
/// Another one, which cannot read the reasoning of the first.
pub(crate) const OTHER_MODEL: &str = "foreign-model";
/// A model of the fake upstream that does not reason, and refuses to be asked for it.
pub(crate) const PLAIN: &str = "plain-model";
/// The model that is built into the gateway.
pub(crate) const SIM: &str = "sim";

/// A request for a response.
#[derive(Clone, Debug)]
pub(crate) struct Ask(Value);

/// Asks [`MODEL`], which may call the echo tool, with this input.
pub(crate) fn ask(input: impl Into<Value>) -> Ask {
    Ask(json!({"model": MODEL, "input": input.into(), "tools": [echo_tool()]}))
}

impl Ask {
    /// Asks another model.
    pub(crate) fn model(self, model: &str) -> Self {
        self.field("model", model)
    }

    /// Asks within a conversation.
    pub(crate) fn within(self, conversation: &str) -> Self {
        self.field("conversation", conversation)
    }

    /// Goes on from a response.
    pub(crate) fn after(self, response: &str) -> Self {
        self.field("previous_response_id", response)
    }

    /// Asks that nothing be kept.
    pub(crate) fn unstored(self) -> Self {
        self.field("store", false)
    }

    /// Asks for encrypted reasoning.
    pub(crate) fn encrypted(self) -> Self {
        self.field("include", json!(["reasoning.encrypted_content"]))
    }

    /// Sets any field.
    pub(crate) fn field(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.0[name] = value.into();
        self
    }

    /// The body.
    pub(crate) fn body(&self) -> &Value {
        &self.0
    }
}

/// The tool of the three turns: it says what it is told.
pub(crate) fn echo_tool() -> Value {
    json!({
        "type": "function",
        "name": "echo",
        "description": "Says it again.",
        "parameters": {
            "type": "object",
            "properties": {"text": {"type": "string"}},
            "required": ["text"],
        },
    })
}
