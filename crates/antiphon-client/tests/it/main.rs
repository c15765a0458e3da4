//! The client against strict servers, over real sockets.

mod aborts;
mod conversations;
mod dialects;
mod encrypted;
mod errors;
mod stateful;
mod streams;
mod support;
