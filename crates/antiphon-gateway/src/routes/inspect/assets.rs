//! The static files of the inspector, and the policy that a browser applies to them.

use std::sync::Arc;

use axum::extract::State;
use axum::response::{IntoResponse as _, Redirect, Response};
use http::{HeaderMap, HeaderValue, StatusCode, header};

use super::super::extract::Path;
use crate::gateway::Gateway;

/// A file below `/inspect/assets/`: its name, type and content.
type Asset = (&'static str, &'static str, &'static [u8]);

const SCRIPT: &str = "text/javascript; charset=utf-8";

macro_rules! asset {
    ($name:literal, $media_type:expr) => {
        ($name, $media_type, include_bytes!(concat!("assets/", $name)))
    };
}

const PAGE: &[u8] = include_bytes!("assets/index.html");

const ASSETS: &[Asset] = &[
    asset!("style.css", "text/css; charset=utf-8"),
    asset!("icon.svg", "image/svg+xml"),
    asset!("app.js", SCRIPT),
    asset!("server.js", SCRIPT),
    asset!("format.js", SCRIPT),
    asset!("list.js", SCRIPT),
    asset!("conversation.js", SCRIPT),
    asset!("card.js", SCRIPT),
    asset!("context.js", SCRIPT),
    asset!("fault.js", SCRIPT),
    asset!("acts.js", SCRIPT),
    asset!("answers.js", SCRIPT),
    asset!("playground.js", SCRIPT),
    // The libraries preact and htm, as the package `htm` of npm has them in one file.
    asset!("htm-preact.js", SCRIPT),
];

/// The maximum length of a host name and port in the policy.
const MAX_HOST: usize = 262;

/// `GET /inspect`
pub(super) async fn redirect() -> Redirect {
    Redirect::permanent("/inspect/")
}

/// `GET /inspect/`: the page. It shows the view that the fragment of its address names.
pub(super) async fn page(State(gateway): State<Arc<Gateway>>, headers: HeaderMap) -> Response {
    let policy = policy(&headers, gateway.settings.inspect.allows_writes);
    let mut response = answer("text/html; charset=utf-8", PAGE);
    response.headers_mut().insert(header::CONTENT_SECURITY_POLICY, policy);
    response
}

/// `GET /inspect/assets/{file}`
pub(super) async fn file(Path(name): Path<String>) -> Response {
    match ASSETS.iter().find(|(known, ..)| *known == name) {
        Some((_, media_type, content)) => answer(media_type, content),
        None => StatusCode::NOT_FOUND.into_response(),
    }
}

fn answer(media_type: &'static str, content: &'static [u8]) -> Response {
    let head = [
        (header::CONTENT_TYPE, media_type),
        (header::CACHE_CONTROL, "no-cache"),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::REFERRER_POLICY, "no-referrer"),
    ];
    (head, content).into_response()
}

/// The content security policy of the page. Without writes, it may connect to the inspector's
/// routes only.
fn policy(headers: &HeaderMap, allows_writes: bool) -> HeaderValue {
    let own = match host(headers) {
        Some(host) if !allows_writes => format!("{host}/inspect/"),
        _ if allows_writes => "'self'".to_owned(),
        _ => "'none'".to_owned(),
    };
    let policy = format!(
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; \
         connect-src {own}; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    );
    HeaderValue::try_from(policy).expect("a host has only plain characters")
}

/// The host and port that the browser has asked; `None` if it has other characters than a host.
fn host(headers: &HeaderMap) -> Option<&str> {
    let host = headers.get(header::HOST)?.to_str().ok()?;
    let is_plain = |c: char| c.is_ascii_alphanumeric() || ".:-_[]".contains(c);
    (!host.is_empty() && host.len() <= MAX_HOST && host.chars().all(is_plain)).then_some(host)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_files_together_are_small() {
        let bytes: usize = ASSETS.iter().map(|(.., content)| content.len()).sum();
        assert!(bytes + PAGE.len() < 300_000, "{bytes}");
    }

    #[test]
    fn page_without_writes_reaches_only_the_inspector() {
        let mut headers = HeaderMap::new();
        headers.insert(header::HOST, HeaderValue::from_static("127.0.0.1:8484"));
        let policy_text = |writes| policy(&headers, writes).to_str().unwrap().to_owned();
        assert!(policy_text(false).contains("connect-src 127.0.0.1:8484/inspect/;"));
        assert!(policy_text(true).contains("connect-src 'self';"));
        headers.insert(header::HOST, HeaderValue::from_static("a; script-src *"));
        let hostile = policy(&headers, false);
        assert!(hostile.to_str().unwrap().contains("connect-src 'none';"));
    }
}
