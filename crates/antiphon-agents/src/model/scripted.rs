//! A model that gives prepared answers, for tests.

use std::collections::{HashSet, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use antiphon::ItemId;
use antiphon::item::IdSource;
use antiphon::json::Object;
use antiphon::stateful::Report;
use antiphon::stream::{Assembler, Envelope, Event, UsedIds};
use antiphon::transcript::Transcript;
use async_trait::async_trait;
use futures_util::StreamExt;
use futures_util::stream::{self, BoxStream};
use serde_json::{Map, Value, json};

use super::{
    Answer, AnswerEvent, AnswerStatus, Backend, ModelError, ModelErrorKind, ModelRequest, Usage,
};

/// A model that gives prepared answers in order, and records the requests. Clones share both.
///
/// A request after the last answer is an error.
///
/// ```
/// use antiphon_agents::model::{Model, ModelRequest, ScriptedAnswer, ScriptedBackend};
/// use serde_json::json;
///
/// # tokio::runtime::Builder::new_current_thread().build()?.block_on(async {
/// let call = ScriptedAnswer::new().call("call_1", "get_weather", json!({"city": "Rome"}));
/// let script = ScriptedBackend::new([call, "Sunny.".into()]);
/// let model = Model::new("m", script.clone());
///
/// let answer = model.backend().respond(ModelRequest::new("m")).await.unwrap();
/// assert_eq!(answer.finish().await.unwrap().calls().count(), 1);
/// assert_eq!(script.requests().len(), 1);
/// # });
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct ScriptedBackend {
    script: Arc<Mutex<Script>>,
}

#[derive(Debug, Default)]
struct Script {
    answers: VecDeque<ScriptedAnswer>,
    requests: Vec<ModelRequest>,
    ids: Counter,
}

/// One prepared answer. It begins empty; each method adds an item, or changes the end.
#[derive(Clone, Debug)]
pub struct ScriptedAnswer {
    output: Vec<Value>,
    usage: Usage,
    status: AnswerStatus,
    ending: Ending,
}

/// The end of a prepared answer.
#[derive(Clone, Debug)]
enum Ending {
    /// All events arrive.
    Whole,
    /// The request has no answer.
    Rejected(ModelError),
    /// This number of events arrive, followed by an error.
    BreaksAfter(usize, ModelError),
    /// This number of events arrive, and nothing more.
    HangsAfter(usize),
}

impl ScriptedBackend {
    /// A model with these answers.
    pub fn new(answers: impl IntoIterator<Item = impl Into<ScriptedAnswer>>) -> Self {
        let backend = Self::default();
        backend.script().answers.extend(answers.into_iter().map(Into::into));
        backend
    }

    /// Adds an answer after the others.
    pub fn push(&self, answer: impl Into<ScriptedAnswer>) {
        self.script().answers.push_back(answer.into());
    }

    /// The requests so far, oldest first.
    pub fn requests(&self) -> Vec<ModelRequest> {
        self.script().requests.clone()
    }

    /// The number of answers that are left.
    pub fn answers_left(&self) -> usize {
        self.script().answers.len()
    }

    fn script(&self) -> MutexGuard<'_, Script> {
        self.script.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[async_trait]
impl Backend for ScriptedBackend {
    async fn respond(&self, request: ModelRequest) -> Result<Answer, ModelError> {
        let mut script = self.script();
        script.requests.push(request.clone());
        let Some(answer) = script.answers.pop_front() else {
            return Err(ModelError::unsupported("The script has no answer for this request."));
        };
        answer.play(&request, &mut script.ids)
    }
}

impl ScriptedAnswer {
    /// An empty answer.
    pub fn new() -> Self {
        let status = AnswerStatus::Completed;
        Self { output: Vec::new(), usage: Usage::default(), status, ending: Ending::Whole }
    }

    /// A request without an answer.
    pub fn failure(error: ModelError) -> Self {
        Self { ending: Ending::Rejected(error), ..Self::new() }
    }

    /// Adds a message.
    #[must_use]
    pub fn text(self, text: impl Into<String>) -> Self {
        let part = json!({"type": "output_text", "text": text.into(), "annotations": []});
        self.item(json!({"type": "message", "role": "assistant", "content": [part]}))
    }

    /// Adds a call of a function. Arguments that are a string are sent as they are.
    #[must_use]
    pub fn call(self, call_id: &str, name: &str, arguments: impl Into<Value>) -> Self {
        let arguments = match arguments.into() {
            Value::String(text) => text,
            value => value.to_string(),
        };
        self.item(json!({
            "type": "function_call", "call_id": call_id, "name": name, "arguments": arguments,
        }))
    }

    /// Adds a call of a custom tool.
    #[must_use]
    pub fn custom_call(self, call_id: &str, name: &str, input: &str) -> Self {
        self.item(json!({
            "type": "custom_tool_call", "call_id": call_id, "name": name, "input": input,
        }))
    }

    /// Adds reasoning.
    #[must_use]
    pub fn reasoning(self, summary: &str) -> Self {
        let part = json!({"type": "summary_text", "text": summary});
        self.item(json!({"type": "reasoning", "summary": [part]}))
    }

    /// Adds an item. An item without an id gets one.
    #[must_use]
    pub fn item(mut self, item: Value) -> Self {
        self.output.push(item);
        self
    }

    /// Sets the tokens.
    #[must_use]
    pub fn usage(self, usage: Usage) -> Self {
        Self { usage, ..self }
    }

    /// Ends the answer early, with this reason: `max_output_tokens`, `content_filter`.
    #[must_use]
    pub fn incomplete(self, reason: &str) -> Self {
        Self { status: AnswerStatus::Incomplete { reason: Some(reason.to_owned()) }, ..self }
    }

    /// Breaks the connection after this number of events.
    #[must_use]
    pub fn breaks_after(self, events: usize) -> Self {
        let error = ModelErrorKind::BrokeOff("the script ends here".to_owned());
        self.fails_after(events, error.into())
    }

    /// Fails after this number of events.
    #[must_use]
    pub fn fails_after(self, events: usize, error: ModelError) -> Self {
        Self { ending: Ending::BreaksAfter(events, error), ..self }
    }

    /// Sends nothing more after this number of events, and leaves the connection open.
    #[must_use]
    pub fn hangs_after(self, events: usize) -> Self {
        Self { ending: Ending::HangsAfter(events), ..self }
    }

    /// Starts the answer to `request`.
    fn play(self, request: &ModelRequest, ids: &mut Counter) -> Result<Answer, ModelError> {
        if let Ending::Rejected(error) = self.ending {
            return Err(error);
        }
        let events: Vec<_> = self.events(request, ids).into_iter().map(AnswerEvent::new).collect();
        let whole = stream::iter(events);
        let events: BoxStream<'static, _> = match self.ending {
            Ending::Whole | Ending::Rejected(_) => whole.boxed(),
            Ending::BreaksAfter(events, error) => {
                whole.take(events).chain(stream::iter([Err(error)])).boxed()
            }
            Ending::HangsAfter(events) => whole.take(events).chain(stream::pending()).boxed(),
        };
        Ok(Answer::new(events, Report::default()))
    }

    /// All events, as a server sends them.
    fn events(&self, request: &ModelRequest, ids: &mut Counter) -> Vec<Event> {
        let fields = Map::from_iter([("model".to_owned(), request.model.clone().into())]);
        let fields = Value::Object(fields).to_string();
        let fields = Object::parse_str(&fields).expect("it was written above");
        let envelope = Envelope::new(&ids.issue("resp"), 0, &fields, None);
        let used = UsedIds::from_transcript(&Transcript::default());
        let mut assembler =
            Assembler::new(envelope, used, Box::new(ids.clone()), true).keeping_form();
        let response = self.response(request, ids).to_string();
        assembler.apply_response(&response.into()).expect("the response is an object");
        let mut events = assembler.take_events();
        events.push(assembler.finish(0).event);
        events
    }

    /// The response. No item has an id of the request, which another process may have issued.
    fn response(&self, request: &ModelRequest, ids: &mut Counter) -> Value {
        let taken = request.items.iter().filter_map(|item| item.head().id.as_ref());
        let taken: HashSet<&str> = taken.map(ItemId::as_str).collect();
        let output = self.output.iter().map(|item| with_id(item, ids, &taken));
        let output: Vec<Value> = output.collect();
        let usage = self.usage;
        let usage = json!({
            "input_tokens": usage.input_tokens,
            "input_tokens_details": {
                "cached_tokens": usage.cached_tokens,
                "cache_write_tokens": usage.cache_write_tokens,
            },
            "output_tokens": usage.output_tokens,
            "output_tokens_details": {"reasoning_tokens": usage.reasoning_tokens},
            "total_tokens": usage.total_tokens,
        });
        let (status, details) = match &self.status {
            AnswerStatus::Completed => ("completed", Value::Null),
            AnswerStatus::Incomplete { reason } => ("incomplete", json!({"reason": reason})),
        };
        json!({"status": status, "incomplete_details": details, "output": output, "usage": usage})
    }
}

fn with_id(item: &Value, ids: &mut Counter, taken: &HashSet<&str>) -> Value {
    let mut item = item.clone();
    if item.get("id").is_none() {
        let kind = antiphon::Kind::parse(item["type"].as_str().unwrap_or("message"));
        let mut issued = std::iter::repeat_with(|| ids.issue(kind.id_prefix()));
        item["id"] = issued.find(|id| !taken.contains(id.as_str())).into();
    }
    if item.get("status").is_none() && item["type"] != "reasoning" {
        item["status"] = "completed".into();
    }
    item
}

impl Default for ScriptedAnswer {
    fn default() -> Self {
        Self::new()
    }
}

/// An answer with this text.
impl From<&str> for ScriptedAnswer {
    fn from(text: &str) -> Self {
        Self::new().text(text)
    }
}

/// A request without an answer.
impl From<ModelError> for ScriptedAnswer {
    fn from(error: ModelError) -> Self {
        Self::failure(error)
    }
}

/// Issues ids in order. They are the same in each run of a test.
#[derive(Clone, Debug, Default)]
struct Counter(u128);

impl IdSource for Counter {
    fn fill(&mut self, bytes: &mut [u8]) {
        for part in bytes.rchunks_mut(16) {
            let number = self.0.to_be_bytes();
            part.copy_from_slice(&number[16 - part.len()..]);
        }
        self.0 += 1;
    }
}
