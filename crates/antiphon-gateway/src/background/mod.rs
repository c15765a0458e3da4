//! Background responses.
//!
//! A background turn is a normal turn ([`turn`](crate::turn)) whose events go to a log in the
//! store. Any number of readers in any process can read this log, starting at any event.

mod reading;
mod standing;
mod taking_up;

pub(crate) use self::reading::Reading;
pub(crate) use self::standing::{cancelled_and_ended, present_response};
pub(crate) use self::taking_up::take_up;
