//! Callers who leave before the end.

mod early;
mod every_point;
mod finish;
mod late_output;
mod received;
mod script;
mod settled;
