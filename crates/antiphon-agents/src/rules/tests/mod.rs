//! Tests of the rules of a run.

mod calls;
mod compaction;
mod history;
mod retry;
mod sessions;
mod staging;
