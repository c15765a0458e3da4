//! The URL of a running gateway, as the option `--url` has it.

use http::Uri;

/// Whether a gateway can have this URL. A URL with a user name or a password is rejected.
pub(crate) fn is_gateway_url(uri: &Uri) -> bool {
    let is_plain = uri.authority().is_some_and(|authority| !authority.as_str().contains('@'));
    matches!(uri.scheme_str(), Some("http" | "https")) && is_plain
}
