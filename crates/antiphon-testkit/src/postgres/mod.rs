//! A real PostgreSQL server for tests: one for each test process, or for one test.
//!
//! A server listens on a free loopback port and on a Unix socket, requires a password, and stores
//! its files in a temporary folder. It ends with the process that started it, even if that crashes.

mod account;
mod cluster;
mod platform;
mod programs;
mod server;
mod watchdog;

pub use server::{Durability, Server};
