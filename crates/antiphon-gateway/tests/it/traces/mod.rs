//! The traces of requests, as a receiver of OTLP gets them.

mod background;
mod compaction;
mod content;
mod context;
mod documented;
mod endings;
mod outage;
mod repairs;
mod retries;
mod routes;
mod sampling;
mod turns;
mod upstream_state;
mod websocket;
mod world;

pub(crate) use world::{Trace, TracedWorld, is_background_turn, is_turn, received, telemetry};
