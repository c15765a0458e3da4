//! Endpoints outside are told what was committed for them.

mod background;
mod delivery;
mod outbox;
mod signatures;
