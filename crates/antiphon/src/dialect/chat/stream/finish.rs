//! Why a model stopped.

/// How an answer ends, by its `finish_reason`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Finish {
    /// The model had said all: `stop`, `tool_calls`, `function_call`, and what servers name an end
    /// beside these (`eos`).
    Completed,
    /// A limit of the model's own: the reason as `incomplete_details` names it.
    Incomplete(&'static str),
    /// The stream ended as one that is whole, and the server did not say why the model stopped.
    Unstated,
    /// It broke: the server's word for it.
    Failed(String),
}

impl Finish {
    /// What a `finish_reason` says; `None` where it is empty, which is that there is none yet.
    ///
    /// Sources: OpenAI for the first two; vLLM and SGLang send `abort`, OpenRouter and vLLM `error`,
    /// DeepSeek `insufficient_system_resource`.
    pub(super) fn of(finish_reason: &str) -> Option<Self> {
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
