//! Turns over a WebSocket.

mod closing;
mod flood;
mod handshake;
mod lanes;
mod preparation;
mod rejections;
mod turns;
mod unstored;
