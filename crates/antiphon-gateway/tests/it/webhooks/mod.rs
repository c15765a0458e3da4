//! Endpoints outside are told what was committed for them.

mod background;
mod receiver;
mod signed;
mod telling;
