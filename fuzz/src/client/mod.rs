//! Clients that are stricter than real ones: a stream that they accept is well formed.

pub mod anthropic;
pub mod responses;
