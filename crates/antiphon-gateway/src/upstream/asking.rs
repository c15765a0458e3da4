//! The requests that are made for one answer.

use std::time::Duration;

use antiphon::dialect::Dialect;
use bytes::Bytes;
use http::Method;
use tokio::time::Instant;

use super::http::HttpUpstream;
use super::{Reply, Upstream, UpstreamError};
use crate::bound::from_now;
use crate::caller::Caller;
use crate::chunks::Chunks;
use crate::entropy;
use crate::settings::Retries;

/// Asks an upstream for one answer, several times where that may help.
///
/// A turn's request says all that the model is to know and has the server keep nothing, so that it
/// changes nothing there however often it is made; what the server's own tools do elsewhere is beyond
/// that. Whether the caller may still be given another answer is not decided here.
pub(crate) struct Asking<'a> {
    upstream: Upstream<'a>,
    retries: Retries,
    /// When the answer has to be whole, whatever was tried before.
    end: Instant,
    /// How often it was asked again.
    made: u32,
    /// How often the input was made shorter.
    shortened: u32,
}

/// How often an input is made shorter at most, for a model that finds it too long.
const MAX_SHORTENED: u32 = 4;

impl<'a> Asking<'a> {
    /// Nothing was asked yet; the time of the answer begins.
    pub(crate) fn of(upstream: Upstream<'a>) -> Self {
        Self::until(from_now(upstream.patience().1), upstream)
    }

    /// Nothing was asked yet; the answer has to be whole at `end`.
    fn until(end: Instant, upstream: Upstream<'a>) -> Self {
        let (retries, _) = upstream.patience();
        Self { upstream, retries, end, made: 0, shortened: 0 }
    }

    /// One request to a server for what it keeps, `GET` or `DELETE`, for an answer of one JSON object. It
    /// changes no more when it is made again.
    pub(crate) async fn once(
        (http, caller): (&'a HttpUpstream, &Caller),
        (method, path): (Method, &str),
        end: Instant,
    ) -> Result<Bytes, UpstreamError> {
        let mut asking = Self::until(end, Upstream::Http(http));
        asking.call_at(http, (method, path), Bytes::new(), caller).await
    }

    /// Who is asked.
    pub(crate) fn upstream(&self) -> Upstream<'a> {
        self.upstream
    }

    /// Sends a request's body. The answer's events follow in the reply.
    pub(crate) async fn send(
        &self,
        body: impl Into<Chunks>,
        caller: &Caller,
    ) -> Result<Reply, UpstreamError> {
        self.upstream.send(body.into(), caller, self.end).await
    }

    /// Posts JSON to another of the API's paths, as `/responses/compact`, for an answer of one JSON
    /// object. `None` where the upstream does not speak the Responses API: it has no such paths.
    pub(crate) async fn call(
        &mut self,
        path: &str,
        body: Bytes,
        caller: &Caller,
    ) -> Option<Result<Bytes, UpstreamError>> {
        match self.upstream {
            Upstream::Http(http) if http.api() == Dialect::Responses => {
                Some(self.post(http, path, body, caller).await)
            }
            _ => None,
        }
    }

    /// Posts JSON to a path of a server's API, again where that may help.
    pub(super) async fn post(
        &mut self,
        http: &HttpUpstream,
        path: &str,
        body: Bytes,
        caller: &Caller,
    ) -> Result<Bytes, UpstreamError> {
        self.call_at(http, (Method::POST, path), body, caller).await
    }

    async fn call_at(
        &mut self,
        http: &HttpUpstream,
        (method, path): (Method, &str),
        body: Bytes,
        caller: &Caller,
    ) -> Result<Bytes, UpstreamError> {
        loop {
            match http.call(method.clone(), path, body.clone(), caller, self.end).await {
                Err(error) if self.may_ask_again(&error).await => {}
                answer => return answer,
            }
        }
    }

    /// The number of the next attempt with a shorter input, from 0; `None` where there were enough.
    pub(crate) fn shorten(&mut self) -> Option<u32> {
        let attempt = self.shortened;
        self.shortened += 1;
        (attempt < MAX_SHORTENED).then_some(attempt)
    }

    /// Waits as long as this error wants before the request is made again; `false`, at once, where
    /// it is not to be.
    pub(crate) async fn may_ask_again(&mut self, error: &UpstreamError) -> bool {
        let Some(wait) = self.wait(error, entropy::unix_now(), entropy::random_byte()) else {
            return false;
        };
        self.made += 1;
        let (retry, wait_ms) = (self.made, wait.as_millis());
        tracing::info!(retry, wait_ms, reason = %error, "the upstream is asked again");
        tokio::time::sleep(wait).await;
        true
    }

    /// How often it was asked again.
    pub(crate) fn retries(&self) -> u32 {
        self.made
    }

    /// How long to wait before the next request, if there is to be one.
    fn wait(&self, error: &UpstreamError, now: i64, random: u8) -> Option<Duration> {
        if self.made >= self.retries.max || !error.may_pass() {
            return None;
        }
        let wait = match error.told_wait(now) {
            Some(told) if told > self.retries.max_told_delay => return None,
            Some(told) => told,
            None => self.retries.delay(self.made, random),
        };
        (from_now(wait) < self.end).then_some(wait)
    }
}

impl Retries {
    /// The delay before the retry number `retry`, from 0: doubled each time, and up to a quarter
    /// less, so that callers who failed together do not come back together.
    fn delay(&self, retry: u32, random: u8) -> Duration {
        let doubled = self.first_delay.saturating_mul(2_u32.saturating_pow(retry));
        let delay = doubled.min(self.max_delay);
        delay.saturating_sub(delay / 4 * u32::from(random) / 255)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn delays_double_up_to_a_bound() {
        let retries = Retries::default();
        let delays: Vec<u128> = (0..7).map(|retry| retries.delay(retry, 0).as_millis()).collect();
        assert_eq!(delays, [500, 1000, 2000, 4000, 8000, 8000, 8000]);
    }

    #[test]
    fn chance_takes_a_quarter_at_most() {
        let retries = Retries::default();
        assert_eq!(retries.delay(0, 255), Duration::from_millis(375));
        assert_eq!(retries.delay(u32::MAX, 255), Duration::from_secs(6));
    }
}
