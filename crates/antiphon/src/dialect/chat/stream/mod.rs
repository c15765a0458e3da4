//! Hears the answer of a Chat Completions server.
//!
//! Sources: OpenAI's reference of the chat completion object and of its chunks; beside it what
//! Azure, vLLM, SGLang, Ollama, llama.cpp, DeepSeek and OpenRouter document that they send, and
//! what is reported of them.

mod annotation;
mod answer;
mod call;
mod calls;
mod details;
mod failure;
mod finish;
mod fragment;
mod left_out;
mod logprobs;
mod message;
mod reasoning;
mod teller;
mod usage;

#[cfg(test)]
mod tests;

use bytes::Bytes;

use self::answer::Answer;
use self::finish::Finish;
use self::left_out::LeftOut;
use crate::dialect::Asked;
use crate::dialect::listener::Decode;
use crate::dialect::usage::Usage;
use crate::json::{Object, objects, quote};
use crate::stream::{Assembler, Failure, Status};

/// The decoder of one answer.
///
/// ```text
///   Speaking ── finish_reason ──> Finished ── [DONE], or the stream is over ──> the response ends
///      │ └────── [DONE], something was said ──────────────────────────────────> incomplete
///      │ └────── the stream is over ──> it broke off
///      └──────── error ───────────────────────────────────────────────────────> failed
/// ```
///
/// - `[DONE]` without a `finish_reason` says that the server has sent all, and not that the model
///   has said all: gateways write it after an upstream that broke off, too. So the response is
///   incomplete, without a reason, and what spoke last is unfinished.
/// - The response ends after its `finish_reason`, not with it: the chunk with the usage follows.
/// - Of several choices the first is heard. What is said under a key that is not known is left out,
//   and each kind noted once. `logprobs` that the caller did not ask for are left out, too, and
//   those of
///   refusals: the events carry an empty list.
/// - Of a chunk's own fields `model`, `service_tier`, `choices`, `usage` and `error` are heard.
///   What else stands there is about the server (`system_fingerprint`, `prompt_filter_results`, …).
pub(in crate::dialect) struct Stream {
    answer: Answer,
    state: State,
    /// Whether the response's beginning was told, with the model's name.
    has_begun: bool,
    form: Option<Form>,
    usage: Option<Usage>,
    left_out: LeftOut,
    wants_logprobs: bool,
}

/// Where an answer is.
enum State {
    Speaking,
    Finished(Finish),
}

/// How a choice holds what is said: in pieces, or whole.
///
/// The form that speaks first is the one that is heard. Some servers stream `message`s in place of
/// deltas; others repeat all that their deltas said in a last `message`.
#[derive(Clone, Copy, PartialEq)]
enum Form {
    Delta,
    Message,
}

impl Form {
    fn key(self) -> &'static str {
        match self {
            Self::Delta => "delta",
            Self::Message => "message",
        }
    }
}

impl Stream {
    /// A decoder of the answer to a request of which this is known.
    pub(in crate::dialect) fn new(asked: Asked) -> Self {
        Self {
            wants_logprobs: asked.wants_logprobs,
            answer: Answer::new(asked),
            state: State::Speaking,
            has_begun: false,
            form: None,
            usage: None,
            left_out: LeftOut::default(),
        }
    }

    fn hear_chunk(&mut self, chunk: &Object<'_>, assembler: &mut Assembler) {
        self.begin(chunk, assembler);
        self.usage = usage::reported(chunk.present("usage")).or(self.usage);
        if let Some(choice) = self.first_choice(chunk, assembler) {
            self.hear_choice(&choice, assembler);
        }
        if let Some(failure) = failure::reported(chunk) {
            self.fail(&failure, assembler);
        }
    }

    /// Tells of the beginning with the first chunk that names a model. Azure's first does not.
    fn begin(&mut self, chunk: &Object<'_>, assembler: &mut Assembler) {
        if self.has_begun || chunk.string("model").is_none_or(|model| model.is_empty()) {
            return;
        }
        self.has_begun = true;
        let is_text = |raw: &&str| raw.starts_with('"') && *raw != r#""""#;
        let told = ["model", "service_tier"].into_iter();
        let told = told.filter_map(|key| Some((key, chunk.get(key).filter(is_text)?)));
        assembler.begin(&told.collect());
    }

    fn first_choice<'a>(
        &mut self,
        chunk: &'a Object<'_>,
        assembler: &mut Assembler,
    ) -> Option<Object<'a>> {
        let mut first = None;
        for choice in objects(chunk.get("choices")?) {
            if choice.present("index").is_none_or(|index| index.trim_matches('"') == "0") {
                first = first.or(Some(choice));
            } else {
                self.left_out.note("choices beyond the first", "", assembler);
            }
        }
        first
    }

    fn hear_choice(&mut self, choice: &Object<'_>, assembler: &mut Assembler) {
        if let Some(logprobs) = choice.object("logprobs") {
            self.hear_logprobs(&logprobs, assembler);
        }
        for form in [Form::Delta, Form::Message] {
            self.hear_form(form, choice, assembler);
        }
        self.usage = usage::reported(choice.present("usage")).or(self.usage);
        if let Some(finish) = choice.string("finish_reason").and_then(|it| Finish::of(&it)) {
            self.state = State::Finished(finish);
        }
        if let Some(failure) = failure::reported(choice) {
            self.fail(&failure, assembler);
        }
    }

    /// Servers that were not asked for any send the lists as null, or empty.
    fn hear_logprobs(&mut self, logprobs: &Object<'_>, assembler: &mut Assembler) {
        let is_there = |key: &str| logprobs.present(key).is_some_and(|list| list != "[]");
        let is_heard = self.wants_logprobs && is_there("content");
        if is_heard {
            self.answer.hear_logprobs(logprobs);
        }
        if is_there("refusal") || is_there("content") && !is_heard {
            self.left_out.note("logprobs", "", assembler);
        }
    }

    fn hear_form(&mut self, form: Form, choice: &Object<'_>, assembler: &mut Assembler) {
        let said = choice.object(form.key());
        let Some(said) = said.filter(|_| self.form.is_none_or(|heard| heard == form)) else {
            return;
        };
        self.answer.hear(&said, &mut self.left_out, assembler);
        if self.answer.has_spoken() {
            self.form = Some(form);
        }
    }

    /// The response ends as its `finish_reason` said. Nothing happens where none was heard.
    fn end_finished(&mut self, assembler: &mut Assembler) {
        match &self.state {
            State::Speaking => {}
            State::Finished(Finish::Completed) => self.end(Status::Completed, None, assembler),
            State::Finished(Finish::Incomplete(reason)) => {
                let details = format!(r#"{{"reason":"{reason}"}}"#);
                self.end(Status::Incomplete, Some(("incomplete_details", &details)), assembler);
            }
            State::Finished(Finish::Unstated) => {
                assembler.note_missing_finish_reason();
                self.end(Status::Incomplete, None, assembler);
            }
            State::Finished(Finish::Failed(reason)) => {
                let sentence = format!("The upstream ended its answer with '{reason}'.");
                self.fail(&Failure::server_error(sentence), assembler);
            }
        }
    }

    /// The response ends as its `finish_reason` said, or as `unstated` where none was heard and
    /// something was said.
    fn end_spoken(&mut self, unstated: Finish, assembler: &mut Assembler) {
        if assembler.has_ended() {
            return;
        }
        if self.answer.has_spoken() && matches!(self.state, State::Speaking) {
            self.state = State::Finished(unstated);
        }
        self.end_finished(assembler);
    }

    fn fail(&mut self, failure: &Failure, assembler: &mut Assembler) {
        let (code, message) = (quote(&failure.code), quote(&failure.message));
        let error = format!(r#"{{"code":{code},"message":{message}}}"#);
        self.end(Status::Failed, Some(("error", &error)), assembler);
    }

    fn end(&mut self, status: Status, reason: Option<(&str, &str)>, assembler: &mut Assembler) {
        self.answer.end(status, &mut self.left_out, assembler);
        let usage = self.usage.map(Usage::to_json);
        let usage = usage.as_deref().map(|usage| ("usage", usage));
        assembler.end_response(status, &reason.into_iter().chain(usage).collect());
    }
}

impl Decode for Stream {
    fn decode(&mut self, data: &Bytes, assembler: &mut Assembler) -> Result<(), serde_json::Error> {
        let chunk = Object::parse(data)?;
        self.hear_chunk(&chunk, assembler);
        Ok(())
    }

    fn decode_whole(
        &mut self,
        body: &Bytes,
        assembler: &mut Assembler,
    ) -> Result<(), serde_json::Error> {
        let completion = Object::parse(body)?;
        self.hear_chunk(&completion, assembler);
        self.end_spoken(Finish::Completed, assembler);
        if !assembler.has_ended() {
            let failure = Failure::server_error("The upstream's answer says nothing.");
            self.fail(&failure, assembler);
        }
        Ok(())
    }

    fn done(&mut self, assembler: &mut Assembler) {
        self.end_spoken(Finish::Unstated, assembler);
    }

    fn finish(&mut self, assembler: &mut Assembler) {
        self.end_finished(assembler);
    }
}
