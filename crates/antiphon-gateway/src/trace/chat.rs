//! The span of a model's answer, in OpenTelemetry's convention for inference.

use std::borrow::Cow;
use std::time::{Duration, Instant};

use antiphon::Item;
use antiphon::json::Object;
use antiphon::stream::Finished;
use http::Uri;
use opentelemetry::trace::{SpanBuilder, SpanKind};
use opentelemetry::{Array, KeyValue, Value};

use super::attempt::server_attributes;
use super::content;
use super::finish_reason::finish_reason;
use super::log_span::{MAX_TEXT, shortened};
use crate::request::{Continues, CreateRequest};
use crate::request_id::is_plain_id;
use crate::span::attribute::{
    CONVERSATION_COMPACTED, CONVERSATION_ID, ERROR_TYPE, INPUT_MESSAGES, ITEMS_OMITTED,
    OPERATION_NAME, OUTPUT_MESSAGES, OUTPUT_TYPE, PROVIDER_NAME, REQUEST_MAX_TOKENS, REQUEST_MODEL,
    REQUEST_PREVIOUS_RESPONSE, REQUEST_REASONING_LEVEL, REQUEST_STREAM, REQUEST_TEMPERATURE,
    REQUEST_TOP_P, RESPONSE_FINISH_REASONS, RESPONSE_ID, RESPONSE_MODEL,
    RESPONSE_TIME_TO_FIRST_CHUNK, SYSTEM_INSTRUCTIONS, UPSTREAM, USAGE_CACHE_READ,
    USAGE_CACHE_WRITE, USAGE_INPUT, USAGE_OUTPUT, USAGE_REASONING, WAIT_MS,
};
use crate::span::{TraceSpan, optional};

/// The span of an answer, from the first request to the upstream to the last byte of the answer.
/// Requests that are repeated belong to the same span.
#[derive(Default)]
pub(crate) struct ChatSpan {
    span: TraceSpan,
    /// The start, until the first bytes of a stream arrive.
    awaits_chunk_since: Option<Instant>,
}

/// The party that answers.
#[derive(Clone, Copy)]
pub(crate) struct Provider<'a> {
    /// Its name in the convention.
    pub(crate) name: &'static str,
    /// The name of the upstream in logs.
    pub(crate) upstream: &'a str,
    /// Its base URL; `None` for a model in this process.
    pub(crate) url: Option<&'a Uri>,
}

impl ChatSpan {
    /// Starts the span. `is_streamed`: whether the upstream is asked for a stream.
    pub(crate) fn start(
        parent: &TraceSpan,
        request: &CreateRequest,
        provider: Provider<'_>,
        is_streamed: bool,
    ) -> Self {
        let span = parent.child(|| {
            let kind = if provider.url.is_some() { SpanKind::Client } else { SpanKind::Internal };
            let attributes = provider_attributes(provider);
            let attributes = attributes.chain(request_attributes(request, is_streamed));
            SpanBuilder::from_name(format!("chat {}", shortened(&request.model, MAX_TEXT)))
                .with_kind(kind)
                .with_attributes(attributes)
        });
        let awaits_chunk_since = (is_streamed && span.is_recording()).then(Instant::now);
        Self { span, awaits_chunk_since }
    }

    /// The span, as the parent of requests.
    pub(crate) fn span(&self) -> &TraceSpan {
        &self.span
    }

    /// Records that the input of the model is a compacted view of the conversation.
    pub(crate) fn record_compaction(&self) {
        self.span.set(CONVERSATION_COMPACTED, true);
    }

    /// Records the input of the model, if the operator has asked for it.
    pub(crate) fn record_input(&self, request: &CreateRequest, view: &[Item]) {
        if !self.span.has_content() {
            return;
        }
        let messages = content::input_messages(view);
        self.span.record(|| {
            let instructions = content::system_instructions(&request.object());
            let omitted = (messages.omitted > 0).then_some(messages.omitted);
            let messages = KeyValue::new(INPUT_MESSAGES, messages.json);
            let instructions = optional(SYSTEM_INSTRUCTIONS, instructions);
            [Some(messages), instructions, optional(ITEMS_OMITTED, omitted)].into_iter().flatten()
        });
    }

    /// Records that the request is repeated after `wait` because of this class of error.
    pub(crate) fn record_retry(&self, error_type: &str, wait: Duration) {
        if self.span.is_recording() {
            let wait = i64::try_from(wait.as_millis()).unwrap_or(i64::MAX);
            let error_type = KeyValue::new(ERROR_TYPE, error_type.to_owned());
            self.span.add_event("retry", vec![error_type, KeyValue::new(WAIT_MS, wait)]);
        }
    }

    /// Records that bytes of the answer have arrived. Only the first call counts.
    pub(crate) fn record_chunk(&mut self) {
        if let Some(start) = self.awaits_chunk_since.take() {
            self.span.set(RESPONSE_TIME_TO_FIRST_CHUNK, start.elapsed().as_secs_f64());
        }
    }

    /// Ends the span now. The answer can still be recorded.
    pub(crate) fn stop(&self) {
        self.span.stop();
    }

    /// Whether the span is recorded as failed.
    pub(crate) fn has_failed(&self) -> bool {
        self.span.has_failed()
    }

    /// Records that there is no answer because of this class of error.
    pub(crate) fn fail(&self, error_type: &str) {
        self.span.fail(error_type);
    }

    /// Records the answer. `failure` is the class of its error, if it failed.
    pub(crate) fn record_answer(&self, finished: &Finished, failure: Option<&str>) {
        if !self.span.is_recording() {
            return;
        }
        self.stop();
        let response = Object::parse_str(&finished.envelope).unwrap_or_default();
        let reason = finish_reason(finished, &response);
        self.span.record(|| answer_attributes(&response, reason));
        if self.span.has_content() {
            self.span.set(OUTPUT_MESSAGES, content::output_messages(&finished.output, reason));
        }
        if let Some(failure) = failure {
            self.span.fail(failure);
        }
    }
}

fn provider_attributes(provider: Provider<'_>) -> impl Iterator<Item = KeyValue> {
    let known = [
        KeyValue::new(OPERATION_NAME, "chat"),
        KeyValue::new(PROVIDER_NAME, provider.name),
        KeyValue::new(UPSTREAM, provider.upstream.to_owned()),
    ];
    known.into_iter().chain(provider.url.into_iter().flat_map(server_attributes))
}

fn request_attributes(request: &CreateRequest, is_streamed: bool) -> Vec<KeyValue> {
    let fields = request.object();
    let number = |key| fields.present(key).and_then(|text| text.parse::<f64>().ok());
    let limit = fields.present("max_output_tokens").and_then(|text| text.parse::<i64>().ok());
    let (conversation, previous) = match &request.continues {
        Continues::Conversation(id) => (plain(id), None),
        Continues::Response(id) => (None, plain(id)),
        Continues::Nothing => (None, None),
    };
    let model = shortened(&request.model, MAX_TEXT).to_owned();
    let attributes = [
        Some(KeyValue::new(REQUEST_MODEL, model)),
        is_streamed.then(|| KeyValue::new(REQUEST_STREAM, true)),
        optional(REQUEST_MAX_TOKENS, limit),
        optional(REQUEST_TEMPERATURE, number("temperature")),
        optional(REQUEST_TOP_P, number("top_p")),
        optional(REQUEST_REASONING_LEVEL, field_of(&fields, "reasoning", "effort")),
        optional(OUTPUT_TYPE, output_type(&fields)),
        optional(CONVERSATION_ID, conversation),
        optional(REQUEST_PREVIOUS_RESPONSE, previous),
    ];
    attributes.into_iter().flatten().collect()
}

fn answer_attributes(response: &Object<'_>, reason: &'static str) -> Vec<KeyValue> {
    let usage = Object::parse_str(response.present("usage").unwrap_or("{}")).unwrap_or_default();
    let number = |key| usage.present(key).and_then(|text| text.parse::<i64>().ok());
    let detail = |details: &str, key: &str| {
        let details = Object::parse_str(usage.present(details)?).ok()?;
        details.present(key)?.parse::<i64>().ok().filter(|tokens| *tokens > 0)
    };
    let text = |key| response.string(key).map(|text| shortened(&text, MAX_TEXT).to_owned());
    let reasons = Value::Array(Array::String(vec![reason.into()]));
    let attributes = [
        Some(KeyValue::new(RESPONSE_FINISH_REASONS, reasons)),
        optional(RESPONSE_ID, text("id")),
        optional(RESPONSE_MODEL, text("model")),
        optional(USAGE_INPUT, number("input_tokens")),
        optional(USAGE_OUTPUT, number("output_tokens")),
        optional(USAGE_CACHE_READ, detail("input_tokens_details", "cached_tokens")),
        optional(USAGE_CACHE_WRITE, detail("input_tokens_details", "cache_write_tokens")),
        optional(USAGE_REASONING, detail("output_tokens_details", "reasoning_tokens")),
    ];
    attributes.into_iter().flatten().collect()
}

fn plain(id: &str) -> Option<String> {
    is_plain_id(id).then(|| id.to_owned())
}

/// A text in an object of the request. Only plain words pass, because callers choose the text.
fn field_of(fields: &Object<'_>, object: &str, key: &str) -> Option<String> {
    let object = Object::parse_str(fields.present(object)?).ok()?;
    object.string(key).filter(|text| is_plain_id(text)).map(Cow::into_owned)
}

/// `json` if the request asks for JSON. Text is the default, so it is not named.
fn output_type(fields: &Object<'_>) -> Option<&'static str> {
    let text = Object::parse_str(fields.present("text")?).ok()?;
    let format = Object::parse_str(text.present("format")?).ok()?;
    let kind = format.string("type")?;
    matches!(&*kind, "json_schema" | "json_object").then_some("json")
}
