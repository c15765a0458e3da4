//! The result of one check.

use std::fmt;

use serde::Serialize;

use crate::one_line::one_line;

/// The result of one check. It never contains a key.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(super) struct Finding {
    /// The name of the check, such as `store`.
    pub(super) check: String,
    pub(super) status: Status,
    /// A clause about the checked object.
    pub(super) detail: String,
    /// A sentence with the next step of the operator.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) next: Option<String>,
}

/// The outcome of a check.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Status {
    Ok,
    /// A gateway starts, but some requests may fail, or data is at risk.
    Warning,
    /// A gateway does not start, or the checked part does not work.
    Failed,
}

impl Finding {
    pub(super) fn ok(check: impl Into<String>, detail: impl AsRef<str>) -> Self {
        Self::new(check, Status::Ok, detail)
    }

    pub(super) fn warning(check: impl Into<String>, detail: impl AsRef<str>) -> Self {
        Self::new(check, Status::Warning, detail)
    }

    pub(super) fn failed(check: impl Into<String>, detail: impl AsRef<str>) -> Self {
        Self::new(check, Status::Failed, detail)
    }

    /// Control characters are escaped: the detail may contain the words of a server.
    fn new(check: impl Into<String>, status: Status, detail: impl AsRef<str>) -> Self {
        let detail = one_line(detail.as_ref().trim_end_matches('.'));
        Self { check: check.into(), status, detail, next: None }
    }

    /// Adds the next step.
    pub(super) fn next(self, sentence: impl Into<String>) -> Self {
        Self { next: Some(sentence.into()), ..self }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let status = match self.status {
            Status::Ok => "ok",
            Status::Warning => "warning",
            Status::Failed => "failed",
        };
        write!(f, "{status:<8} {}: {}.", self.check, self.detail)?;
        self.next.iter().try_for_each(|next| write!(f, " {next}"))
    }
}
