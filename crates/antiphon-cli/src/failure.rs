//! The reasons for which a command fails.

use std::fmt;
use std::io::{self, Write as _};
use std::process::ExitCode;

use antiphon_store::{OpenError, StoreError};

/// A message for the operator; the variant names the cause. It never contains a key or a token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Failure {
    /// The command line, the environment or the configuration file is invalid: exit code 2.
    Usage(String),
    /// An operation failed at run time: exit code 1.
    Runtime(String),
    /// The policy rejects a history: exit code 1.
    Refused(String),
    /// The reader of standard output has closed it, such as `head`: exit code 0, without a message.
    Unread,
}

impl Failure {
    pub(crate) fn usage(sentence: impl Into<String>) -> Self {
        Self::Usage(sentence.into())
    }

    pub(crate) fn runtime(sentence: impl Into<String>) -> Self {
        Self::Runtime(sentence.into())
    }

    pub(crate) fn refused(sentence: impl Into<String>) -> Self {
        Self::Refused(sentence.into())
    }

    /// Standard output cannot be written.
    pub(crate) fn output(error: &io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::BrokenPipe => Self::Unread,
            _ => Self::runtime(format!("standard output cannot be written: {error}")),
        }
    }

    /// A store that cannot be opened.
    pub(crate) fn store_not_opened(error: &OpenError) -> Self {
        let reason = match error {
            OpenError::Store(StoreError::Unavailable(reason)) => reason.clone(),
            error => error.to_string(),
        };
        Self::runtime(format!("the store cannot be opened: {reason}"))
    }

    pub(crate) fn exit_code(&self) -> ExitCode {
        match self {
            Self::Usage(_) => ExitCode::from(2),
            Self::Runtime(_) | Self::Refused(_) => ExitCode::from(1),
            Self::Unread => ExitCode::SUCCESS,
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Usage(sentence) | Self::Runtime(sentence) | Self::Refused(sentence) => {
                f.write_str(sentence)
            }
            Self::Unread => f.write_str("nobody reads standard output"),
        }
    }
}

/// Prints text on standard output.
pub(crate) fn print(text: &str) -> Result<(), Failure> {
    let mut out = io::stdout().lock();
    let written = out.write_all(text.as_bytes()).and_then(|()| out.flush());
    written.map_err(|error| Failure::output(&error))
}
