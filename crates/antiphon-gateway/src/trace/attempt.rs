//! The spans of requests to upstreams.

use http::{HeaderMap, Method, Uri};
use opentelemetry::KeyValue;
use opentelemetry::trace::{SpanBuilder, SpanKind};

use super::log_span::{MAX_REASON, shortened};
use crate::span::attribute::{
    HTTP_METHOD, HTTP_RESEND_COUNT, HTTP_STATUS, HTTP_UPSTREAM_REQUEST_ID, SERVER_ADDRESS,
    SERVER_PORT, UPSTREAM, URL_FULL,
};
use crate::span::{TraceSpan, count, optional};

/// The cause of a request to an upstream.
#[derive(Clone, Copy)]
pub(crate) struct SentBy<'a> {
    /// The span of the cause.
    pub(crate) span: &'a TraceSpan,
    /// How often the request was sent before.
    pub(crate) resend: u32,
}

impl<'a> SentBy<'a> {
    /// The first request that this span causes.
    pub(crate) fn first(span: &'a TraceSpan) -> Self {
        Self { span, resend: 0 }
    }
}

/// The span of one request to an upstream, from its first byte to the head of the answer.
pub(crate) struct AttemptSpan(TraceSpan);

impl AttemptSpan {
    /// Starts the span. `upstream` is the name of the upstream in logs, `url` and `path` are its
    /// base URL and the path below it.
    pub(crate) fn start(
        cause: SentBy<'_>,
        method: &Method,
        (upstream, url, path): (&str, &Uri, &str),
    ) -> Self {
        let span = cause.span.child(|| {
            let known = [
                KeyValue::new(HTTP_METHOD, method.to_string()),
                KeyValue::new(URL_FULL, full_url(url, path)),
                KeyValue::new(UPSTREAM, upstream.to_owned()),
            ];
            let resend = (cause.resend > 0).then(|| count(HTTP_RESEND_COUNT, cause.resend));
            let attributes = known.into_iter().chain(server_attributes(url)).chain(resend);
            SpanBuilder::from_name(format!("{method} {}", path_template(path)))
                .with_kind(SpanKind::Client)
                .with_attributes(attributes)
        });
        Self(span)
    }

    /// Replaces the context in the headers of the request, if the span is recorded.
    pub(crate) fn inject(&self, headers: &mut HeaderMap) {
        self.0.inject(headers);
    }

    /// Records the status of the answer, and the id that the upstream gave the request.
    pub(crate) fn record_answer(&self, status: http::StatusCode, request_id: Option<&str>) {
        self.0.record(|| {
            let id = request_id.map(str::to_owned);
            let status = KeyValue::new(HTTP_STATUS, i64::from(status.as_u16()));
            [Some(status), optional(HTTP_UPSTREAM_REQUEST_ID, id)].into_iter().flatten()
        });
        if status.is_client_error() || status.is_server_error() {
            self.0.fail(status.as_str());
        }
    }

    /// Records that the request failed with this class of error.
    pub(crate) fn fail(&self, error_type: &str) {
        self.0.fail(error_type);
    }
}

/// The host and the port of a server.
pub(super) fn server_attributes(url: &Uri) -> impl Iterator<Item = KeyValue> + use<> {
    let host = url.host().map(str::to_owned);
    let default = if url.scheme_str() == Some("https") { 443 } else { 80 };
    let port = host.is_some().then(|| i64::from(url.port_u16().unwrap_or(default)));
    [optional(SERVER_ADDRESS, host), optional(SERVER_PORT, port)].into_iter().flatten()
}

/// The URL of a request, without the name and the password that a base URL may have.
fn full_url(url: &Uri, path: &str) -> String {
    let authority = url.authority().map_or("", |authority| authority.as_str());
    let server = authority.rsplit_once('@').map_or(authority, |(_, server)| server);
    let base = url.path().trim_end_matches('/');
    let full = format!("{}://{server}{base}{path}", url.scheme_str().unwrap_or("http"));
    let end = full.find('?').unwrap_or(full.len());
    shortened(&full[..end], MAX_REASON).to_owned()
}

/// The path without ids, so that requests for one purpose have one name: a segment with a digit or
/// of more than 24 characters is an id.
fn path_template(path: &str) -> String {
    let path = path.split('?').next().unwrap_or_default();
    let is_id =
        |segment: &str| segment.len() > 24 || segment.contains(|it: char| it.is_ascii_digit());
    let segments = path.split('/').map(|segment| if is_id(segment) { "{id}" } else { segment });
    segments.collect::<Vec<_>>().join("/")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn url_has_no_password_and_no_query() {
        let url: Uri = "https://name:secret@host.example:8443/v1/".parse().unwrap();
        let full = full_url(&url, "/responses/resp_1?after=x");
        assert_eq!(full, "https://host.example:8443/v1/responses/resp_1");
    }

    #[test]
    fn names_of_spans_have_no_ids() {
        for (path, template) in [
            ("/responses", "/responses"),
            ("/responses/resp_68a1", "/responses/{id}"),
            ("/conversations/conv_1/items?limit=3", "/conversations/{id}/items"),
            ("/chat/completions", "/chat/completions"),
        ] {
            assert_eq!(path_template(path), template);
        }
    }

    #[test]
    fn port_follows_from_the_scheme() {
        let attributes = |url: &str| -> Vec<String> {
            let url: Uri = url.parse().unwrap();
            server_attributes(&url).map(|it| it.value.to_string()).collect()
        };
        assert_eq!(attributes("https://host.example/v1"), ["host.example", "443"]);
        assert_eq!(attributes("http://host.example/v1"), ["host.example", "80"]);
        assert_eq!(attributes("http://127.0.0.1:8080"), ["127.0.0.1", "8080"]);
    }
}
