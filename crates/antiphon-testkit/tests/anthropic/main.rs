//! Every refusal of a message, with the provider's text, and requests that deserve none.

mod blocks;
mod calls;
mod parameters;
mod request;
mod thinking;
mod tools;
