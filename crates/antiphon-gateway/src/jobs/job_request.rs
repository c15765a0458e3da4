//! The data for restarting a background response.

use antiphon_store::{RequestDigest, Tenant};
use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::caller::Caller;
use crate::entropy::unix_now;
use crate::error::ApiError;
use crate::request::{CreateRequest, Identity, RetryEvidence};
use crate::request_id::RequestId;
use crate::settings::Limits;
use crate::span::TraceSpan;

/// The original request and the context of its turn. It never contains a caller's token, because
/// tokens are not stored.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct JobRequest {
    /// When the response was created, in Unix seconds.
    pub(crate) created_at: i64,
    /// Whether the upstream receives the caller's own token.
    pub(crate) needs_token: bool,
    /// The id of the request that created the response. `None` if an older release wrote this data.
    #[serde(default)]
    request_id: Option<String>,
    /// The provider's headers, forwarded unchanged.
    headers: Vec<(String, String)>,
    body: Box<RawValue>,
}

impl JobRequest {
    /// Serializes the data for restarting this request.
    pub(crate) fn encode(
        caller: &Caller,
        body: &Bytes,
        created_at: i64,
        needs_token: bool,
    ) -> Result<Bytes, ApiError> {
        let text = String::from_utf8(body.to_vec()).map_err(|_| ApiError::NotJson)?;
        let body = RawValue::from_string(text).map_err(|_| ApiError::NotJson)?;
        let headers = caller.headers.iter().filter_map(|(name, value)| {
            Some((name.as_str().to_owned(), value.to_str().ok()?.to_owned()))
        });
        let request_id = Some(caller.request_id.to_string());
        let headers = headers.collect();
        let work = Self { created_at, needs_token, request_id, headers, body };
        Ok(serde_json::to_vec(&work).expect("it is plain data").into())
    }

    /// Reads the output of [`JobRequest::encode`].
    pub(crate) fn read(bytes: &Bytes) -> Option<Self> {
        serde_json::from_slice(bytes).ok()
    }

    /// A placeholder for unreadable data, with an invalid request.
    pub(crate) fn unreadable() -> Self {
        let body = RawValue::from_string("null".to_owned()).expect("it is JSON");
        Self {
            created_at: unix_now(),
            needs_token: false,
            request_id: None,
            headers: Vec::new(),
            body,
        }
    }

    /// The caller, without a token.
    pub(crate) fn caller(&self, tenant: &Tenant) -> Caller {
        let header = |(name, value): &(String, String)| {
            Some((HeaderName::try_from(name).ok()?, HeaderValue::try_from(value).ok()?))
        };
        let headers: HeaderMap = self.headers.iter().filter_map(header).collect();
        let request_id = self.request_id.as_deref().and_then(RequestId::parse);
        let request_id = request_id.unwrap_or_else(RequestId::issue);
        Caller {
            tenant: tenant.clone(),
            token: None,
            request_id,
            headers,
            trace: TraceSpan::default(),
        }
    }

    /// Parses the request again. It was accepted when it arrived, so item limits do not apply.
    pub(crate) fn request(&self, digest: RequestDigest) -> Result<CreateRequest, ApiError> {
        let limits =
            Limits { max_items: usize::MAX, max_item_bytes: usize::MAX, ..Limits::default() };
        let identity = Identity { digest, evidence: RetryEvidence::None };
        CreateRequest::parse(&Bytes::from(self.body.get().to_owned()), identity, &limits)
    }
}
