//! What of the API's other parts passes to upstreams.

/// What passes of the requests that are none of the gateway's own: those below `/v1`, without
/// `/v1/responses`, `/v1/conversations` and `/v1/models`.
///
/// Where an upstream is shown the operator's key, what it stores belongs to the operator's account:
/// files, vector stores, batches, stored completions. Every caller that may name them sees them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PassThrough {
    /// Everything.
    All,
    /// What an upstream answers without storing anything: completions, embeddings, moderations, audio,
    /// images, messages.
    Stateless,
    /// Nothing.
    Nothing,
}
