//! Clients that are stricter than any: what they take is well formed.

pub mod anthropic;
pub mod responses;
