//! The streams that callers get.

mod commit;
mod cutting;
mod kinds;
mod response;
mod whole;
