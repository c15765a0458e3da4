//! Failures of work in the database, and whether a retry can help.

use std::error::Error as _;

use tokio_postgres::Error;
use tokio_postgres::error::SqlState;

use crate::error::StoreError;

/// The failure of a call.
#[derive(Debug)]
pub(super) enum Failure {
    /// The call was rejected. The connection is still usable.
    Refused(StoreError),
    /// The database reported an error, or the connection failed.
    Database(Error),
    /// No answer arrived in time. The connection is not used again.
    Silence,
}

impl Failure {
    /// The failure of a row whose contents this store never writes.
    pub(super) fn unreadable(what: &str) -> Self {
        Self::Refused(StoreError::Unavailable(format!("the database returned {what}")))
    }

    /// Whether a retry from the beginning may succeed: the connection was lost, the server is
    /// restarting or was demoted, or two transactions conflicted.
    pub(super) fn is_passing(&self) -> bool {
        match self {
            Self::Refused(_) | Self::Silence => false,
            Self::Database(error) => {
                self.is_silence() || error.code().is_some_and(|code| PASSING.contains(code))
            }
        }
    }

    /// The position, from 0, of the item that a statement rejected because its thread has an item
    /// with the same id. The statement writes `duplicate item N` into its error, counting from 1.
    pub(super) fn duplicate(&self) -> Option<usize> {
        let Self::Database(error) = self else { return None };
        let (_, number) = error.as_db_error()?.message().split_once("duplicate item ")?;
        let digits = number.trim_end_matches(|it: char| !it.is_ascii_digit());
        digits.parse::<usize>().ok()?.checked_sub(1)
    }

    /// Whether the statement that checks a commit sent with its begin has refused it. The statement
    /// writes `refused` into its error.
    pub(super) fn is_refusal(&self) -> bool {
        let Self::Database(error) = self else { return false };
        error.as_db_error().is_some_and(|error| error.message().contains("\"refused "))
    }

    /// Whether the outcome of the last statement is unknown.
    pub(super) fn is_silence(&self) -> bool {
        match self {
            Self::Refused(_) => false,
            Self::Silence => true,
            Self::Database(error) => {
                error.is_closed() || (error.code().is_none() && has_io_cause(error))
            }
        }
    }
}

const PASSING: &[SqlState] = &[
    SqlState::T_R_DEADLOCK_DETECTED,
    SqlState::T_R_SERIALIZATION_FAILURE,
    SqlState::ADMIN_SHUTDOWN,
    SqlState::CRASH_SHUTDOWN,
    SqlState::CANNOT_CONNECT_NOW,
    SqlState::READ_ONLY_SQL_TRANSACTION,
];

fn has_io_cause(error: &Error) -> bool {
    error.source().is_some_and(<dyn std::error::Error>::is::<std::io::Error>)
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Self {
        Self::Refused(error)
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::Database(error)
    }
}

impl From<Failure> for StoreError {
    fn from(failure: Failure) -> Self {
        match failure {
            Failure::Refused(error) => error,
            Failure::Database(error) if error.code() == Some(&SqlState::DISK_FULL) => {
                Self::NoSpace(describe(&error))
            }
            Failure::Database(error) => Self::Unavailable(describe(&error)),
            Failure::Silence => Self::Unavailable("PostgreSQL did not answer in time".into()),
        }
    }
}

/// The server's message, or the cause of a failed connection. Contains no part of the URL.
pub(super) fn describe(error: &Error) -> String {
    match (error.as_db_error(), error.source()) {
        (Some(said), _) => format!("PostgreSQL error: {} ({})", said.message(), said.code().code()),
        (None, Some(cause)) => format!("{error}: {cause}"),
        (None, None) => error.to_string(),
    }
}
