//! `antiphon check` and `antiphon repair`: histories in files.
//!
//! The `antiphon` crate finds and repairs the faults. This module reads the histories and reports
//! the findings.

mod check;
mod document;
mod held;
mod input;
mod notice;
mod place;
mod policy;
mod repair;
mod report;

pub(crate) use check::check;
pub(crate) use repair::repair;

use std::io;

use crate::failure::Failure;

fn unwritable(error: &io::Error) -> Failure {
    Failure::runtime(format!("standard output cannot be written: {error}"))
}
