//! Protection from web pages.
//!
//! A browser lets any page send requests to this machine. Where the gateway listens on loopback and no
//! key is needed, nothing but the browser's own headers distinguishes such a page from a local program:
//!
//! - `Host` has a name that is not this machine's where a page has bound its own name to 127.0.0.1 (DNS
//!   rebinding). An IP address cannot be rebound, and the port says nothing: it may be forwarded.
//! - `Origin` names the page that sends the request.
//! - `Sec-Fetch-Site` says whether a page of another site sends it, also where `Origin` is left out.
//! - `Content-Type`: without asking first, a page can send text, forms and untyped bytes, but no JSON.
//!
//! Programs send none of these but `Host` and `Content-Type`. Pages that the operator names
//! (`--allow-origin`) are let in, and their browsers are told so by CORS.
//!
//! Sources: the Fetch standard, the Fetch Metadata and Private Network Access drafts.

mod cors;
mod guard;
mod host;

use http::{HeaderMap, HeaderValue, header};

pub(crate) use self::guard::{Guard, foreign_page, protect};
use crate::settings::{Origin, Settings};

/// The page that a request is from, if the operator has named it.
pub(crate) fn allowed_origin<'a>(
    settings: &'a Settings,
    headers: &HeaderMap,
) -> Option<&'a Origin> {
    let origin = headers.get(header::ORIGIN)?;
    let is_it = |allowed: &&Origin| origin.as_bytes() == allowed.as_str().as_bytes();
    settings.allowed_origins.iter().find(is_it)
}

/// Whether a page is from the host that the request is sent to.
pub(crate) fn is_same_origin(origin: &HeaderValue, headers: &HeaderMap) -> bool {
    let host = headers.get(header::HOST).and_then(|host| host.to_str().ok());
    let page = origin.to_str().ok().and_then(|origin| origin.split_once("://"));
    matches!((page, host), (Some((_, page)), Some(host)) if page.eq_ignore_ascii_case(host))
}
