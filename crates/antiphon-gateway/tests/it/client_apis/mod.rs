//! Three APIs of clients in front of four kinds of upstreams.

mod client;
mod matrix;
