//! The setting for pass-through requests.

/// The requests to forward to upstreams: those below `/v1`, except `/v1/responses`,
/// `/v1/conversations` and `/v1/models`.
///
/// If an upstream receives the operator's key, it stores objects in the operator's account: files,
/// vector stores, batches, completions. Every caller with access to these routes has access to
/// them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PassThrough {
    /// All requests.
    All,
    /// Requests that store nothing: completions, embeddings, moderations, audio, images, messages.
    Stateless,
    /// No requests.
    Nothing,
}
