//! The fake upstream over HTTP: in this process, and as a program of its own.

mod apis;
mod hold;
mod peer;
mod program;
mod upstream;
