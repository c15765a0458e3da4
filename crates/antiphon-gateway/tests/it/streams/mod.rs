//! The streams that callers get.

mod chunking;
mod commit;
mod kinds;
mod response;
mod whole;
