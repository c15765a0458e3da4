//! An answer in the form of Anthropic Messages.

use serde_json::{Value, json};

use super::answer::{Answer, Step};
use super::output::{Kind, Output};
use super::response::Ending;
use super::{Frame, Split};
use crate::seal;

/// An [`Answer`] in the form of Anthropic Messages.
///
/// Reasoning is a `thinking` block with the [signature](crate::thinking_signature) of its text. A
/// call is a `tool_use` block; a custom tool has its text in the field `input`.
#[derive(Clone, Copy, Debug)]
pub struct AnthropicAnswer<'a>(&'a Answer);

impl<'a> AnthropicAnswer<'a> {
    pub(super) fn new(answer: &'a Answer) -> Self {
        Self(answer)
    }

    /// The whole stream, one event per frame: `message_start`, the blocks with a `ping` in the
    /// first, `message_delta`, `message_stop`. A failed answer ends with `error` instead.
    pub fn frames(self) -> Vec<Frame> {
        let mut stream = Stream { source: self, frames: Vec::new(), blocks: 0 };
        stream.emit(&json!({"type": "message_start", "message": self.opened()}));
        stream.steps();
        stream.end();
        stream.frames
    }

    /// The message of a request without streaming.
    pub fn json(self) -> Value {
        let mut message = self.opened();
        let content = self.0.items().iter().map(|item| self.block(item.kind).closed()).collect();
        message["content"] = Value::Array(content);
        message["stop_reason"] = self.stop_reason().into();
        message["usage"]["output_tokens"] = self.tokens("output_tokens");
        message
    }

    /// The message in `message_start`.
    fn opened(self) -> Value {
        json!({
            "id": self.0.response_id().replacen("resp_", "msg_", 1),
            "type": "message",
            "role": "assistant",
            "model": self.0.model,
            "content": [],
            "stop_reason": null,
            "stop_sequence": null,
            "usage": {
                "input_tokens": self.tokens("input_tokens"),
                "cache_creation_input_tokens": 0,
                "cache_read_input_tokens": 0,
                "output_tokens": 1,
                "service_tier": "standard",
            },
        })
    }

    fn tokens(self, field: &str) -> Value {
        self.0.json()["usage"][field].as_u64().unwrap_or_default().into()
    }

    fn stop_reason(self) -> &'static str {
        let items = self.0.items();
        let any = |is: fn(&Kind) -> bool| items.iter().any(|item: &Output<'_>| is(item.kind));
        match &self.0.ending {
            Ending::Incomplete { .. } => "max_tokens",
            _ if any(|kind| matches!(kind, Kind::Refusal { .. })) => "refusal",
            _ if any(|kind| matches!(kind, Kind::Call { .. })) => "tool_use",
            _ => "end_turn",
        }
    }

    fn block(self, kind: &'a Kind) -> Block<'a> {
        match kind {
            Kind::Reasoning { summary } => {
                let sign = || seal::thinking_signature(&self.0.model, summary);
                Block::Thinking { text: summary, signature: self.0.sealed.then(sign) }
            }
            Kind::Message { text } | Kind::Refusal { text } => Block::Text(text),
            Kind::Verbatim(block) => Block::Verbatim(block),
            Kind::Call { form, call_id: id, name, input } if form.is_custom() => {
                Block::ToolUse { id, name, input: json!({"input": input}).to_string() }
            }
            Kind::Call { call_id: id, name, input, .. } => {
                Block::ToolUse { id, name, input: input.clone() }
            }
        }
    }
}

/// One content block.
enum Block<'a> {
    Text(&'a str),
    Thinking { text: &'a str, signature: Option<String> },
    ToolUse { id: &'a str, name: &'a str, input: String },
    Verbatim(&'a Value),
}

impl Block<'_> {
    /// The block in `content_block_start`.
    fn opened(&self) -> Value {
        match self {
            Self::Text(_) => json!({"type": "text", "text": ""}),
            Self::Thinking { .. } => json!({"type": "thinking", "thinking": "", "signature": ""}),
            Self::ToolUse { id, name, .. } => {
                json!({"type": "tool_use", "id": id, "name": name, "input": {}})
            }
            Self::Verbatim(block) => (*block).clone(),
        }
    }

    fn deltas(&self, split: Split) -> Vec<Value> {
        let cut = |text: &str, kind, field| -> Vec<Value> {
            split.cut(text).iter().map(|piece| delta(kind, field, piece)).collect()
        };
        match self {
            Self::Text(text) => cut(text, "text_delta", "text"),
            Self::Thinking { text, signature } => {
                let mut deltas = cut(text, "thinking_delta", "thinking");
                let signature = signature.iter();
                deltas.extend(signature.map(|it| delta("signature_delta", "signature", it)));
                deltas
            }
            Self::ToolUse { input, .. } => {
                // The provider sends an empty delta first.
                let mut deltas = vec![delta("input_json_delta", "partial_json", "")];
                deltas.extend(cut(input, "input_json_delta", "partial_json"));
                deltas
            }
            Self::Verbatim(_) => Vec::new(),
        }
    }

    /// The finished block. An input that is not JSON stays a string.
    fn closed(&self) -> Value {
        match self {
            Self::Text(text) => json!({"type": "text", "text": text}),
            Self::Thinking { text, signature } => json!({
                "type": "thinking",
                "thinking": text,
                "signature": signature.as_deref().unwrap_or_default(),
            }),
            Self::ToolUse { id, name, input } => {
                let input = serde_json::from_str(input).unwrap_or_else(|_| json!(input));
                json!({"type": "tool_use", "id": id, "name": name, "input": input})
            }
            Self::Verbatim(block) => (*block).clone(),
        }
    }
}

fn delta(kind: &str, field: &str, piece: &str) -> Value {
    json!({"type": kind, field: piece})
}

struct Stream<'a> {
    source: AnthropicAnswer<'a>,
    frames: Vec<Frame>,
    blocks: usize,
}

impl Stream<'_> {
    fn steps(&mut self) {
        let answer = self.source.0;
        let mut items = answer.items().into_iter();
        for step in &answer.steps {
            match step {
                Step::Item(..) => {
                    let next = items.by_ref().take(1);
                    next.for_each(|it| self.block(&self.source.block(it.kind), answer.split));
                }
                Step::Event(event) => self.emit(event),
                Step::Raw(bytes) => self.frames.push(Frame::raw(bytes.clone())),
            }
        }
    }

    fn block(&mut self, block: &Block<'_>, split: Split) {
        let index = self.blocks;
        self.emit(&json!({
            "type": "content_block_start", "index": index, "content_block": block.opened(),
        }));
        if index == 0 {
            self.emit(&json!({"type": "ping"}));
        }
        for delta in block.deltas(split) {
            self.emit(&json!({"type": "content_block_delta", "index": index, "delta": delta}));
        }
        self.emit(&json!({"type": "content_block_stop", "index": index}));
        self.blocks += 1;
    }

    fn end(&mut self) {
        if let Ending::Failed { code, message } = &self.source.0.ending {
            let error = json!({"type": code, "message": message});
            return self.emit(&json!({"type": "error", "error": error}));
        }
        self.emit(&json!({
            "type": "message_delta",
            "delta": {"stop_reason": self.source.stop_reason(), "stop_sequence": null},
            "usage": {"output_tokens": self.source.tokens("output_tokens")},
        }));
        self.emit(&json!({"type": "message_stop"}));
    }

    fn emit(&mut self, event: &Value) {
        self.frames.push(Frame::event(event));
    }
}
