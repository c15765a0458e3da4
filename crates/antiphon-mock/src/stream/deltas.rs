//! The events that stream one text (part added, deltas, text done, part done), and their cuts.

use serde_json::{Value, json};

pub(super) fn text_part(text: &str) -> Value {
    json!({"type": "output_text", "text": text, "annotations": [], "logprobs": []})
}

pub(super) fn refusal_part(text: &str) -> Value {
    json!({"type": "refusal", "refusal": text})
}

pub(super) fn summary_part(text: &str) -> Value {
    json!({"type": "summary_text", "text": text})
}

/// A text to stream, and the way to cut it.
pub(super) struct Text<'a> {
    pub(super) text: &'a str,
    pub(super) split: Split,
}

impl Text<'_> {
    pub(super) fn as_summary(&self) -> Vec<Value> {
        let part = json!({"summary_index": 0});
        let events = self.streamed("response.reasoning_summary_text", "text", &part);
        self.in_part("response.reasoning_summary_part", summary_part, &part, events)
    }

    pub(super) fn as_text_part(&self) -> Vec<Value> {
        let part = json!({"content_index": 0});
        let fields = json!({"content_index": 0, "logprobs": []});
        let events = self.streamed("response.output_text", "text", &fields);
        self.in_part("response.content_part", text_part, &part, events)
    }

    pub(super) fn as_refusal_part(&self) -> Vec<Value> {
        let part = json!({"content_index": 0});
        let events = self.streamed("response.refusal", "refusal", &part);
        self.in_part("response.content_part", refusal_part, &part, events)
    }

    /// `name.delta` for every piece, then `name.done` with the whole text in `field`.
    pub(super) fn streamed(&self, name: &str, field: &str, fields: &Value) -> Vec<Value> {
        let delta = |piece| with(fields, json!({"type": format!("{name}.delta"), "delta": piece}));
        let done = json!({"type": format!("{name}.done"), field: self.text});
        let deltas = self.split.cut(self.text).into_iter().map(delta);
        deltas.chain([with(fields, done)]).collect()
    }

    /// `name.added` with the empty part, the events, then `name.done` with the full part.
    fn in_part(
        &self,
        name: &str,
        part: fn(&str) -> Value,
        fields: &Value,
        events: Vec<Value>,
    ) -> Vec<Value> {
        let added = json!({"type": format!("{name}.added"), "part": part("")});
        let done = json!({"type": format!("{name}.done"), "part": part(self.text)});
        [with(fields, added)].into_iter().chain(events).chain([with(fields, done)]).collect()
    }
}

fn with(fields: &Value, mut event: Value) -> Value {
    for (name, value) in fields.as_object().into_iter().flatten() {
        event[name] = value.clone();
    }
    event
}

/// How an answer's text is cut into deltas. The joined deltas equal the text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Split {
    /// After every space.
    #[default]
    Words,
    /// After every `n` characters; 0 counts as 1.
    Characters(usize),
    /// One delta with the whole text.
    Whole,
}

impl Split {
    pub(super) fn cut(self, text: &str) -> Vec<String> {
        match self {
            Self::Words => text.split_inclusive(' ').map(str::to_owned).collect(),
            Self::Characters(count) => {
                let characters: Vec<char> = text.chars().collect();
                characters.chunks(count.max(1)).map(|run| run.iter().collect()).collect()
            }
            Self::Whole => Vec::from_iter((!text.is_empty()).then(|| text.to_owned())),
        }
    }
}
