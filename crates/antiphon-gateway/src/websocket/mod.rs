//! The WebSocket mode of `/v1/responses`: one connection, many turns.
//!
//! A client sends `response.create`, which is a request body with that `type`. It receives each
//! event of the response as a text message of JSON. A rejected event leads to an `error` message,
//! and the connection stays open.
//!
//! With `stream_id` a client names a *lane*. The turns of one lane run one after the other. Turns
//! of several lanes run at once, and their events carry the lane's name.
//!
//! A turn is the same as over HTTP, with one exception: the connection remembers a response that is
//! not stored, so that the next turn can continue it.
//!
//! Source: the provider's guide to its WebSocket mode, the types of its clients, and the Open
//! Responses specification, whose connections have a single lane without a name.

mod client_event;
mod control_frames;
mod frame;
mod keepalive;
mod lane_events;
mod lanes;
mod socket;

pub(crate) use self::socket::Socket;
