//! Accounts that several tenants share.

use crate::gateway::Gateway;
use crate::upstream::HttpUpstream;

impl Gateway {
    /// Whether several tenants share one account with this upstream: it is shown a key of the operator's
    /// and cannot tell them apart.
    pub(crate) fn is_shared(&self, upstream: &HttpUpstream) -> bool {
        upstream.has_own_key() && !self.authenticator.has_one_tenant()
    }
}
