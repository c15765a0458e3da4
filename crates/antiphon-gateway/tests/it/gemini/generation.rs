//! Answers as Google's clients read them.

use serde_json::{Value, json};

use crate::chat;
use crate::support::{Answer, Mode};

/// A `GenerateContentResponse`, and the headers that came with it.
pub(crate) struct Generation {
    answer: Answer,
    pub(crate) json: Value,
}

impl Generation {
    /// Reads an answer that went well.
    pub(crate) fn read(answer: &Answer, mode: Mode) -> Self {
        let json = match mode {
            Mode::Whole => answer.json(),
            Mode::Streamed => {
                assert_eq!(answer.status(), 200, "{:?}", answer.body());
                let chunks = chat::events(answer).into_iter();
                let chunks = chunks.map(|data| serde_json::from_str(&data).expect("it is JSON"));
                accumulate(&chunks.collect::<Vec<_>>())
            }
        };
        assert_eq!(json["candidates"][0]["content"]["role"], "model", "{json}");
        assert_ne!(json["responseId"], "");
        Self { answer: answer.clone(), json }
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.answer.header(name)
    }

    /// The content, as a history holds it.
    pub(crate) fn content(&self) -> &Value {
        &self.json["candidates"][0]["content"]
    }

    pub(crate) fn parts(&self) -> &[Value] {
        self.content()["parts"].as_array().map(Vec::as_slice).unwrap_or_default()
    }

    /// The text without the thoughts.
    pub(crate) fn text(&self) -> String {
        let parts = self.parts().iter().filter(|part| part["thought"] != true);
        parts.filter_map(|part| part["text"].as_str()).collect()
    }

    pub(crate) fn thoughts(&self) -> String {
        let parts = self.parts().iter().filter(|part| part["thought"] == true);
        parts.filter_map(|part| part["text"].as_str()).collect()
    }

    /// The ids of the calls.
    pub(crate) fn calls(&self) -> Vec<&str> {
        let calls = self.parts().iter().filter_map(|part| part.get("functionCall"));
        calls.map(|call| call["id"].as_str().expect("a call has an id")).collect()
    }

    pub(crate) fn finish_reason(&self) -> &str {
        self.json["candidates"][0]["finishReason"].as_str().expect("the answer has ended")
    }
}

/// The answer that these chunks add up to. The parts stay as they came, as in the histories of
/// Google's SDKs.
pub(super) fn accumulate(chunks: &[Value]) -> Value {
    let (last, others) = chunks.split_last().expect("the stream has chunks");
    assert!(last["candidates"][0]["finishReason"].is_string(), "{last}");
    for chunk in others {
        assert_eq!(chunk["responseId"], last["responseId"]);
        assert!(chunk["candidates"][0].get("finishReason").is_none(), "{chunk}");
    }
    let parts = chunks.iter().flat_map(|chunk| {
        let parts = chunk["candidates"][0]["content"]["parts"].as_array();
        parts.expect("a chunk has parts").clone()
    });
    let parts: Vec<Value> = parts.collect();
    let mut whole = last.clone();
    whole["candidates"][0]["content"]["parts"] = json!(parts);
    whole
}
