//! The builder of an answer.

use std::sync::atomic::{AtomicU64, Ordering};

use bytes::Bytes;
use serde_json::Value;

use super::output::{CUSTOM, FUNCTION, Kind, Output};
use super::response::Ending;
use super::{AnthropicAnswer, ChatAnswer, Frame, Split, lifecycle, response};
use crate::{Api, digest, seal};

/// How many hexadecimal digits an id has.
const ID_DIGITS: usize = 48;

/// What a model answers: output items in order, and how the response ends.
///
/// ```
/// # use antiphon_testkit::Answer;
/// let answer = Answer::new("fake-model")
///     .reasoning("The user wants an echo.")
///     .call("call_1", "echo", r#"{"text":"hello"}"#);
/// assert_eq!(answer.output()[1]["call_id"], "call_1");
/// ```
///
/// The same answer is given streamed ([`frames`](Self::frames)) or whole ([`json`](Self::json)), as
/// a Responses server does, and likewise as the other APIs do ([`chat`](Self::chat),
/// [`anthropic`](Self::anthropic)).
/// Item ids differ from one answer to the next unless [`seed`](Self::seed) fixes them.
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

/// What happens between the beginning and the end of a response.
#[derive(Clone, Debug)]
pub(super) enum Step {
    Item(Kind, Option<String>),
    Event(Value),
    Raw(Bytes),
}

/// What the answer holds, in order.
impl Answer {
    /// An answer of `model` without any items, completed.
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

    /// Adds a message of the assistant.
    #[must_use]
    pub fn message(self, text: impl Into<String>) -> Self {
        self.output_item(Kind::Message { text: text.into() })
    }

    /// Adds a message in which the model declines.
    #[must_use]
    pub fn refusal(self, text: impl Into<String>) -> Self {
        self.output_item(Kind::Refusal { text: text.into() })
    }

    /// Adds an item of any type, known or not, exactly as given: added and done, nothing between.
    /// In Chat Completions it is the `delta` of a chunk, in Anthropic Messages a content block.
    #[must_use]
    pub fn item(self, item: Value) -> Self {
        self.output_item(Kind::Verbatim(item))
    }

    /// Gives the item last added this id instead of one of its own. No effect on an
    /// [`item`](Self::item), which carries what it was given.
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

    /// Puts an event of any type here, between the items around it. `type` and `sequence_number`
    /// are filled in where `fields` lacks them.
    #[must_use]
    pub fn event(mut self, name: &str, mut fields: Value) -> Self {
        if fields["type"].is_null() {
            fields["type"] = name.into();
        }
        self.steps.push(Step::Event(fields));
        self
    }

    /// Puts any bytes here, between the items around them.
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

/// How it is given.
impl Answer {
    /// Echoes the settings of the request that this answers: tools, instructions and so on.
    #[must_use]
    pub fn request(mut self, request: &Value) -> Self {
        self.request = request.clone();
        self
    }

    /// Fixes all ids: answers with the same seed and the same items carry the same ids.
    #[must_use]
    pub fn seed(mut self, seed: impl Into<String>) -> Self {
        self.seed = seed.into();
        self
    }

    /// Gives every id that the answer makes itself this many hexadecimal digits instead of 48.
    #[must_use]
    pub fn id_digits(mut self, digits: usize) -> Self {
        self.id_digits = digits;
        self
    }

    /// Makes it the answer of another model.
    #[must_use]
    pub fn of_model(mut self, model: impl Into<String>) -> Self {
        self.model = model.into();
        self
    }

    /// Cuts streamed text into deltas this way.
    #[must_use]
    pub fn split(mut self, split: Split) -> Self {
        self.split = split;
        self
    }

    /// Leaves out what proves reasoning to be the model's own: encrypted content, signatures.
    #[must_use]
    pub fn without_encrypted_content(mut self) -> Self {
        self.sealed = false;
        self
    }

    /// Ends with `response.incomplete` at `max_output_tokens`; the last item is incomplete too.
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

/// What becomes of it.
impl Answer {
    /// The whole stream, one event per frame, with `[DONE]` at its end.
    pub fn frames(&self) -> Vec<Frame> {
        lifecycle::frames(self)
    }

    /// The response as it is answered without streaming.
    pub fn json(&self) -> Value {
        response::ended(self)
    }

    /// The output items as they are in the end.
    pub fn output(&self) -> Vec<Value> {
        self.items().iter().map(Output::closed).collect()
    }

    /// The same answer as Chat Completions gives it.
    pub fn chat(&self) -> ChatAnswer<'_> {
        ChatAnswer::of(self)
    }

    /// The same answer as Anthropic Messages gives it.
    pub fn anthropic(&self) -> AnthropicAnswer<'_> {
        AnthropicAnswer::of(self)
    }

    /// The whole stream as `api` has it.
    pub fn frames_of(&self, api: Api) -> Vec<Frame> {
        match api {
            Api::Responses => self.frames(),
            Api::Chat => self.chat().frames(),
            Api::Anthropic => self.anthropic().frames(),
        }
    }

    /// The answer in one piece as `api` has it.
    pub fn json_of(&self, api: Api) -> Value {
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
