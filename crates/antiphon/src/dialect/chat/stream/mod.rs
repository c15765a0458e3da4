//! Decodes the answer of a Chat Completions server.
//!
//! Sources: OpenAI's reference of the chat completion object and of its chunks; the documentation
//! of Azure, vLLM, SGLang, Ollama, llama.cpp, DeepSeek and OpenRouter, and bug reports about them.

mod answer;
mod call;
mod calls;
mod details;
mod ending;
mod fragment;
mod item_emitter;
mod message;
mod reasoning;

#[cfg(test)]
pub(super) mod tests;

use bytes::Bytes;

use self::answer::{Answer, LeftOut};
use self::ending::{Finish, parse_failure, parse_usage};
use crate::dialect::RequestContext;
use crate::dialect::stream_decoder::Decode;
use crate::dialect::usage::Usage;
use crate::json::{Object, objects, quote};
use crate::stream::{Assembler, Failure, Status};

/// The decoder of one answer.
///
/// ```text
///   Open ── finish_reason ──> Finished ── [DONE], or end of the stream ──> the response ends
///    │ └─── [DONE] after output ─────────────────────────────────────────> incomplete
///    │ └─── end of the stream ──> truncated
///    └───── error ───────────────────────────────────────────────────────> failed
/// ```
///
/// - `[DONE]` without a `finish_reason` means that the server has sent everything, but the answer
///   may lack its end: gateways also write it after an upstream that broke off. The response is
///   `incomplete`, without a reason, and the item with the last output is unfinished.
/// - The response does not end with its `finish_reason`, because the chunk with the usage follows.
/// - Only the first of several choices is decoded. Unknown fields are left out, and each kind is
///   noted once. `logprobs` that the client did not request, and those of refusals, are left out:
///   the events carry an empty list.
/// - The decoded fields of a chunk are `model`, `service_tier`, `choices`, `usage` and `error`.
///   Other fields describe the server (`system_fingerprint`, `prompt_filter_results`, …).
pub(in crate::dialect) struct Stream {
    answer: Answer,
    state: State,
    /// Whether the response has begun. It begins with the model's name.
    has_begun: bool,
    form: Option<Form>,
    usage: Option<Usage>,
    left_out: LeftOut,
    wants_logprobs: bool,
}

/// The state of an answer.
enum State {
    Open,
    Finished(Finish),
}

/// The form of a choice's output: deltas, or a message.
///
/// The first form with output is decoded, the other ignored. Some servers stream `message`s instead
/// of deltas; others repeat all deltas in a final `message`.
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
    /// A decoder of the answer to this request.
    pub(in crate::dialect) fn new(context: RequestContext) -> Self {
        Self {
            wants_logprobs: context.wants_logprobs,
            answer: Answer::new(context),
            state: State::Open,
            has_begun: false,
            form: None,
            usage: None,
            left_out: LeftOut::default(),
        }
    }

    fn apply_chunk(&mut self, chunk: &Object<'_>, assembler: &mut Assembler) {
        self.begin(chunk, assembler);
        self.usage = parse_usage(chunk.present("usage")).or(self.usage);
        if let Some(choice) = self.first_choice(chunk, assembler) {
            self.apply_choice(&choice, assembler);
        }
        if let Some(failure) = parse_failure(chunk) {
            self.fail(&failure, assembler);
        }
    }

    /// Begins the response with the first chunk that names a model. Azure's first chunk does not.
    fn begin(&mut self, chunk: &Object<'_>, assembler: &mut Assembler) {
        if self.has_begun || chunk.string("model").is_none_or(|model| model.is_empty()) {
            return;
        }
        self.has_begun = true;
        let is_text = |raw: &&str| raw.starts_with('"') && *raw != r#""""#;
        let known = ["model", "service_tier"].into_iter();
        let fields = known.filter_map(|key| Some((key, chunk.get(key).filter(is_text)?)));
        assembler.begin(&fields.collect());
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

    fn apply_choice(&mut self, choice: &Object<'_>, assembler: &mut Assembler) {
        if let Some(logprobs) = choice.object("logprobs") {
            self.apply_logprobs(&logprobs, assembler);
        }
        for form in [Form::Delta, Form::Message] {
            self.apply_form(form, choice, assembler);
        }
        self.usage = parse_usage(choice.present("usage")).or(self.usage);
        if let Some(finish) = choice.string("finish_reason").and_then(|it| Finish::parse(&it)) {
            self.state = State::Finished(finish);
        }
        if let Some(failure) = parse_failure(choice) {
            self.fail(&failure, assembler);
        }
    }

    /// Adds log probabilities. Servers without any send the lists as null or empty.
    fn apply_logprobs(&mut self, logprobs: &Object<'_>, assembler: &mut Assembler) {
        let is_there = |key: &str| logprobs.present(key).is_some_and(|list| list != "[]");
        let is_decoded = self.wants_logprobs && is_there("content");
        if is_decoded {
            self.answer.apply_logprobs(logprobs);
        }
        if is_there("refusal") || is_there("content") && !is_decoded {
            self.left_out.note("logprobs", "", assembler);
        }
    }

    fn apply_form(&mut self, form: Form, choice: &Object<'_>, assembler: &mut Assembler) {
        let delta = choice.object(form.key());
        let Some(delta) = delta.filter(|_| self.form.is_none_or(|decoded| decoded == form)) else {
            return;
        };
        self.answer.apply(&delta, &mut self.left_out, assembler);
        if self.answer.has_output() {
            self.form = Some(form);
        }
    }

    /// Ends the response by its `finish_reason`; does nothing without one.
    fn end_finished(&mut self, assembler: &mut Assembler) {
        match &self.state {
            State::Open => {}
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

    /// Ends the response by its `finish_reason`, or with `unstated` if there is output but no
    /// reason.
    fn end_spoken(&mut self, unstated: Finish, assembler: &mut Assembler) {
        if assembler.has_ended() {
            return;
        }
        if self.answer.has_output() && matches!(self.state, State::Open) {
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
        self.apply_chunk(&chunk, assembler);
        Ok(())
    }

    fn decode_whole(
        &mut self,
        body: &Bytes,
        assembler: &mut Assembler,
    ) -> Result<(), serde_json::Error> {
        let completion = Object::parse(body)?;
        self.apply_chunk(&completion, assembler);
        self.end_spoken(Finish::Completed, assembler);
        if !assembler.has_ended() {
            let failure = Failure::server_error("The upstream's answer has no output.");
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
