//! The key in the query of Gemini clients: `?key=…`.

use axum::extract::Request;
use http::{HeaderName, HeaderValue, Uri};
use percent_encoding::percent_decode_str;

/// The header with the key of Gemini clients.
const KEY: HeaderName = HeaderName::from_static("x-goog-api-key");

/// The paths of the Gemini API. OpenAI's models below `/v1` have no such parameter.
const ROOTS: [&str; 2] = ["/v1beta/", "/v1/models"];

/// Moves the key of a Gemini client from the query to the header, before anything reads or logs the
/// URI. A header that the client sends itself stays. Other requests stay unchanged.
pub(super) fn move_to_header(mut request: Request) -> Request {
    let path = request.uri().path();
    if !ROOTS.iter().any(|root| path.starts_with(root)) {
        return request;
    }
    if let Some((uri, key)) = without_key(request.uri()) {
        *request.uri_mut() = uri;
        if let Ok(mut value) = HeaderValue::try_from(key) {
            value.set_sensitive(true);
            request.headers_mut().entry(KEY).or_insert(value);
        }
    }
    request
}

/// The URI without the parameter, and the value of the parameter.
fn without_key(uri: &Uri) -> Option<(Uri, String)> {
    let (keys, others): (Vec<&str>, Vec<&str>) =
        uri.query()?.split('&').partition(|parameter| parameter.starts_with("key="));
    let key = keys.first()?.strip_prefix("key=")?;
    let key = percent_decode_str(key).decode_utf8_lossy().into_owned();
    let query = others.join("&");
    let target = match &*query {
        "" => uri.path().to_owned(),
        query => format!("{}?{query}", uri.path()),
    };
    Some((target.parse().ok()?, key))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn key_leaves_the_query() {
        for (given, expected, key) in [
            ("/v1beta/models?key=a%2Bb", "/v1beta/models", "a+b"),
            ("/v1beta/models?alt=sse&key=a&x=1", "/v1beta/models?alt=sse&x=1", "a"),
            ("/v1beta/models?key=a&key=b", "/v1beta/models", "a"),
        ] {
            let (uri, found) = without_key(&given.parse().unwrap()).unwrap();
            assert_eq!((uri.to_string().as_str(), found.as_str()), (expected, key));
        }
        assert_eq!(without_key(&"/v1beta/models?alt=sse".parse().unwrap()), None);
    }
}
