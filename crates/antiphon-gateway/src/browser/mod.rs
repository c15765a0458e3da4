//! Protection from web pages.
//!
//! A browser lets any page send requests to this machine. If the gateway listens on loopback and
//! needs no key, only the browser's own headers distinguish such a page from a local program:
//!
//! - `Host` has a foreign name if a page has bound its own name to 127.0.0.1 (DNS rebinding). An IP
//!   address cannot be rebound. The port is ignored, because it may be forwarded.
//! - `Origin` names the page that sends the request.
//! - `Sec-Fetch-Site` marks requests of pages of another site, even if `Origin` is absent.
//! - `Content-Type`: without a preflight, a page can send text, forms and untyped bytes, but not
//!   JSON.
//!
//! Programs send only `Host` and `Content-Type`. Pages that the operator allows (`--allow-origin`)
//! are admitted, and their browsers get CORS headers.
//!
//! Sources: the Fetch standard, the Fetch Metadata and Private Network Access drafts.

mod cors;
mod guard;
mod host;

use http::{HeaderMap, HeaderValue, header};

pub(crate) use self::guard::{PageGuard, protect};
use crate::settings::{Origin, Settings};

/// The origin of the request's page, if the operator allows it.
pub(crate) fn allowed_origin<'a>(
    settings: &'a Settings,
    headers: &HeaderMap,
) -> Option<&'a Origin> {
    let origin = headers.get(header::ORIGIN)?;
    let is_it = |allowed: &&Origin| origin.as_bytes() == allowed.as_str().as_bytes();
    settings.allowed_origins.iter().find(is_it)
}

/// Whether the page comes from the host that receives the request.
pub(crate) fn is_same_origin(origin: &HeaderValue, headers: &HeaderMap) -> bool {
    let host = headers.get(header::HOST).and_then(|host| host.to_str().ok());
    let page = origin.to_str().ok().and_then(|origin| origin.split_once("://"));
    matches!((page, host), (Some((_, page)), Some(host)) if page.eq_ignore_ascii_case(host))
}
