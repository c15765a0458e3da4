//! The gateway as a server: what it lists, how it stops, how it starts again.

mod described;
mod drain;
mod listed;
mod load;
mod restart;
mod secrets;
mod stop;
mod unbounded;
