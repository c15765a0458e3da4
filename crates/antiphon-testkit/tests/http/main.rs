//! The fake upstream over HTTP: in this process, and as a program of its own.

mod apis;
mod peer;
mod program;
mod upstream;
