//! The gateway as a server: what it lists, how it stops, how it starts again.

mod drain;
mod load;
mod models;
mod openapi;
mod restart;
mod secrets;
mod stop;
mod unbounded;
