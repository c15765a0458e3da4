//! The reason for the end of an answer.

/// The end of an answer, by its `finish_reason`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Finish {
    /// The answer is complete: `stop`, `tool_calls`, `function_call`, and other names for such an
    /// end (`eos`).
    Completed,
    /// A limit or a filter ended the answer. Holds the reason for `incomplete_details`.
    Incomplete(&'static str),
    /// The stream ended normally, but the server did not send a reason.
    Unstated,
    /// The upstream failed. Holds the server's reason.
    Failed(String),
}

impl Finish {
    /// Parses a `finish_reason`. `None` if it is empty, which means that the answer continues.
    ///
    /// Sources: OpenAI for the first two; vLLM and SGLang send `abort`, OpenRouter and vLLM
    /// `error`, DeepSeek `insufficient_system_resource`.
    pub(super) fn parse(finish_reason: &str) -> Option<Self> {
        match finish_reason {
            "" => None,
            "length" => Some(Self::Incomplete("max_output_tokens")),
            "content_filter" => Some(Self::Incomplete("content_filter")),
            "abort" | "error" | "insufficient_system_resource" => {
                Some(Self::Failed(finish_reason.to_owned()))
            }
            _ => Some(Self::Completed),
        }
    }
}
