//! A real PostgreSQL for the tests: a server of its own for each test process, or for one test.
//!
//! A server listens on a free loopback port and on a Unix socket, asks for a password, and keeps its
//! files in a temporary folder. It ends with the process that started it, however that ends.

mod account;
mod cluster;
mod programs;
mod server;
mod tree;
mod watchdog;

pub use server::{Durability, Server};
