//! A receiver of OpenTelemetry's protocol (OTLP) over HTTP: it decodes the protobuf messages, keeps
//! the spans and checks them.

mod check;
mod receiver;
mod report;
mod span;

pub use self::check::{contain, faults};
pub use self::receiver::{Export, Receiver};
pub(crate) use self::receiver::{Received, router};
pub(crate) use self::report::report;
pub use self::span::{Kind, Span, Value};
