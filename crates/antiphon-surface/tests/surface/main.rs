//! What comes back of what is given, whatever that is.

mod laws;
mod texts;
