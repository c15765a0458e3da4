//! What it takes to begin a background response anew.

use antiphon_store::{RequestDigest, Tenant};
use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::caller::Caller;
use crate::entropy::unix_now;
use crate::error::ApiError;
use crate::request::{Again, CreateRequest, Identity};
use crate::request_id::RequestId;
use crate::settings::Limits;

/// The request as it came, beside what else the turn was begun with. A caller's token is not among
/// it: that is never kept.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Work {
    /// When the response was created, in Unix seconds.
    pub(crate) created_at: i64,
    /// Whether the upstream was to be shown the caller's own token.
    pub(crate) needs_token: bool,
    /// The id of the request that created it; `None` where a release wrote this that had no ids.
    #[serde(default)]
    request_id: Option<String>,
    /// Headers of the provider's that go upstream as they came.
    headers: Vec<(String, String)>,
    body: Box<RawValue>,
}

impl Work {
    /// What it takes to begin this request anew.
    pub(crate) fn of(
        caller: &Caller,
        body: &Bytes,
        created_at: i64,
        needs_token: bool,
    ) -> Result<Bytes, ApiError> {
        let text = String::from_utf8(body.to_vec()).map_err(|_| ApiError::not_json())?;
        let body = RawValue::from_string(text).map_err(|_| ApiError::not_json())?;
        let headers = caller.headers.iter().filter_map(|(name, value)| {
            Some((name.as_str().to_owned(), value.to_str().ok()?.to_owned()))
        });
        let request_id = Some(caller.request_id.to_string());
        let headers = headers.collect();
        let work = Self { created_at, needs_token, request_id, headers, body };
        Ok(serde_json::to_vec(&work).expect("it is plain data").into())
    }

    /// Reads what [`Work::of`] wrote.
    pub(crate) fn read(bytes: &Bytes) -> Option<Self> {
        serde_json::from_slice(bytes).ok()
    }

    /// In the place of what cannot be read: its request is none.
    pub(crate) fn unknown() -> Self {
        let body = RawValue::from_string("null".to_owned()).expect("it is JSON");
        Self {
            created_at: unix_now(),
            needs_token: false,
            request_id: None,
            headers: Vec::new(),
            body,
        }
    }

    /// Who asked, without a token.
    pub(crate) fn caller(&self, tenant: &Tenant) -> Caller {
        let header = |(name, value): &(String, String)| {
            Some((HeaderName::try_from(name).ok()?, HeaderValue::try_from(value).ok()?))
        };
        let headers: HeaderMap = self.headers.iter().filter_map(header).collect();
        let request_id = self.request_id.as_deref().and_then(RequestId::parse);
        let request_id = request_id.unwrap_or_else(RequestId::issue);
        Caller { tenant: tenant.clone(), token: None, request_id, headers }
    }

    /// What was asked for. It was let in when it came, so that no limit holds it up now.
    pub(crate) fn request(&self, digest: RequestDigest) -> Result<CreateRequest, ApiError> {
        let limits =
            Limits { max_items: usize::MAX, max_item_bytes: usize::MAX, ..Limits::default() };
        let identity = Identity { digest, again: Again::No };
        CreateRequest::parse(&Bytes::from(self.body.get().to_owned()), identity, &limits)
    }
}
