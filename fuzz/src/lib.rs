//! How bytes become what the targets try: JSON where a corpus gives it, else a compact form in
//! which every byte means something, so that a changed byte is a changed conversation.

pub mod alphabet;
pub mod client;
pub mod conversion;
pub mod gateway;
pub mod history;
pub mod request;
pub mod stream;
pub mod upstream;
