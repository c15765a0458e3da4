//! Paths below `/v1` that are none of the gateway's own.

use percent_encoding::percent_decode_str;

/// What the gateway owns, by the first segment. It never passes to an upstream, however it is written.
const OWN: [&str; 3] = ["responses", "conversations", "models"];

/// A path behind `/v1` that may be put behind an upstream's base URL: it means the same to every
/// server, since nothing in it can be resolved, decoded twice or joined to another path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ForeignPath<'a>(&'a str);

impl<'a> ForeignPath<'a> {
    /// The path that is written so, from the slash behind `/v1` on; `None` where it is the gateway's own,
    /// or has a segment that is empty, is a dot or two, or holds, encoded or not, anything but visible
    /// ASCII characters that are no delimiters.
    pub(super) fn parse(path: &'a str) -> Option<Self> {
        let mut segments = path.strip_prefix('/')?.split('/');
        let is_foreign = segments.clone().all(is_plain) && segments.next().is_some_and(is_name);
        is_foreign.then_some(Self(path))
    }

    /// The text, with its first slash.
    pub(super) fn as_str(self) -> &'a str {
        self.0
    }

    /// Whether it is one of Anthropic's API and no other.
    pub(super) fn is_anthropics(self) -> bool {
        self.0 == "/messages" || self.0.starts_with("/messages/")
    }
}

/// Names of the API's parts need no escapes: so written, one could be taken for one that is the
/// gateway's own by a server that decodes it.
fn is_name(segment: &str) -> bool {
    let is_own = OWN.iter().any(|own| own.eq_ignore_ascii_case(segment));
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
    !is_own && segment.bytes().all(is_plain)
}

fn is_plain(segment: &str) -> bool {
    let Ok(text) = percent_decode_str(segment).decode_utf8() else { return false };
    let is_plain = |byte: u8| byte.is_ascii_graphic() && !br"/\%;?#".contains(&byte);
    !text.is_empty() && text != "." && text != ".." && text.bytes().all(is_plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_api_has_is_a_path() {
        for path in [
            "/embeddings",
            "/chat/completions",
            "/messages/count_tokens",
            "/files/file-abc_1.2~x/content",
            "/fine_tuning/jobs/ft:gpt-6:acme::7p/cancel",
            "/models2",
            "/vector_stores/vs_1/files/a%40b",
        ] {
            assert_eq!(ForeignPath::parse(path).map(ForeignPath::as_str), Some(path));
        }
    }

    #[test]
    fn what_the_gateway_owns_is_none_however_it_is_written() {
        for path in [
            "/responses",
            "/responses/resp_x/nothing",
            "/Responses",
            "/%72esponses",
            "/responses%2Fresp_x",
            "/conversations/conv_x/nothing",
            "/models/x",
            "/MODELS",
        ] {
            assert_eq!(ForeignPath::parse(path), None, "{path}");
        }
    }

    #[test]
    fn what_a_server_may_understand_otherwise_is_none() {
        for path in [
            "",
            "/",
            "files",
            "//files",
            "/files/",
            "/files//x",
            "/./files",
            "/files/../responses",
            "/files/%2e%2e/responses",
            "/files/.%2E/responses",
            "/files/%252e%252e/responses",
            "/files/..%2fresponses",
            "/files/..%5cresponses",
            "/files/..\\responses",
            "/files/..;/responses",
            "/files/%c0%ae%c0%ae/responses",
            "/files/%ef%bc%8e%ef%bc%8e/responses",
            "/files/a%00",
            "/files/a%0d%0ax",
            "/files/a%3Fb",
            "/files/a%23b",
            "/files/%zz",
            "/files/a b",
        ] {
            assert_eq!(ForeignPath::parse(path), None, "{path}");
        }
    }
}
