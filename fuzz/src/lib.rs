//! Converts bytes into test input: JSON if a corpus has it, otherwise a compact form in which every
//! byte has a meaning, so that changing a byte changes the conversation.

pub mod alphabet;
pub mod client;
pub mod conversion;
pub mod gateway;
pub mod history;
pub mod request;
pub mod stream;
pub mod upstream;
