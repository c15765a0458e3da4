//! The traces of requests, and the spans of their log lines.
//!
//! A log line has the fields of its request's log span (`log_span`). A trace is exported over OTLP
//! ([`crate::otlp`]) if the operator has set an exporter:
//!
//! ```text
//! POST /v1/responses          server span of the request (`request`)
//! ├─ open, load, reconcile    stages of the turn (`Stage`)
//! ├─ send
//! ├─ chat gpt-5               the answer of the model, retries included (`chat`)
//! │  ├─ POST /responses       a request to the upstream (`attempt`)
//! │  └─ POST /responses       the same request, sent again
//! ├─ stream
//! └─ commit
//! ```
//!
//! Spans are made directly and not from log spans: a request that is not sampled has no span at
//! all, and the level of the log decides nothing about traces.
//!
//! The attributes follow OpenTelemetry's conventions. None has the text of items, unless the
//! operator asks for it (`content`).

mod attempt;
mod chat;
mod content;
mod finish_reason;
mod log_span;
mod request;
mod turn_end;

pub(crate) use self::attempt::{AttemptSpan, SentBy};
pub(crate) use self::chat::{ChatSpan, Provider};
pub(crate) use self::log_span::{
    MAX_REASON, MAX_TEXT, lane_span, record_conversation, record_trace, record_turn, request_span,
    shortened,
};
pub(crate) use self::request::ConnectionTrace;
pub(crate) use self::turn_end::EndedTurnFacts;
