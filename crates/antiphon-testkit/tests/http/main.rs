//! The fake upstream over HTTP: in this process, and as a separate program.

mod apis;
mod hold;
mod peer;
mod program;
mod upstream;
