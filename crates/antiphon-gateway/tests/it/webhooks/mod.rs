//! Endpoints outside are told what was committed for them.

mod receiver;
mod signed;
mod telling;
