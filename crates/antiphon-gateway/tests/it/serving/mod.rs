//! The gateway as a server: what it lists, how it stops, how it starts again.

mod listed;
mod restart;
mod stop;
mod unbounded;
