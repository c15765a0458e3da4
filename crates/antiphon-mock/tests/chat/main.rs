//! Every refusal of the Chat Completions judge, with the provider's text, and requests that pass.

mod calls;
mod content;
mod parameters;
mod request;
mod tools;
