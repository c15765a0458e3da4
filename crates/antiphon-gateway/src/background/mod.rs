//! Background responses.
//!
//! A background turn is a normal turn ([`turn`](crate::turn)) whose events go to a log in the
//! store. Any number of readers in any process can read this log, starting at any event.

mod log_reader;
mod resume;
mod status;

pub(crate) use self::log_reader::LogReader;
pub(crate) use self::resume::resume_abandoned;
pub(crate) use self::status::{cancel_and_wait, open_response_object};
