//! Requests to an upstream, with retries.

use std::time::Duration;

use antiphon::Item;
use antiphon::dialect::UpstreamApi;
use bytes::Bytes;
use http::Method;
use tokio::time::Instant;

use super::http::HttpUpstream;
use super::{AnswerForm, Reply, Upstream, UpstreamError};
use crate::caller::Caller;
use crate::chunks::Chunks;
use crate::entropy;
use crate::entropy::from_now;
use crate::request::CreateRequest;
use crate::retry::RetryPolicy;
use crate::span::{ErrorType as _, TraceSpan};
use crate::trace::{ChatSpan, SentBy};

/// Requests one answer from an upstream, and decides when to retry.
///
/// The request of a turn contains the whole context and stores nothing on the server, so a retry
/// does not change the server's state. Side effects of tools that the server runs itself are not
/// covered. The code that uses this type decides whether the client may still receive another
/// answer.
pub(crate) struct RetrySession<'a> {
    upstream: Upstream<'a>,
    /// The name of the model. The path of some APIs contains it.
    model: &'a str,
    /// The form of the answer that the requests ask for.
    form: AnswerForm,
    policy: RetryPolicy,
    /// The deadline of the answer, all attempts included.
    end: Instant,
    /// The number of retries so far.
    retries: u32,
    /// The number of times that the input was shortened.
    shortened: u32,
    /// The span of the answer, once a model is asked.
    chat: Option<ChatSpan>,
}

/// The maximum number of times that an input is shortened for a model that rejects it as too long.
const MAX_SHORTENED: u32 = 4;

impl<'a> RetrySession<'a> {
    /// Starts the time limit of the answer now. No request is sent yet.
    pub(crate) fn new(upstream: Upstream<'a>, model: &'a str) -> Self {
        Self { model, ..Self::with_deadline(from_now(upstream.retry_settings().1), upstream) }
    }

    /// Asks for an answer in this form.
    pub(crate) fn with_form(self, form: AnswerForm) -> Self {
        Self { form, ..self }
    }

    /// Requests to no model. The answer must be complete at `end`. No request is sent yet.
    fn with_deadline(end: Instant, upstream: Upstream<'a>) -> Self {
        let (retries, _) = upstream.retry_settings();
        let policy = RetryPolicy::from(&retries);
        let form = AnswerForm::Events;
        Self { upstream, model: "", form, policy, end, retries: 0, shortened: 0, chat: None }
    }

    /// Starts the span of the model's answer to a request with these items, unless it has started
    /// and not failed.
    pub(crate) fn begin_chat(
        &mut self,
        parent: &TraceSpan,
        request: &CreateRequest,
        view: &[Item],
    ) {
        let (provider, is_streamed) = (self.upstream.provider(), self.form == AnswerForm::Events);
        self.chat.take_if(|chat| chat.has_failed());
        self.chat.get_or_insert_with(|| {
            let chat = ChatSpan::start(parent, request, provider, is_streamed);
            chat.record_input(request, view);
            chat
        });
    }

    /// The span of the model's answer.
    pub(crate) fn chat(&mut self) -> &mut ChatSpan {
        self.chat.get_or_insert_default()
    }

    /// Ends the session. Returns the span of the answer, which the code that reads it completes.
    pub(crate) fn into_chat(self) -> ChatSpan {
        self.chat.unwrap_or_default()
    }

    /// Sends a `GET` or `DELETE` request about stored state, for an answer of one JSON object. Both
    /// are idempotent, so a retry is safe.
    pub(crate) async fn request_state(
        (http, caller): (&'a HttpUpstream, &Caller),
        (method, path): (Method, &str),
        end: Instant,
    ) -> Result<Bytes, UpstreamError> {
        let mut session = Self::with_deadline(end, Upstream::Http(http));
        session.call_with_retries(http, (method, path), Bytes::new(), caller).await
    }

    /// The form of the answer that the requests ask for.
    pub(crate) fn form(&self) -> AnswerForm {
        self.form
    }

    /// The upstream of these requests.
    pub(crate) fn upstream(&self) -> Upstream<'a> {
        self.upstream
    }

    /// Sends a request body.
    pub(crate) async fn send(
        &self,
        body: impl Into<Chunks>,
        caller: &Caller,
    ) -> Result<Reply, UpstreamError> {
        let by = (caller, self.cause(caller));
        let sending = self.upstream.send(self.model, (body.into(), self.form), by, self.end);
        sending.await.inspect_err(|error| self.upstream.count_error(error))
    }

    /// The cause of the next request: the answer of a model, or else the request of the caller.
    fn cause<'s>(&'s self, caller: &'s Caller) -> SentBy<'s> {
        let span = self.chat.as_ref().map_or(&caller.trace, ChatSpan::span);
        SentBy { span, resend: self.retries }
    }

    /// Posts JSON to another path of the API, such as `/responses/compact`, for an answer of one
    /// JSON object. Returns `None` if the upstream does not speak the Responses API, because it has
    /// no such paths.
    pub(crate) async fn call(
        &mut self,
        path: &str,
        body: Bytes,
        caller: &Caller,
    ) -> Option<Result<Bytes, UpstreamError>> {
        match self.upstream {
            Upstream::Http(http) if http.api() == UpstreamApi::Responses => {
                Some(self.post(http, path, body, caller).await)
            }
            _ => None,
        }
    }

    /// Posts JSON to a path of a server's API, with retries.
    pub(super) async fn post(
        &mut self,
        http: &HttpUpstream,
        path: &str,
        body: Bytes,
        caller: &Caller,
    ) -> Result<Bytes, UpstreamError> {
        self.call_with_retries(http, (Method::POST, path), body, caller).await
    }

    async fn call_with_retries(
        &mut self,
        http: &HttpUpstream,
        (method, path): (Method, &str),
        body: Bytes,
        caller: &Caller,
    ) -> Result<Bytes, UpstreamError> {
        loop {
            let by = (caller, self.cause(caller));
            match http.call((method.clone(), path), body.clone(), by, self.end).await {
                Err(error) if self.counted_backoff(&error).await => {}
                answer => return answer,
            }
        }
    }

    /// Counts a failed request, and waits before a retry.
    async fn counted_backoff(&mut self, error: &UpstreamError) -> bool {
        self.upstream.count_error(error);
        self.backoff(error).await
    }

    /// The number of the next attempt with a shorter input, from 0. `None` after the last permitted
    /// one.
    pub(crate) fn shorten(&mut self) -> Option<u32> {
        let attempt = self.shortened;
        self.shortened += 1;
        (attempt < MAX_SHORTENED).then_some(attempt)
    }

    /// Waits for the delay that this error requires before a retry. Returns `false` at once if
    /// there is no retry.
    pub(crate) async fn backoff(&mut self, error: &UpstreamError) -> bool {
        let Some(delay) = self.delay(error, entropy::unix_now(), entropy::random_byte()) else {
            return false;
        };
        self.retries += 1;
        self.upstream.count_retry();
        let (retry, wait_ms) = (self.retries, delay.as_millis());
        tracing::info!(retry, wait_ms, reason = %error, "the upstream is asked again");
        if let Some(chat) = &self.chat {
            chat.record_retry(&error.error_type(), delay);
        }
        tokio::time::sleep(delay).await;
        true
    }

    /// The number of retries so far.
    pub(crate) fn retries(&self) -> u32 {
        self.retries
    }

    /// The delay before the next retry. `None` if there is no retry.
    fn delay(&self, error: &UpstreamError, now: i64, random: u8) -> Option<Duration> {
        if !error.is_retryable() {
            return None;
        }
        let delay = self.policy.delay(self.retries, error.requested_delay(now), random)?;
        (from_now(delay) < self.end).then_some(delay)
    }
}
