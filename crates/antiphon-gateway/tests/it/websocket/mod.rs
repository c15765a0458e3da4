//! Turns over a WebSocket.

mod endings;
mod flood;
mod handshake;
mod lanes;
mod refusals;
mod turns;
mod unstored;
mod warm;
