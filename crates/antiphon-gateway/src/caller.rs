//! Who is calling, once that is known.

use antiphon_store::Tenant;
use http::HeaderMap;

use crate::request_id::RequestId;
use crate::settings::Secret;

/// A caller: whose data it may see, and what it shows an upstream.
#[derive(Clone, Debug)]
pub(crate) struct Caller {
    /// The tenant.
    pub(crate) tenant: Tenant,
    /// The bearer token that it came with, where one goes upstream.
    pub(crate) token: Option<Secret>,
    /// The id of its request.
    pub(crate) request_id: RequestId,
    /// Headers of the provider's that go upstream as they came.
    pub(crate) headers: HeaderMap,
}
