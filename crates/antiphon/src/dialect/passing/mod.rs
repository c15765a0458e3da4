//! Answers that pass from an upstream to a client of the same API, without calls that are
//! announced twice.
//!
//! Models and proxies sometimes announce one tool call twice, with the same id. A client would run
//! its tool twice, and the provider rejects both calls in the next request. A repeated call with
//! the arguments of the first, or without any, is removed, and the calls after it move up. With
//! other arguments it is another call, and gets an id of its own.
//!
//! - [`events`]: splits a stream into events that keep their bytes.
//! - [`chat`], [`anthropic`]: the calls of an answer in these APIs.
//!
//! Everything else keeps its bytes. An answer that is not understood passes as it is.

mod anthropic;
mod calls;
mod chat;
mod events;
#[cfg(test)]
mod tests;

use bytes::Bytes;

use self::anthropic::AnthropicEvents;
use self::chat::ChatEvents;
use self::events::{RawEvent, RawEvents};
use super::ClientApi;

/// An answer in pieces, as it passes.
#[derive(Debug)]
pub struct PassingAnswer {
    form: Form,
    /// The maximum number of bytes that are held.
    limit: usize,
    repairs: u64,
}

#[derive(Debug)]
enum Form {
    Stream {
        split: RawEvents,
        events: Events,
    },
    /// A JSON object, which is held until its end.
    Json {
        api: ClientApi,
        held: Vec<u8>,
    },
    /// An answer over the limit: the rest passes as it is.
    Unchecked,
}

/// The events of a stream of one API.
#[derive(Debug)]
enum Events {
    Chat(ChatEvents),
    Anthropic(Box<AnthropicEvents>),
}

impl PassingAnswer {
    /// A stream of server-sent events. It holds at most `limit` bytes of unfinished events and
    /// repeated calls; if there are more, the rest of the stream passes as it is.
    pub fn stream(api: ClientApi, limit: usize) -> Self {
        let events = match api {
            ClientApi::Chat => Events::Chat(ChatEvents::default()),
            ClientApi::Anthropic => Events::Anthropic(Box::default()),
            // No upstream has this API.
            ClientApi::Gemini => return Self { form: Form::Unchecked, limit, repairs: 0 },
        };
        Self { form: Form::Stream { split: RawEvents::default(), events }, limit, repairs: 0 }
    }

    /// A JSON object. If it has more than `limit` bytes, it passes as it is.
    pub fn json(api: ClientApi, limit: usize) -> Self {
        Self { form: Form::Json { api, held: Vec::new() }, limit, repairs: 0 }
    }

    /// The number of calls so far that were removed or got another id.
    pub fn repairs(&self) -> u64 {
        self.repairs
    }

    /// Adds the next bytes, and returns the bytes to send.
    pub fn push(&mut self, piece: &Bytes) -> Bytes {
        let sent = match &mut self.form {
            Form::Unchecked => return piece.clone(),
            Form::Json { held, .. } => {
                held.extend_from_slice(piece);
                Bytes::new()
            }
            Form::Stream { split, events } => {
                // Most pieces are whole events without calls, and pass without a copy.
                if split.is_empty() && events.is_idle() && events::passes(piece) {
                    return piece.clone();
                }
                split.push(piece);
                let mut sent = Vec::new();
                while let Some(event) = split.next_event() {
                    self.repairs += events.add(event, &mut sent);
                }
                sent.into()
            }
        };
        if self.held() <= self.limit { sent } else { self.give_up(sent) }
    }

    /// The remaining bytes at the end of the answer.
    pub fn finish(&mut self) -> Bytes {
        match std::mem::replace(&mut self.form, Form::Unchecked) {
            Form::Unchecked => Bytes::new(),
            Form::Json { api, held } => {
                let (whole, repairs) = match api {
                    ClientApi::Chat => chat::without_repeats(held),
                    ClientApi::Anthropic => anthropic::without_repeats(held),
                    ClientApi::Gemini => (held, 0),
                };
                self.repairs += repairs;
                whole.into()
            }
            Form::Stream { mut split, mut events } => {
                let mut sent = Vec::new();
                self.repairs += events.end(&mut sent);
                sent.extend_from_slice(&split.rest());
                sent.into()
            }
        }
    }

    fn held(&self) -> usize {
        match &self.form {
            Form::Unchecked => 0,
            Form::Json { held, .. } => held.len(),
            Form::Stream { split, events } => split.len() + events.held(),
        }
    }

    /// Sends the held bytes as they came, and no longer looks for calls.
    fn give_up(&mut self, sent: Bytes) -> Bytes {
        let mut all = Vec::from(sent);
        match std::mem::replace(&mut self.form, Form::Unchecked) {
            Form::Unchecked => {}
            Form::Json { held, .. } => all.extend_from_slice(&held),
            Form::Stream { mut split, mut events } => {
                events.release(&mut all);
                all.extend_from_slice(&split.rest());
            }
        }
        all.into()
    }
}

impl Events {
    /// Whether the next event without a call passes as it is.
    fn is_idle(&self) -> bool {
        match self {
            Self::Chat(events) => events.is_idle(),
            Self::Anthropic(events) => events.is_idle(),
        }
    }

    fn held(&self) -> usize {
        match self {
            Self::Chat(events) => events.held(),
            Self::Anthropic(events) => events.held(),
        }
    }

    /// Adds an event, and writes the events that pass. Returns the number of repairs.
    fn add(&mut self, event: RawEvent, sent: &mut Vec<u8>) -> u64 {
        if self.is_idle() && events::passes(&event.bytes) {
            sent.extend_from_slice(&event.bytes);
            return 0;
        }
        match self {
            Self::Chat(events) => events.add(&event, sent),
            Self::Anthropic(events) => events.add(event, sent),
        }
    }

    /// Writes the held calls that are not repeats. Returns the number of repairs.
    fn end(&mut self, sent: &mut Vec<u8>) -> u64 {
        match self {
            Self::Chat(events) => events.end(sent),
            Self::Anthropic(events) => {
                events.release(sent);
                0
            }
        }
    }

    /// Writes everything that is held, as it came.
    fn release(&mut self, sent: &mut Vec<u8>) {
        match self {
            Self::Chat(events) => events.release(sent),
            Self::Anthropic(events) => events.release(sent),
        }
    }
}
