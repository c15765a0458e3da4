//! The harness of this workspace's tests: servers and processes that only tests start.
//!
//! - [`FakeUpstream`]: a stateless provider of every [`Api`](antiphon_mock::Api) that records every
//!   request with its verdict and sends scripted replies.
//! - [`otlp`]: a receiver of OpenTelemetry's protocol that checks the traces.
//! - [`process`]: a gateway as a separate process, whose memory can be measured.
//! - [`postgres`]: a real PostgreSQL server that creates empty databases for tests.
//! - [`TlsServer`]: TLS in front of another server, with a certificate of a private authority.

pub mod otlp;
pub mod postgres;
pub mod process;
mod tls;
mod upstream;

pub use tls::{Protocol, TlsServer};
pub use upstream::{FakeUpstream, Recorded};
