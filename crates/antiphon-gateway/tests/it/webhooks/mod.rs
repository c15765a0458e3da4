//! Endpoints outside are told what was committed for them.

mod background;
mod outbox;
mod signed;
mod telling;
