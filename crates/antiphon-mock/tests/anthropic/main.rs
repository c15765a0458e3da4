//! Every refusal of the Anthropic judge, with the provider's text, and requests that pass.

mod blocks;
mod calls;
mod parameters;
mod request;
mod thinking;
mod tools;
