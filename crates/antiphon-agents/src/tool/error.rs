//! The error of a tool's call.

use std::error::Error;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use super::InvalidArguments;

/// The error of a tool's call: a message that the model reads in place of the output.
///
/// Every error type converts with `?`. Its message and those of its sources are joined with `: `.
/// The model reads the message, so it must contain no secrets; it helps most if it states how to
/// call the tool correctly.
///
/// ```
/// use antiphon_agents::tool::{ToolError, ToolErrorKind};
///
/// fn quantity(text: &str) -> Result<u8, ToolError> {
///     let quantity = text.parse()?;
///     if quantity > 10 {
///         return Err(ToolError::new("at most 10 pieces can be ordered"));
///     }
///     Ok(quantity)
/// }
///
/// assert_eq!(quantity("ten").unwrap_err().message(), "invalid digit found in string");
/// assert_eq!(quantity("20").unwrap_err().kind(), ToolErrorKind::Failed);
/// ```
///
/// It does not implement [`std::error::Error`], because it converts from every type that does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolError {
    kind: ToolErrorKind,
    message: String,
}

/// The kinds of errors of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ToolErrorKind {
    /// The arguments do not match the schema. The tool did not run.
    InvalidArguments,
    /// The tool failed.
    Failed,
    /// The tool did not end in time. It may have had its effect.
    TimedOut,
    /// The tool failed, and the run cannot continue.
    Fatal,
}

impl ToolError {
    /// An error that the model reads as the output of the call.
    pub fn new(message: impl fmt::Display) -> Self {
        Self::with_kind(ToolErrorKind::Failed, message)
    }

    /// An error that ends the run, regardless of the tool's [`OnToolError`](super::OnToolError).
    pub fn fatal(message: impl fmt::Display) -> Self {
        Self::with_kind(ToolErrorKind::Fatal, message)
    }

    /// The error of a tool that did not end within `limit`.
    pub fn timed_out(limit: Duration) -> Self {
        let message = format!("The tool did not end within {limit:?}. It may have had its effect.");
        Self::with_kind(ToolErrorKind::TimedOut, message)
    }

    fn with_kind(kind: ToolErrorKind, message: impl fmt::Display) -> Self {
        Self { kind, message: message.to_string() }
    }

    /// The kind of error.
    pub fn kind(&self) -> ToolErrorKind {
        self.kind
    }

    /// The message that the model reads.
    pub fn message(&self) -> &str {
        &self.message
    }
}

/// A function that writes the text of a tool's error for the model.
#[derive(Clone)]
pub struct ErrorText(Arc<dyn Fn(&ToolError) -> String + Send + Sync>);

impl ErrorText {
    /// The text is the result of this function.
    pub fn new(text: impl Fn(&ToolError) -> String + Send + Sync + 'static) -> Self {
        Self(Arc::new(text))
    }

    /// The error with this text as its message.
    pub(crate) fn apply(&self, error: &ToolError) -> ToolError {
        ToolError { kind: error.kind, message: (self.0)(error) }
    }
}

/// Equal are clones of one function.
impl PartialEq for ErrorText {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl fmt::Debug for ErrorText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ErrorText").finish_non_exhaustive()
    }
}

impl fmt::Display for ToolError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl<E: Error> From<E> for ToolError {
    fn from(error: E) -> Self {
        let mut message = error.to_string();
        let mut source = error.source();
        while let Some(cause) = source {
            let text = cause.to_string();
            // Many errors repeat their source in their own message.
            if !message.contains(&text) {
                message.push_str(": ");
                message.push_str(&text);
            }
            source = cause.source();
        }
        Self::new(message)
    }
}

impl From<InvalidArguments> for ToolError {
    fn from(error: InvalidArguments) -> Self {
        Self::with_kind(ToolErrorKind::InvalidArguments, error)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, thiserror::Error)]
    #[error("could not read the order")]
    struct Outer(#[from] std::num::ParseIntError);

    #[derive(Debug, thiserror::Error)]
    #[error("bad number: {0}")]
    struct Repeating(#[source] std::num::ParseIntError);

    fn parse_error() -> std::num::ParseIntError {
        "x".parse::<u8>().unwrap_err()
    }

    #[test]
    fn message_contains_the_sources_once() {
        let error = ToolError::from(Outer(parse_error()));
        assert_eq!(error.message(), "could not read the order: invalid digit found in string");
        let error = ToolError::from(Repeating(parse_error()));
        assert_eq!(error.message(), "bad number: invalid digit found in string");
    }

    #[test]
    fn timeout_names_its_limit() {
        let error = ToolError::timed_out(Duration::from_millis(1500));
        assert_eq!(error.kind(), ToolErrorKind::TimedOut);
        assert!(error.message().starts_with("The tool did not end within 1.5s."), "{error}");
    }
}
