//! Paths below `/v1` that the gateway does not own.

use percent_encoding::percent_decode_str;

/// The first segments of the gateway's own paths. Such a path never passes to an upstream, in any
/// spelling.
const OWN: [&str; 3] = ["responses", "conversations", "models"];

/// A path after `/v1` that can safely follow an upstream's base URL. It has the same meaning for
/// every server: nothing in it can be resolved, decoded twice or joined to another path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ForeignPath<'a>(&'a str);

impl<'a> ForeignPath<'a> {
    /// Parses a path that starts with the slash after `/v1`. Returns `None` in these cases:
    ///
    /// - The path is one of the gateway's own.
    /// - A segment is empty, `.` or `..`.
    /// - A segment contains, encoded or not, a delimiter or anything except visible ASCII
    ///   characters.
    pub(crate) fn parse(path: &'a str) -> Option<Self> {
        let mut segments = path.strip_prefix('/')?.split('/');
        let is_foreign = segments.clone().all(is_plain) && segments.next().is_some_and(is_name);
        is_foreign.then_some(Self(path))
    }

    /// The text, with its first slash.
    pub(crate) fn as_str(self) -> &'a str {
        self.0
    }

    /// Whether the path belongs only to Anthropic's API.
    pub(crate) fn is_anthropics(self) -> bool {
        self.0 == "/messages" || self.0.starts_with("/messages/")
    }
}

/// Whether a request with this path may pass to an upstream.
pub(crate) fn passes_upstream(path: &str) -> bool {
    path.strip_prefix("/v1").and_then(ForeignPath::parse).is_some()
}

/// Whether the first segment of a path after `/v1` is one of the gateway's own.
pub(crate) fn is_own(segment: &str) -> bool {
    OWN.contains(&segment)
}

/// Whether the first segment is a plain name that the gateway does not own. Escapes are rejected: a
/// server that decodes them could read the name of one of the gateway's own routes.
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
    fn paths_of_the_api_pass() {
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
    fn own_paths_never_pass_in_any_spelling() {
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
    fn ambiguous_paths_never_pass() {
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
