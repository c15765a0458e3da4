//! Spans of traces: their handles, their names and their contexts.
//!
//! [`crate::trace`] decides which spans there are. Without an exporter a [`TraceSpan`] is an empty
//! option.

pub(crate) mod attribute;
pub(crate) mod context;
mod handle;
mod stage;
mod tracer;

pub(crate) use self::handle::{Policy, TraceSpan, count, optional};
pub(crate) use self::stage::{ErrorType, Stage, StageSpan};
pub(crate) use self::tracer::{Tracer, Tracing};
