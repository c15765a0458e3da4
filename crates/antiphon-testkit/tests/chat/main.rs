//! Every refusal of a chat completion, with the provider's text, and requests that deserve none.

mod calls;
mod content;
mod parameters;
mod request;
mod tools;
