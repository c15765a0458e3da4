//! An answer in the form of Chat Completions.

use serde_json::{Map, Value, json};

use super::answer::{Answer, Step};
use super::output::{CallForm, Kind, Output};
use super::response::Ending;
use super::{Frame, Split};

/// The creation time of every answer: a constant, so that answers do not depend on the clock.
const CREATED: u64 = 1_760_000_000;

/// An [`Answer`] in the form of Chat Completions, as OpenAI streams it. Reasoning is in
/// `reasoning_content`, as in `DeepSeek`'s API.
#[derive(Clone, Copy, Debug)]
pub struct ChatAnswer<'a> {
    answer: &'a Answer,
    with_usage: bool,
}

impl<'a> ChatAnswer<'a> {
    pub(super) fn new(answer: &'a Answer) -> Self {
        Self { answer, with_usage: answer.request["stream_options"]["include_usage"] == true }
    }

    /// Ends the stream with a usage chunk, as a request does with `stream_options.include_usage`.
    #[must_use]
    pub fn with_usage(mut self) -> Self {
        self.with_usage = true;
        self
    }

    /// The whole stream, one chunk per frame: the role, the deltas, the finish reason, the usage if
    /// requested, `[DONE]`. A failed answer has an error in place of its end.
    pub fn frames(&self) -> Vec<Frame> {
        let mut stream = Stream { source: *self, frames: Vec::new(), calls: 0 };
        stream.delta(&json!({"role": "assistant", "content": ""}));
        stream.steps();
        stream.end();
        stream.frames.push(Frame::done());
        stream.frames
    }

    /// The completion of a request without streaming.
    pub fn json(&self) -> Value {
        let items = self.answer.items();
        let calls: Vec<Value> = items.iter().filter_map(whole_call).collect();
        let mut message = json!({
            "role": "assistant",
            "content": joined(&items, |kind| matches!(kind, Kind::Message { .. })),
            "refusal": joined(&items, |kind| matches!(kind, Kind::Refusal { .. })),
        });
        let reasoning = joined(&items, |kind| matches!(kind, Kind::Reasoning { .. }));
        if !reasoning.is_null() {
            message["reasoning_content"] = reasoning;
        }
        if !calls.is_empty() {
            message["tool_calls"] = calls.into();
        }
        let finish = self.finish_reason();
        self.completion(&json!({"object": "chat.completion", "usage": self.usage(), "choices": [
            {"index": 0, "message": message, "logprobs": null, "finish_reason": finish},
        ]}))
    }

    /// A completion, or a chunk of one, with additional fields.
    fn completion(&self, own: &Value) -> Value {
        let id = self.answer.response_id().replacen("resp_", "chatcmpl-", 1);
        let mut completion = json!({
            "id": id,
            "created": CREATED,
            "model": self.answer.model,
            "service_tier": "default",
            "system_fingerprint": null,
        });
        for (name, value) in own.as_object().into_iter().flatten() {
            completion[name] = value.clone();
        }
        completion
    }

    fn finish_reason(&self) -> &'static str {
        let is_call = |item: &Output<'_>| matches!(item.kind, Kind::Call { .. });
        match &self.answer.ending {
            Ending::Incomplete { .. } => "length",
            _ if self.answer.items().iter().any(is_call) => "tool_calls",
            _ => "stop",
        }
    }

    fn usage(&self) -> Value {
        let usage = &self.answer.json()["usage"];
        json!({
            "prompt_tokens": usage["input_tokens"],
            "completion_tokens": usage["output_tokens"],
            "total_tokens": usage["total_tokens"],
            "prompt_tokens_details": usage["input_tokens_details"],
            "completion_tokens_details": usage["output_tokens_details"],
        })
    }
}

struct Stream<'a> {
    source: ChatAnswer<'a>,
    frames: Vec<Frame>,
    calls: usize,
}

impl Stream<'_> {
    fn steps(&mut self) {
        let answer = self.source.answer;
        let mut items = answer.items().into_iter();
        for step in &answer.steps {
            match step {
                Step::Item(..) => {
                    items.by_ref().take(1).for_each(|it| self.item(it.kind, answer.split));
                }
                Step::Event(event) => self.frames.push(Frame::data(event)),
                Step::Raw(bytes) => self.frames.push(Frame::raw(bytes.clone())),
            }
        }
    }

    fn item(&mut self, kind: &Kind, split: Split) {
        match kind {
            Kind::Reasoning { summary } => self.text("reasoning_content", summary, split),
            Kind::Message { text } => self.text("content", text, split),
            Kind::Refusal { text } => self.text("refusal", text, split),
            Kind::Verbatim(delta) => self.delta(delta),
            Kind::Call { form, call_id, name, input } => {
                let opened = call(form, call_id, name, "");
                self.call_delta(&opened);
                for piece in split.cut(input) {
                    self.call_delta(&input_delta(form, &piece));
                }
                self.calls += 1;
            }
        }
    }

    fn text(&mut self, field: &str, text: &str, split: Split) {
        for piece in split.cut(text) {
            self.delta(&json!({field: piece}));
        }
    }

    fn call_delta(&mut self, call: &Value) {
        let mut call = call.clone();
        call["index"] = self.calls.into();
        self.delta(&json!({"tool_calls": [call]}));
    }

    fn delta(&mut self, delta: &Value) {
        self.chunk(&json!([
            {"index": 0, "delta": delta, "logprobs": null, "finish_reason": null},
        ]));
    }

    fn end(&mut self) {
        if let Ending::Failed { code, message } = &self.source.answer.ending {
            let error = json!({"message": message, "type": code, "param": null, "code": code});
            self.frames.push(Frame::data(&json!({"error": error})));
            return;
        }
        let finish = self.source.finish_reason();
        self.chunk(&json!([
            {"index": 0, "delta": {}, "logprobs": null, "finish_reason": finish},
        ]));
        if self.source.with_usage {
            self.chunk_with(&json!([]), &self.source.usage());
        }
    }

    fn chunk(&mut self, choices: &Value) {
        self.chunk_with(choices, &Value::Null);
    }

    /// If usage was requested, every chunk has the field; it is null except in the last chunk.
    fn chunk_with(&mut self, choices: &Value, usage: &Value) {
        let mut own = Map::new();
        own.insert("object".to_owned(), "chat.completion.chunk".into());
        own.insert("choices".to_owned(), choices.clone());
        if self.source.with_usage {
            own.insert("usage".to_owned(), usage.clone());
        }
        self.frames.push(Frame::data(&self.source.completion(&own.into())));
    }
}

fn whole_call(item: &Output<'_>) -> Option<Value> {
    match item.kind {
        Kind::Call { form, call_id, name, input } => Some(call(form, call_id, name, input)),
        _ => None,
    }
}

fn call(form: &CallForm, id: &str, name: &str, input: &str) -> Value {
    if form.is_custom() {
        json!({"id": id, "type": "custom", "custom": {"name": name, "input": input}})
    } else {
        json!({"id": id, "type": "function", "function": {"name": name, "arguments": input}})
    }
}

fn input_delta(form: &CallForm, piece: &str) -> Value {
    if form.is_custom() {
        json!({"custom": {"input": piece}})
    } else {
        json!({"function": {"arguments": piece}})
    }
}

/// Joins the texts of all items that match; null if there are none.
fn joined(items: &[Output<'_>], is_wanted: fn(&Kind) -> bool) -> Value {
    let texts: Vec<&str> =
        items.iter().map(|item| item.kind).filter(|kind| is_wanted(kind)).map(Kind::text).collect();
    if texts.is_empty() { Value::Null } else { texts.concat().into() }
}
