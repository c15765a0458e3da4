//! The harness of this workspace's tests: servers and processes that only tests start.
//!
//! - [`FakeUpstream`]: a stateless provider of every [`Api`](antiphon_mock::Api) that records every
//!   request with its verdict and sends scripted replies.
//! - [`otlp`]: a receiver of OpenTelemetry's protocol that checks the traces.
//! - [`process`]: a gateway as a separate process, whose memory can be measured.
//! - [`postgres`]: a real PostgreSQL server that creates empty databases for tests.

pub mod otlp;
pub mod postgres;
pub mod process;
mod upstream;

pub use upstream::{FakeUpstream, Recorded};
