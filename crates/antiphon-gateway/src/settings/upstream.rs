//! The upstreams of a gateway, and the model that it serves itself.

use std::time::Duration;

use antiphon::dialect::UpstreamApi;
use antiphon::stream::ReasoningForm;
use bytes::Bytes;
use http::Uri;

use super::{Authorities, Secret};

/// How long an upstream may be silent by default.
const SILENCE: Duration = Duration::from_mins(10);

with_defaults! {
    /// An upstream.
    #[derive(Clone, Debug)]
    pub struct UpstreamSettings {
        /// The name for operators and callers. If `None`, operators see its host, and callers see
        /// no name, because they must not see hosts.
        pub name: Option<String> = None,
        /// The models that it serves; by default all.
        pub models: Vec<ModelPattern> = vec![ModelPattern::new("*")],
        /// Its API: Responses, Chat Completions or Anthropic Messages.
        pub api: UpstreamApi = UpstreamApi::Responses,
        /// Its base URL, to which `/responses`, `/chat/completions` or `/messages` is appended.
        pub url: Uri = Uri::default(),
        /// The key for the upstream. `None` means the caller's own token.
        pub key: Option<Secret> = None,
        /// The authorities that its certificate must come from. `None` means the public ones.
        pub authorities: Option<Authorities> = None,
        /// The time limit for opening a connection, including the name lookup and TLS.
        pub connect_timeout: Duration = Duration::from_secs(10),
        /// The time limit for the first byte of an answer's body. Models that reason may be silent
        /// for minutes, and the provider's clients wait for 10.
        pub first_byte_timeout: Duration = SILENCE,
        /// The time limit between two bytes. Comments of an event stream count as bytes.
        pub idle_timeout: Duration = SILENCE,
        /// Whether it streams every answer, also for callers that do not stream. `None` means that
        /// it does so if the limit of the first byte or of idle time is shorter than by default:
        /// without a stream, an answer has no byte before its end.
        pub always_stream: Option<bool> = None,
        /// The time limit of a whole answer, retries included.
        pub total_timeout: Duration = Duration::from_hours(1),
        /// The retry settings.
        pub retries: Retries = Retries::default(),
        /// The maximum size of an answer in bytes. In a stream, it applies to the output and to
        /// each event; otherwise, to the whole answer.
        pub max_answer: usize = 64 << 20,
        /// The context window of its models, input and output together, in tokens. `None` if
        /// unknown.
        pub context_window: Option<u32> = None,
        /// The form of its reasoning for clients, if its API has no reasoning items. `Content` also
        /// gives a summary to requests that ask for one.
        pub reasoning: ReasoningForm = ReasoningForm::Summary,
        /// The owner of new conversations and responses of its models.
        pub state: State = State::Here,
        /// Its capabilities, if it owns the state. `None` means that they are detected.
        pub capabilities: Option<Capabilities> = None,
        /// The maximum number of its open answers. Further requests fail with status 429, which
        /// clients retry. `None` means no limit.
        pub max_open: Option<usize> = None,
    }
}

impl UpstreamSettings {
    /// Creates an upstream at `url` for all models, with the Responses API and default limits.
    pub fn new(url: Uri, key: Option<Secret>) -> Self {
        Self { url, key, ..Self::default() }
    }

    /// Whether this upstream streams answers to callers that do not stream.
    pub(crate) fn always_streams(&self) -> bool {
        let has_short_limit = self.first_byte_timeout < SILENCE || self.idle_timeout < SILENCE;
        self.api != UpstreamApi::Responses || self.always_stream.unwrap_or(has_short_limit)
    }
}

with_defaults! {
    /// The retries of failed requests to an upstream.
    ///
    /// A request is retried if the failure may be temporary: no connection, a lost connection,
    /// status 408, 409, 429, 500, 502, 503, 504 or 529, or a failed response with such a code.
    /// There is no retry after the first event of output, so that a caller never receives output
    /// twice.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct Retries {
        /// The maximum number of retries; 0 means none.
        pub max: u32 = 2,
        /// The delay before the first retry. It doubles with each retry.
        pub first_delay: Duration = Duration::from_millis(500),
        /// The maximum of these delays.
        pub max_delay: Duration = Duration::from_secs(8),
        /// The longest delay that an upstream may request. If it requests more, there is no retry:
        /// its answer passes to the caller, which may wait.
        pub max_requested_delay: Duration = Duration::from_secs(20),
    }
}

impl Retries {
    /// No retries.
    pub fn none() -> Self {
        Self { max: 0, ..Self::default() }
    }
}

/// A pattern for model names. `*` matches any number of characters; all other characters match
/// themselves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModelPattern(String);

impl ModelPattern {
    /// Creates a pattern from its text.
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// The text of the pattern.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether it matches all names that `other` matches. The stars of `other` are compared as
    /// characters that only a star matches.
    pub fn covers(&self, other: &Self) -> bool {
        self.takes(&other.0)
    }

    /// Whether it matches a model's name.
    pub fn takes(&self, model: &str) -> bool {
        let mut pieces = self.0.split('*');
        let first = pieces.next().unwrap_or_default();
        let Some(mut rest) = model.strip_prefix(first) else { return false };
        let Some(last) = pieces.next_back() else { return rest.is_empty() };
        for piece in pieces {
            let Some((_, behind)) = rest.split_once(piece) else { return false };
            rest = behind;
        }
        rest.ends_with(last)
    }
}

/// The owner of conversations with an upstream's models, with their responses and items.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum State {
    /// Antiphon. The upstream receives whole histories and stores nothing.
    #[default]
    Here,
    /// The upstream, under its own ids. Antiphon stores a ledger of its items.
    Upstream,
}

/// The capabilities of a server that owns the state.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "a server can have any combination of them")]
pub struct Capabilities {
    /// It has the Conversations API. Otherwise Antiphon owns the conversations.
    pub conversations: bool,
    /// It continues a stored response (`previous_response_id`).
    pub chains: bool,
    /// It can delete an item of a conversation.
    pub item_deletion: bool,
    /// It lists the input of a response.
    pub input_items: bool,
}

/// A kind of server with known capabilities.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Preset {
    /// OpenAI's own API.
    OpenAi,
    /// Azure and Foundry, whose v1 path has no conversations.
    Azure,
    /// An Open Responses server that stores only responses.
    OpenResponses,
}

impl Preset {
    /// The capabilities of this kind of server.
    pub fn capabilities(self) -> Capabilities {
        let all = Capabilities {
            conversations: true,
            chains: true,
            item_deletion: true,
            input_items: true,
        };
        match self {
            Self::OpenAi => all,
            Self::Azure => Capabilities { conversations: false, item_deletion: false, ..all },
            Self::OpenResponses => Capabilities {
                conversations: false,
                item_deletion: false,
                input_items: false,
                ..all
            },
        }
    }
}

/// A model that answers inside the gateway's process. It is an upstream with the Responses API.
#[derive(Clone, Copy, Debug)]
pub struct LocalModel {
    /// The name of the model. No other upstream receives a request for this name.
    pub name: &'static str,
    /// The context window, input and output together, in tokens.
    pub context_window: u64,
    /// Answers an encoded request, which contains the whole context, with the pieces of an event
    /// stream. An error is the message of a response with status 400.
    pub respond: fn(&[u8]) -> Result<EventStream, String>,
}

/// The bytes of an event stream, in pieces of any length.
pub type EventStream = Box<dyn Iterator<Item = Bytes> + Send>;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pattern_covers_every_narrower_one() {
        let covers =
            |one: &str, other: &str| ModelPattern::new(one).covers(&ModelPattern::new(other));
        for (wide, narrow) in
            [("*", "gpt-*"), ("*", "*"), ("gpt-*", "gpt-5"), ("gpt-*", "gpt-*-mini"), ("a", "a")]
        {
            assert!(covers(wide, narrow), "{wide} covers {narrow}");
        }
        for (one, other) in [("gpt-*", "*"), ("gpt-5", "gpt-*"), ("*-mini", "gpt-*"), ("a", "*a")] {
            assert!(!covers(one, other), "{one} does not cover {other}");
        }
    }

    #[test]
    fn star_matches_any_text_and_none() {
        let taken = [
            ("*", "anything"),
            ("*", ""),
            ("gpt-*", "gpt-"),
            ("gpt-*", "gpt-6-mini"),
            ("*-mini", "gpt-6-mini"),
            ("gpt-*-mini*", "gpt-6-mini-mini-2026"),
            ("a*b*a", "aba"),
            ("exact", "exact"),
        ];
        for (pattern, model) in taken {
            assert!(ModelPattern::new(pattern).takes(model), "{pattern} takes {model}");
        }
        let others = [
            ("gpt-*", "claude-5"),
            ("gpt-*", "my-gpt-6"),
            ("a*a", "a"),
            ("a*bb*b", "abb"),
            ("exact", "exactly"),
            ("exact", "inexact"),
            ("", "any"),
        ];
        for (pattern, model) in others {
            assert!(!ModelPattern::new(pattern).takes(model), "{pattern} does not take {model}");
        }
    }
}
