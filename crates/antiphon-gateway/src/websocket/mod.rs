//! The WebSocket mode of `/v1/responses`: one connection, many turns.
//!
//! A client sends `response.create`, a request's body with that `type`, and gets each event of the
//! response as a text message of JSON. What cannot be answered is told as an `error`; the connection
//! stays open. With `stream_id` a client names a *lane*: turns of one lane run one after the other, those
//! of several at once, and their events carry its name. A turn is the same as over HTTP, but for a
//! response that is not stored: its connection remembers it, so that it can be gone on from.
//!
//! Source: the provider's guide to its WebSocket mode, the types of its clients, and the Open Responses
//! specification, whose connections have the one lane without a name.

mod client_event;
mod control;
mod exchange;
mod frame;
mod lanes;
mod pulse;
mod socket;

pub(crate) use self::socket::Socket;
