//! Detects errors about inputs that are too long for the model.
//!
//! The servers use different error texts:
//!
//! - OpenAI, Responses API: `Your input exceeds the context window of this model.`, as a rejection
//!   or as the first event of a stream.
//! - OpenAI, Chat Completions, and vLLM: `This model's maximum context length is 16384 tokens.
//!   However, you requested 122946 tokens (112946 in the messages, 10000 in the completion).`
//!   OpenAI adds the code `context_length_exceeded` to both texts, vLLM does not.
//! - Anthropic: `prompt is too long: 208310 tokens > 200000 maximum` and
//!   ``input length and `max_tokens` exceed context limit: 178959 + 64000 > 200000``.
//! - llama.cpp: the type `exceed_context_size_error`, with `n_prompt_tokens` and `n_ctx`.
//! - `SGLang`: `The input (8203 tokens) is longer than the model's context length (8192 tokens).`
//! - Gemini: `The input token count (1200000) exceeds the maximum number of tokens allowed
//!   (1048576).`
//! - Ollama: `the input length exceeds the context length`.

use std::fmt;

use http::StatusCode;
use serde_json::Value;

/// The token counts in an error about an input that is too long for the model.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Overflow {
    /// The tokens of the input, if the error contains the number.
    pub(crate) input: Option<u64>,
    /// The tokens of the input plus the output limit, if the server adds both.
    pub(crate) needed: Option<u64>,
    /// The context window of the model in tokens.
    pub(crate) window: Option<u64>,
}

/// Phrases that identify an overflow error. They are compared in lower case.
const PHRASES: [&str; 11] = [
    "exceeds the context window",
    "exceed context window",
    "maximum context length",
    "prompt is too long",
    "exceed context limit",
    "exceeds the available context size",
    "exceeds the context length",
    "longer than the model's context length",
    "exceeds the maximum number of tokens allowed",
    "exceeds the model's context",
    "exceeds maximum context",
];

impl Overflow {
    /// Reads an error answer. Returns `None` if the error has another cause.
    pub(super) fn from_rejection(status: StatusCode, error: &Value) -> Option<Self> {
        // Self-hosted servers also answer with 413, 422 or 500.
        if !status.is_client_error() && status != StatusCode::INTERNAL_SERVER_ERROR {
            return None;
        }
        let text = |key: &str| error[key].as_str().unwrap_or_default();
        if error["type"] == "exceed_context_size_error" {
            let needed = error["n_prompt_tokens"].as_u64();
            return Some(Self { input: needed, needed, window: error["n_ctx"].as_u64() });
        }
        Self::from_message(text("code"), text("message"))
    }

    /// Reads an error with this code and message.
    pub(super) fn from_message(code: &str, message: &str) -> Option<Self> {
        let small = message.to_ascii_lowercase();
        if code != TooLong::CODE && !PHRASES.iter().any(|words| small.contains(words)) {
            return None;
        }
        Some(Self::from_numbers(&numbers(&small), &small))
    }

    /// Assigns the numbers of a message, if its words identify them.
    fn from_numbers(numbers: &[u64], message: &str) -> Self {
        let all = |input, needed, window| Self {
            input: Some(input),
            needed: Some(needed),
            window: Some(window),
        };
        match *numbers {
            // input + output limit > window
            [input, answer, window, ..] if message.contains(" + ") && message.contains(" > ") => {
                all(input, input.saturating_add(answer), window)
            }
            // window, needed (input in the messages, …)
            [window, needed, input, ..] if message.contains(" in the messages") => {
                all(input, needed, window)
            }
            // window … input … output limit, in either order
            [window, one, other, ..] if message.contains("maximum context length") => {
                let (less, more) = (one.min(other), one.max(other));
                match more > window {
                    true => all(more, more, window),
                    false => Self { window: Some(window), ..Self::both(less, more, window) },
                }
            }
            [one, other] if one != other => all(one.max(other), one.max(other), one.min(other)),
            [window] => Self { window: Some(window), ..Self::default() },
            _ => Self::default(),
        }
    }

    /// Two numbers that fit into the window one by one but not together: the input and the output
    /// limit. The message does not show which is which.
    fn both(one: u64, other: u64, window: u64) -> Self {
        let needed = one.saturating_add(other);
        Self { needed: Some(needed).filter(|needed| *needed > window), ..Self::default() }
    }

    /// The fraction of the input that fits, if the error contains the counts. `answer` is the
    /// output limit.
    pub(crate) fn fitting_fraction(&self, answer: u64) -> Option<f64> {
        let (input, needed, window) = (self.input?, self.needed?, self.window?);
        // If the server counted only the input, the output needs room too.
        let needed = if needed == input { input.saturating_add(answer) } else { needed };
        let excess = needed.checked_sub(window).filter(|excess| *excess > 0)?;
        Some(as_fraction(input.saturating_sub(excess), input))
    }
}

#[expect(clippy::cast_precision_loss, reason = "a fraction need not be exact")]
fn as_fraction(part: u64, whole: u64) -> f64 {
    part as f64 / whole.max(1) as f64
}

/// The whole numbers of a text, in order. Commas inside a number are ignored.
fn numbers(text: &str) -> Vec<u64> {
    let is_in_word = |piece: &&str| piece.starts_with(|c: char| c.is_ascii_digit());
    let pieces = text.split(|c: char| !c.is_ascii_alphanumeric() && c != ',' && c != '_');
    let pieces = pieces.map(|piece| piece.trim_matches(',')).filter(is_in_word);
    pieces.filter_map(|piece| piece.replace(',', "").parse().ok()).collect()
}

/// The error of a turn whose input is too long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TooLong {
    /// The tokens that the turn needs, including the output limit.
    pub(crate) needed: u64,
    /// The context window in tokens, if known.
    pub(crate) window: Option<u64>,
    /// Whether the request allows the gateway to drop the oldest turns.
    pub(crate) truncates: bool,
}

impl TooLong {
    /// The error's code.
    pub(crate) const CODE: &str = "context_length_exceeded";
}

impl fmt::Display for TooLong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Your input exceeds the context window of this model: ")?;
        match (self.needed, self.window) {
            (needed, Some(window)) => {
                write!(f, "{needed} tokens are needed, and there is room for {window}.")?;
            }
            (needed, None) => write!(f, "about {needed} tokens are needed.")?,
        }
        f.write_str(match self.truncates {
            false => {
                " Set 'truncation' to 'auto' to leave out the oldest turns, or compact the \
                 conversation (POST /v1/responses/compact) and continue with its output."
            }
            true => {
                " It is too long even without the oldest turns, which 'truncation' leaves out: \
                 send less at once, lower 'max_output_tokens', or compact the conversation (POST \
                 /v1/responses/compact) and continue with its output."
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn parsed(message: &str) -> Option<(Option<u64>, Option<u64>, Option<u64>)> {
        let error = json!({"message": message});
        let overflow = Overflow::from_rejection(StatusCode::BAD_REQUEST, &error)?;
        Some((overflow.input, overflow.needed, overflow.window))
    }

    #[test]
    fn overflow_errors_of_known_servers_are_parsed() {
        let all = |input, needed, window| Some((Some(input), Some(needed), Some(window)));
        let none = Some((None, None, None));
        let cases = [
            (
                "Your input exceeds the context window of this model. Please adjust your input and \
              try again.",
                none,
            ),
            (
                "This model's maximum context length is 16384 tokens. However, you requested \
                 122946 tokens (112946 in the messages, 10000 in the completion). Please reduce \
                 the length.",
                all(112_946, 122_946, 16384),
            ),
            (
                "This model's maximum context length is 4097 tokens. However, your messages \
                 resulted in 33986 tokens.",
                all(33986, 33986, 4097),
            ),
            (
                "This model's maximum context length is 2048 tokens. However, your request has 8 \
              input tokens plus 2045 'max_tokens'.",
                Some((None, Some(2053), Some(2048))),
            ),
            ("prompt is too long: 208310 tokens > 200000 maximum", all(208_310, 208_310, 200_000)),
            (
                "input length and `max_tokens` exceed context limit: 178959 + 64000 > 200000, \
              decrease input length or `max_tokens` and try again",
                all(178_959, 242_959, 200_000),
            ),
            (
                "The input (8203 tokens) is longer than the model's context length (8192 tokens).",
                all(8203, 8203, 8192),
            ),
            (
                "The input token count (1,200,000) exceeds the maximum number of tokens allowed \
              (1048576).",
                all(1_200_000, 1_200_000, 1_048_576),
            ),
            ("the input length exceeds the context length", none),
            ("Requested tokens (2285) exceed context window of 2048", all(2285, 2285, 2048)),
        ];
        for (message, expected) in cases {
            assert_eq!(parsed(message), expected, "{message}");
        }
    }

    #[test]
    fn code_or_type_alone_identifies_an_overflow() {
        let code = json!({"code": "context_length_exceeded", "message": ""});
        assert_eq!(
            Overflow::from_rejection(StatusCode::BAD_REQUEST, &code),
            Some(Overflow::default())
        );
        let counted = json!({
            "code": 500, "type": "exceed_context_size_error", "n_prompt_tokens": 1407, "n_ctx": 256,
        });
        let expected = Overflow { input: Some(1407), needed: Some(1407), window: Some(256) };
        assert_eq!(
            Overflow::from_rejection(StatusCode::INTERNAL_SERVER_ERROR, &counted),
            Some(expected)
        );
    }

    #[test]
    fn other_errors_are_no_overflow() {
        for message in ["Invalid 'max_output_tokens'.", "Rate limit reached for 8192 tokens", ""] {
            assert_eq!(parsed(message), None, "{message}");
        }
        let gone = json!({"code": "context_length_exceeded"});
        assert_eq!(Overflow::from_rejection(StatusCode::BAD_GATEWAY, &gone), None);
    }

    #[test]
    fn fitting_input_leaves_room_for_the_output() {
        let fitting_fraction = |message: &str, answer| {
            let overflow = Overflow::from_message("", message).unwrap();
            overflow.fitting_fraction(answer).map(|fraction| (fraction * 100.0).round() / 100.0)
        };
        assert_eq!(fitting_fraction("prompt is too long: 400 tokens > 200 maximum", 0), Some(0.5));
        assert_eq!(
            fitting_fraction("prompt is too long: 400 tokens > 200 maximum", 100),
            Some(0.25)
        );
        let both = "exceed context limit: 100 + 160 > 200, decrease";
        assert_eq!(fitting_fraction(both, 160), Some(0.4));
        assert_eq!(fitting_fraction("the input length exceeds the context length", 0), None);
    }
}
