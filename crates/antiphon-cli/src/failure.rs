//! The reasons for which a command fails.

use std::fmt;
use std::process::ExitCode;

/// A message for the operator; the variant names the cause. It never contains a key or a token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Failure {
    /// The command line, the environment or the configuration file is invalid: exit code 2.
    Usage(String),
    /// An operation failed at run time: exit code 1.
    Runtime(String),
    /// The policy rejects a history: exit code 1.
    Refused(String),
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

    pub(crate) fn exit_code(&self) -> ExitCode {
        match self {
            Self::Usage(_) => ExitCode::from(2),
            Self::Runtime(_) | Self::Refused(_) => ExitCode::from(1),
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (Self::Usage(sentence) | Self::Runtime(sentence) | Self::Refused(sentence)) = self;
        f.write_str(sentence)
    }
}
