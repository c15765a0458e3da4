//! Why the command ends without success.

use std::fmt;
use std::process::ExitCode;

/// A sentence for the operator, by whose fault it is. It never contains a key or a token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Failure {
    /// The command line, the environment or the file asks for what cannot be done: exit code 2.
    Usage(String),
    /// The machine does not give what is needed: exit code 1.
    Runtime(String),
    /// A history is refused, as its policy has it: exit code 1.
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
