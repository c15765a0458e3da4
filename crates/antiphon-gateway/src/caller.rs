//! An authenticated caller.

use antiphon_store::Tenant;
use http::HeaderMap;

use crate::request_id::RequestId;
use crate::settings::Secret;
use crate::span::TraceSpan;

/// A caller: its tenant, and its credentials for an upstream.
#[derive(Clone, Debug)]
pub(crate) struct Caller {
    /// The tenant.
    pub(crate) tenant: Tenant,
    /// Its bearer token, if an upstream receives it.
    pub(crate) token: Option<Secret>,
    /// The id of its request.
    pub(crate) request_id: RequestId,
    /// The provider's headers, forwarded unchanged, and the context of the request's trace.
    pub(crate) headers: HeaderMap,
    /// The span of its request.
    pub(crate) trace: TraceSpan,
}
