//! Properties of the engine, tested from outside on generated histories.

mod after;
mod answers;
mod bytes;
mod chat;
mod compaction;
mod continuation;
mod history;
mod judge;
mod kinds;
mod mangle;
mod reconcile;
mod repair;
mod replay;
mod truncation;
mod windows;
