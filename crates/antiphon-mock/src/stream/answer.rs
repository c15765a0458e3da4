//! The builder of an answer.

use std::sync::atomic::{AtomicU64, Ordering};

use bytes::Bytes;
use serde_json::Value;

use super::output::{CUSTOM, FUNCTION, Kind, Output};
use super::response::Ending;
use super::{AnthropicAnswer, ChatAnswer, Frame, Split, lifecycle, response};
use crate::{Api, digest, seal};

/// The default number of hexadecimal digits in an id.
const ID_DIGITS: usize = 48;

/// A model's answer: its output items in order, and the ending of the response.
///
/// ```
/// # use antiphon_mock::Answer;
/// let answer = Answer::new("fake-model")
///     .reasoning("The user wants an echo.")
///     .call("call_1", "echo", r#"{"text":"hello"}"#);
/// assert_eq!(answer.output()[1]["call_id"], "call_1");
/// ```
///
/// The same answer is available as a stream ([`frames`](Self::frames)) or as one JSON body
/// ([`json`](Self::json)), and in the forms of the other APIs ([`chat`](Self::chat),
/// [`anthropic`](Self::anthropic)). Item ids are unique unless [`seed`](Self::seed) fixes them.
#[derive(Clone, Debug)]
pub struct Answer {
    pub(super) model: String,
    pub(super) request: Value,
    pub(super) steps: Vec<Step>,
    pub(super) split: Split,
    pub(super) ending: Ending,
    seed: String,
    id_digits: usize,
    pub(super) sealed: bool,
}

/// One element between the beginning and the end of a response.
#[derive(Clone, Debug)]
pub(super) enum Step {
    Item(Kind, Option<String>),
    Event(Value),
    Raw(Bytes),
}

/// Content.
impl Answer {
    /// A completed answer of `model` without items.
    pub fn new(model: impl Into<String>) -> Self {
        static ANSWERS: AtomicU64 = AtomicU64::new(0);
        let number = ANSWERS.fetch_add(1, Ordering::Relaxed);
        Self {
            model: model.into(),
            request: Value::Null,
            steps: Vec::new(),
            split: Split::default(),
            ending: Ending::Completed,
            seed: format!("answer {number}"),
            id_digits: ID_DIGITS,
            sealed: true,
        }
    }

    /// Adds reasoning with this summary (none if empty) and encrypted content for its id.
    #[must_use]
    pub fn reasoning(self, summary: impl Into<String>) -> Self {
        self.output_item(Kind::Reasoning { summary: summary.into() })
    }

    /// Adds a function call.
    #[must_use]
    pub fn call(
        self,
        call_id: impl Into<String>,
        name: impl Into<String>,
        arguments: impl Into<String>,
    ) -> Self {
        let (call_id, name, input) = (call_id.into(), name.into(), arguments.into());
        self.output_item(Kind::Call { form: &FUNCTION, call_id, name, input })
    }

    /// Adds a call to a custom tool, which takes free text.
    #[must_use]
    pub fn custom_call(
        self,
        call_id: impl Into<String>,
        name: impl Into<String>,
        input: impl Into<String>,
    ) -> Self {
        let (call_id, name, input) = (call_id.into(), name.into(), input.into());
        self.output_item(Kind::Call { form: &CUSTOM, call_id, name, input })
    }

    /// Adds an assistant message.
    #[must_use]
    pub fn message(self, text: impl Into<String>) -> Self {
        self.output_item(Kind::Message { text: text.into() })
    }

    /// Adds a message in which the model refuses.
    #[must_use]
    pub fn refusal(self, text: impl Into<String>) -> Self {
        self.output_item(Kind::Refusal { text: text.into() })
    }

    /// Adds an item of any type, exactly as given: added and done, without events between them.
    /// In Chat Completions it is the `delta` of a chunk, in Anthropic Messages a content block.
    #[must_use]
    pub fn item(self, item: Value) -> Self {
        self.output_item(Kind::Verbatim(item))
    }

    /// Sets the id of the last item. It has no effect on an [`item`](Self::item), which has its
    /// own.
    #[must_use]
    pub fn with_id(mut self, id: impl Into<String>) -> Self {
        let last = self.steps.iter_mut().rev().find_map(|step| match step {
            Step::Item(_, given) => Some(given),
            _ => None,
        });
        if let Some(given) = last {
            *given = Some(id.into());
        }
        self
    }

    /// Inserts an event of any type between the items around it. `type` and `sequence_number` are
    /// filled in if `fields` lacks them.
    #[must_use]
    pub fn event(mut self, name: &str, mut fields: Value) -> Self {
        if fields["type"].is_null() {
            fields["type"] = name.into();
        }
        self.steps.push(Step::Event(fields));
        self
    }

    /// Inserts any bytes between the items around them.
    #[must_use]
    pub fn raw(mut self, bytes: impl Into<Bytes>) -> Self {
        self.steps.push(Step::Raw(bytes.into()));
        self
    }

    fn output_item(mut self, kind: Kind) -> Self {
        self.steps.push(Step::Item(kind, None));
        self
    }
}

/// Presentation.
impl Answer {
    /// Echoes the settings of this request: tools, instructions and so on.
    #[must_use]
    pub fn request(mut self, request: &Value) -> Self {
        self.request = request.clone();
        self
    }

    /// Fixes all ids: answers with the same seed and the same items have the same ids.
    #[must_use]
    pub fn seed(mut self, seed: impl Into<String>) -> Self {
        self.seed = seed.into();
        self
    }

    /// Sets the number of hexadecimal digits in the answer's own ids, 48 by default.
    #[must_use]
    pub fn id_digits(mut self, digits: usize) -> Self {
        self.id_digits = digits;
        self
    }

    /// Sets the model.
    #[must_use]
    pub fn with_model(mut self, model: impl Into<String>) -> Self {
        self.model = model.into();
        self
    }

    /// Sets how streamed text is cut into deltas.
    #[must_use]
    pub fn split(mut self, split: Split) -> Self {
        self.split = split;
        self
    }

    /// Leaves out the proof that reasoning is the model's own: encrypted content and signatures.
    #[must_use]
    pub fn without_encrypted_content(mut self) -> Self {
        self.sealed = false;
        self
    }

    /// Ends with `response.incomplete` at `max_output_tokens`. The last item is incomplete too.
    #[must_use]
    pub fn incomplete(mut self) -> Self {
        self.ending = Ending::Incomplete { reason: "max_output_tokens".to_owned() };
        self
    }

    /// Ends with `response.failed`, after the items.
    #[must_use]
    pub fn failed(mut self, code: impl Into<String>, message: impl Into<String>) -> Self {
        self.ending = Ending::Failed { code: code.into(), message: message.into() };
        self
    }
}

/// Output.
impl Answer {
    /// The whole stream, one event per frame, with `[DONE]` at the end.
    pub fn frames(&self) -> Vec<Frame> {
        lifecycle::frames(self)
    }

    /// The response of a request without streaming.
    pub fn json(&self) -> Value {
        response::ended(self)
    }

    /// The finished output items.
    pub fn output(&self) -> Vec<Value> {
        self.items().iter().map(Output::closed).collect()
    }

    /// The same answer in the form of Chat Completions.
    pub fn chat(&self) -> ChatAnswer<'_> {
        ChatAnswer::new(self)
    }

    /// The same answer in the form of Anthropic Messages.
    pub fn anthropic(&self) -> AnthropicAnswer<'_> {
        AnthropicAnswer::new(self)
    }

    /// The whole stream in the form of `api`.
    pub fn frames_for(&self, api: Api) -> Vec<Frame> {
        match api {
            Api::Responses => self.frames(),
            Api::Chat => self.chat().frames(),
            Api::Anthropic => self.anthropic().frames(),
        }
    }

    /// The JSON body in the form of `api`.
    pub fn json_for(&self, api: Api) -> Value {
        match api {
            Api::Responses => self.json(),
            Api::Chat => self.chat().json(),
            Api::Anthropic => self.anthropic().json(),
        }
    }

    /// The id of the response.
    pub fn response_id(&self) -> String {
        format!("resp_{}", digest::digits(&[&self.seed, "response"], self.id_digits))
    }

    pub(super) fn items(&self) -> Vec<Output<'_>> {
        let mut items: Vec<_> = self
            .steps
            .iter()
            .filter_map(|step| match step {
                Step::Item(kind, id) => Some((kind, id.as_ref())),
                _ => None,
            })
            .enumerate()
            .map(|(index, (kind, id))| self.output_at(index, kind, id))
            .collect();
        if let (Ending::Incomplete { .. }, Some(last)) = (&self.ending, items.last_mut()) {
            last.status = "incomplete";
        }
        items
    }

    fn output_at<'a>(&self, index: usize, kind: &'a Kind, id: Option<&String>) -> Output<'a> {
        let own = || {
            let number = index.to_string();
            let digits = digest::digits(&[&self.seed, "item", &number], self.id_digits);
            format!("{}_{digits}", kind.id_prefix())
        };
        let id = id.cloned().unwrap_or_else(own);
        let encrypted_content = self.sealed.then(|| seal::encrypted_content(&self.model, &id));
        Output { index, id, kind, status: "completed", encrypted_content }
    }
}
