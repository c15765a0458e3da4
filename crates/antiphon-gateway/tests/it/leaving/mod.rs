//! Callers who leave before the end.

mod early;
mod everywhere;
mod finish;
mod late_output;
mod script;
mod settled;
mod told;
