//! The HTTP client of the exporters.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use bytes::Bytes;
use http::{Request, Response};
use opentelemetry_http::{HttpClient, HttpError};
use tokio::runtime::Handle;

use crate::settings::{OtlpExporter, Retries, UpstreamSettings};
use crate::upstream::UpstreamClient;

/// The maximum size of the receiver's answer.
const MAX_ANSWER: usize = 64 << 10;

/// The maximum length of the reason for a failure, in characters.
const MAX_REASON: usize = 200;

/// Sends requests to a receiver, on the runtime of the gateway: the exporters have threads of their
/// own, which poll no sockets.
#[derive(Clone)]
pub(super) struct OtlpClient {
    client: Arc<UpstreamClient>,
    runtime: Handle,
    /// The reason for the latest failure. The exporter reports only that there was one.
    failure: Arc<Mutex<String>>,
}

impl OtlpClient {
    /// A client of this receiver. It never retries, because the exporter does.
    ///
    /// # Panics
    /// Outside of a runtime.
    pub(super) fn new(receiver: &OtlpExporter) -> Self {
        let settings = UpstreamSettings {
            connect_timeout: receiver.timeout,
            first_byte_timeout: receiver.timeout,
            idle_timeout: receiver.timeout,
            total_timeout: receiver.timeout,
            retries: Retries::none(),
            max_answer: MAX_ANSWER,
            ..UpstreamSettings::new(receiver.endpoint.clone(), None)
        };
        let client = Arc::new(UpstreamClient::new(settings));
        Self { client, runtime: Handle::current(), failure: Arc::default() }
    }

    /// The reason for the latest failure, as a clause.
    pub(super) fn failure(&self) -> String {
        self.failure.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn record_failure(&self, reason: &str) {
        let reason = reason.chars().take(MAX_REASON).collect();
        *self.failure.lock().unwrap_or_else(PoisonError::into_inner) = reason;
    }
}

#[async_trait]
impl HttpClient for OtlpClient {
    async fn send_bytes(&self, request: Request<Bytes>) -> Result<Response<Bytes>, HttpError> {
        let client = Arc::clone(&self.client);
        let sent = self.runtime.spawn(async move { client.send(request).await }).await;
        let answer = sent.unwrap_or_else(|_| Err("the gateway has stopped".to_owned()));
        match answer {
            Ok(answer) => {
                if !answer.status().is_success() {
                    self.record_failure(&format!("the server answered {}", answer.status()));
                }
                Ok(answer)
            }
            Err(reason) => {
                self.record_failure(&reason);
                Err(reason.into())
            }
        }
    }
}

/// Shows nothing: headers may be secret.
impl fmt::Debug for OtlpClient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("OtlpClient")
    }
}
