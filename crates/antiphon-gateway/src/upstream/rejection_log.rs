//! Logs the reason of a rejection by an upstream for the operator.
//!
//! A log must not contain text of an item, a key or a token, and an upstream may repeat any of them
//! in its error. The error text is logged only if it cannot come from the caller
//! ([`SentWords::may_log`]).

use std::collections::HashSet;

use antiphon::json::Object;
use bytes::Bytes;
use http::{HeaderMap, StatusCode};

use super::error::UpstreamError;
use super::words::{KNOWN_WORDS, normalized, words};
use crate::caller::Caller;
use crate::error::UpstreamRejection;
use crate::settings::Secret;
use crate::trace::shortened;

/// The maximum length of a message in a log line, in characters.
const MAX_MESSAGE: usize = 300;
/// The maximum length of a code or a parameter in a log line, in characters.
const MAX_NAME: usize = 100;
/// A message is not logged if it repeats this number of consecutive words of the request.
const RUN: usize = 3;

/// The words of a request.
pub(super) struct SentWords {
    /// All words in lower case, with a space between them.
    text: String,
    /// The words of the model's name, which the log contains anyway.
    model: HashSet<String>,
    /// Whether the request contains all words of the caller that the upstream has: the request does
    /// not continue a conversation or response that the upstream stores.
    is_complete: bool,
}

impl SentWords {
    /// Collects the words of the body, the credential and the headers that the caller set.
    pub(super) fn new(body: &[u8], credential: Option<&Secret>, headers: &HeaderMap) -> Self {
        let text = String::from_utf8_lossy(body);
        let fields = Object::parse_str(&text).unwrap_or_default();
        let model = fields.string("model").unwrap_or_default();
        let is_named = |key| fields.present(key).is_some();
        let is_complete = !is_named("conversation") && !is_named("previous_response_id");
        let sent = normalized(&text);
        let headers = headers.values().filter_map(|value| value.to_str().ok());
        let mut sent = Self { text: sent, model: words(&model).collect(), is_complete };
        credential.map(Secret::reveal).into_iter().chain(headers).for_each(|it| sent.add(it));
        sent
    }

    fn add(&mut self, text: &str) {
        self.text.push(' ');
        self.text.push_str(&normalized(text));
    }

    /// Whether a text of the upstream contains nothing from the caller.
    ///
    /// Each word must be a known word of providers' errors, a word of the model's name, or an ASCII
    /// word that does not occur in the request, not even inside a longer word. No three consecutive
    /// words may be consecutive in the request. If the upstream has more text of the caller than
    /// the request, words of the third kind are not permitted in a message.
    ///
    /// `is_protocol_text`: the text is a type, a code or the path of a field, not a message.
    fn may_log(&self, text: &str, is_protocol_text: bool) -> bool {
        let found: Vec<String> = words(text).collect();
        let is_known = |word: &String| {
            KNOWN_WORDS.binary_search(&word.as_str()).is_ok()
                || self.model.contains(word)
                || is_protocol_text && is_short_number(word)
        };
        let is_foreign = |word: &String| {
            (self.is_complete || is_protocol_text) && word.is_ascii() && !self.text.contains(word)
        };
        found.iter().all(|word| is_known(word) || is_foreign(word))
            && !found.windows(RUN).any(|run| self.is_sent(run))
    }

    /// Whether the request contains this sequence of words. The field and the name of the model are
    /// not counted.
    fn is_sent(&self, run: &[String]) -> bool {
        let is_model_word = |word: &String| word == "model" || self.model.contains(word);
        !run.iter().all(is_model_word) && self.text.contains(&run.join(" "))
    }
}

/// A position, as in `input[3].content[0]`.
fn is_short_number(word: &str) -> bool {
    word.len() <= 5 && word.bytes().all(|byte| byte.is_ascii_digit())
}

/// Logs the reason of a rejection. The span contains the upstream's name, the model, the
/// conversation and the tenant.
pub(super) fn log_rejection(
    error: &UpstreamError,
    body: &[u8],
    caller: &Caller,
    key: Option<&Secret>,
) {
    let UpstreamError::Rejected(rejection) = error else { return };
    let sent = SentWords::new(body, key.or(caller.token.as_ref()), &caller.headers);
    write_line(rejection, &sent, None);
}

/// The rejection of a request that passed unchanged. Its body may not have arrived yet.
pub(super) struct PassedRejection {
    status: StatusCode,
    sent: SentWords,
    upstream: String,
}

/// The parts of a request that passed: its path, its headers, and its body if it was read.
pub(super) type PassedParts<'a> = (&'a str, &'a HeaderMap, Option<&'a [u8]>);

impl PassedRejection {
    pub(super) fn new(
        status: StatusCode,
        (path, headers, body): PassedParts<'_>,
        key: Option<&Secret>,
        upstream: &str,
    ) -> Self {
        let mut sent = SentWords::new(body.unwrap_or_default(), key, headers);
        sent.is_complete &= body.is_some();
        sent.add(path);
        Self { status, sent, upstream: upstream.to_owned() }
    }

    /// Logs the rejection with the reason in this body.
    pub(super) fn log(&self, body: Bytes) {
        let rejection = UpstreamRejection { status: self.status, headers: HeaderMap::new(), body };
        write_line(&rejection, &self.sent, Some(&self.upstream));
    }
}

/// `upstream` names the upstream of a request whose span does not.
fn write_line(rejection: &UpstreamRejection, sent: &SentWords, upstream: Option<&str>) {
    let words = LoggableError::new(rejection, sent);
    let status = rejection.status.as_u16();
    let LoggableError { kind, code, param, message, withheld } = words;
    macro_rules! log_at {
        ($level:ident) => {
            tracing::$level!(
                upstream,
                status,
                kind,
                code,
                param,
                upstream_message = message,
                withheld,
                "upstream refused a request"
            )
        };
    }
    if rejection.status.is_server_error() {
        log_at!(warn);
    } else {
        log_at!(info);
    }
}

/// The fields of an upstream's error that may be logged.
struct LoggableError {
    kind: Option<String>,
    code: Option<String>,
    param: Option<String>,
    message: Option<String>,
    /// The name of the withheld field: `message`, if the message may contain text of the caller.
    withheld: Option<&'static str>,
}

impl LoggableError {
    fn new(rejection: &UpstreamRejection, sent: &SentWords) -> Self {
        let error = rejection.error();
        let name = |key: &str| {
            let text = shortened(error[key].as_str().filter(|text| !text.is_empty())?, MAX_NAME);
            sent.may_log(text, true).then(|| text.to_owned())
        };
        let message = error["message"].as_str().map(|text| shortened(text, MAX_MESSAGE));
        let logged = message.filter(|text| sent.may_log(text, false)).map(str::to_owned);
        let withheld = (message.is_some() && logged.is_none()).then_some("message");
        Self {
            kind: name("type"),
            code: name("code"),
            param: name("param"),
            message: logged,
            withheld,
        }
    }
}

/// The path of a field, if it consists only of the API's field names and positions.
pub(crate) fn known_path(path: &str) -> Option<&str> {
    let is_known =
        |word: String| is_short_number(&word) || KNOWN_WORDS.binary_search(&word.as_str()).is_ok();
    (path.len() <= MAX_NAME && words(path).all(is_known)).then_some(path)
}

/// The code of a failure, if it consists only of known words of providers' errors.
pub(crate) fn known_code(code: &str) -> Option<&str> {
    let mut words = words(code);
    let is_known = words.all(|word| KNOWN_WORDS.binary_search(&word.as_str()).is_ok());
    (is_known && code.len() <= MAX_NAME).then_some(code)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn may_log(body: &str, message: &str) -> bool {
        SentWords::new(body.as_bytes(), None, &HeaderMap::new()).may_log(message, false)
    }

    const BODY: &str = concat!(
        r#"{"model":"qwen-3","input":"My name is J\u0061ne Doe, born 1984.\nTell her that the "#,
        r#"request was refused by our clinic in Bern: \\u00c4rztehaus"}"#,
    );

    #[test]
    fn known_and_foreign_words_are_logged() {
        for message in [
            "Unsupported parameter: 'temperature' is not supported with this model.",
            "The model `qwen-3` does not exist or you do not have access to it.",
            "Project quota exhausted for deployment west-17.",
            "Rate limit reached: 40000 tokens per minute.",
        ] {
            assert!(may_log(BODY, message), "{message}");
        }
    }

    #[test]
    fn words_of_the_request_are_withheld() {
        for message in [
            "Invalid value: 'Jane'.",
            "Invalid value: 'JANE DO'.",
            "Invalid value: 'clin'.",
            "Invalid value: '1984'.",
            "The request was refused by the filter.",
            "Invalid value: 'Ärztehaus'.",
        ] {
            assert!(!may_log(BODY, message), "{message}");
        }
    }

    #[test]
    fn continued_history_allows_only_known_words_in_logs() {
        let body = r#"{"model":"m","input":"Hello","conversation":"conv_1"}"#;
        assert!(may_log(body, "The conversation is locked. Please try again."));
        assert!(!may_log(body, "Invalid value: 'Jane'."));
    }

    #[test]
    fn credential_is_withheld() {
        let token = Secret::new("sk-abcdef-0123456789");
        let sent = SentWords::new(b"{}", Some(&token), &HeaderMap::new());
        assert!(!sent.may_log("Incorrect API key provided: sk-abc*****6789.", false));
        assert!(sent.may_log("Incorrect API key provided.", false));
    }

    #[test]
    fn parameter_has_its_positions() {
        let body = r#"{"model":"m","input":[{"content":"at 3 or 0 o'clock"}]}"#;
        let sent = SentWords::new(body.as_bytes(), None, &HeaderMap::new());
        assert!(sent.may_log("input[3].content[0].text", true));
        assert!(!sent.may_log("metadata.clock", true));
    }

    #[test]
    fn known_words_are_sorted() {
        assert!(KNOWN_WORDS.is_sorted());
    }

    #[test]
    fn code_of_other_words_is_unknown() {
        assert_eq!(known_code("rate_limit_exceeded"), Some("rate_limit_exceeded"));
        assert_eq!(known_code("jane_doe"), None);
    }
}
