//! Callers who leave before the end.

mod early;
mod finish;
mod late_output;
mod settled;
