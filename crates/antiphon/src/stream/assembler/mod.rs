//! The one place where output items and events are made.

mod ending;
mod identity;

use std::collections::HashMap;

use bytes::Bytes;

pub use ending::{Ending, Failure, Finished, Output, Status};
pub use identity::{Note, Taken};

use self::identity::Identity;
use super::emitter::{Emitter, Event};
use super::envelope::Envelope;
use super::output_item::{OutputItem, Showing};
use crate::item::{CallKey, IdSource, Item, Side};
use crate::json::{Object, quote};

/// Makes one well-formed stream of Responses events, and the response that it tells of, from
/// whatever an upstream sends.
///
/// ```text
///   Awaited ── first event ──> Open ── terminal event / fail ──> Ended
/// ```
///
/// Guarantees: `response.created` first; sequence numbers from 0 without gaps; per item one
/// `output_item.added`, then its parts, then one `output_item.done`, all with one id; per `call_id`
/// one item, however many times it is announced; ids that are empty, malformed or taken are
/// replaced before their first event leaves; every open item is closed; one terminal event, given by
/// [`Assembler::finish`], so that it can be held back until the turn is committed.
pub struct Assembler {
    envelope: Envelope,
    identity: Identity,
    showing: Showing,
    emitter: Emitter,
    items: Vec<OutputItem>,
    /// Which item the upstream's events for an output index belong to.
    routes: HashMap<u64, Route>,
    by_call: HashMap<CallKey, usize>,
    phase: Phase,
}

#[derive(Clone, Copy, Debug)]
enum Route {
    /// To the item at this position.
    Item(usize),
    /// A second announcement of the item at this position: it adds nothing.
    Echo(usize),
}

#[derive(Debug)]
enum Phase {
    Awaited,
    Open,
    Ended(Ending),
}

impl Assembler {
    /// An assembler for the response that `envelope` describes. `taken` are the ids that the
    /// conversation holds already; `encrypted` says whether the caller asked for encrypted
    /// reasoning.
    pub fn new(
        envelope: Envelope,
        taken: Taken,
        ids: Box<dyn IdSource + Send>,
        encrypted: bool,
    ) -> Self {
        Self {
            envelope,
            identity: Identity::new(taken, ids),
            showing: Showing { encrypted },
            emitter: Emitter::default(),
            items: Vec::new(),
            routes: HashMap::new(),
            by_call: HashMap::new(),
            phase: Phase::Awaited,
        }
    }

    /// The next event for the client. Changed by [`hear`](Self::hear) and [`fail`](Self::fail).
    pub fn next_event(&mut self) -> Option<Event> {
        self.emitter.next()
    }

    /// Whether the upstream has ended the response, or failed.
    pub fn has_ended(&self) -> bool {
        matches!(self.phase, Phase::Ended(_))
    }

    /// Takes one event of the upstream's Responses stream: its `type` and its JSON. Data that is no
    /// JSON object is a failure of the upstream.
    pub fn hear(&mut self, data: &Bytes) -> Result<(), serde_json::Error> {
        let event = Object::parse(data)?;
        let kind = event.string("type").unwrap_or_default().into_owned();
        if !self.has_ended() {
            self.announce_response(&event);
            self.take(&kind, data, &event);
        }
        Ok(())
    }

    /// Takes a whole response object, as an upstream answers when it does not stream.
    pub fn hear_whole(&mut self, data: &Bytes) -> Result<(), serde_json::Error> {
        let response = Object::parse(data)?;
        self.open(Some(&response));
        let status = response.string("status").map(std::borrow::Cow::into_owned);
        let status = status.as_deref().map_or(Status::Completed, Status::parse);
        self.end(status, &response);
        Ok(())
    }

    /// Ends the response because the upstream will not: open items are closed, the response is
    /// failed.
    pub fn fail(&mut self, failure: Failure) {
        if !self.has_ended() {
            self.open(None);
            self.close_items(false);
            self.phase = Phase::Ended(Ending::failed(failure));
        }
    }

    fn take(&mut self, kind: &str, data: &Bytes, event: &Object<'_>) {
        match kind.strip_prefix("response.").unwrap_or(kind) {
            "created" | "queued" | "in_progress" => {}
            "output_item.added" => self.added(event),
            "output_item.done" => self.done(event),
            "completed" => self.ended(Status::Completed, event),
            "incomplete" => self.ended(Status::Incomplete, event),
            "failed" | "cancelled" => self.ended(Status::Failed, event),
            "error" => self.fail(Failure::reported(event)),
            _ => self.within(kind, data, event),
        }
    }

    fn announce_response(&mut self, event: &Object<'_>) {
        let response = event
            .get("response")
            .and_then(|raw| Object::parse(raw.as_bytes()).ok());
        self.open(response.as_ref());
    }

    /// Emits `response.created` and `response.in_progress`, once.
    fn open(&mut self, reported: Option<&Object<'_>>) {
        if let Some(reported) = reported {
            self.envelope.adopt(reported);
        }
        if matches!(self.phase, Phase::Awaited) {
            self.phase = Phase::Open;
            let response = self.envelope.render(std::iter::empty());
            self.emitter
                .emit("response.created", &[("response", &response)]);
            self.emitter
                .emit("response.in_progress", &[("response", &response)]);
        }
    }

    fn added(&mut self, event: &Object<'_>) {
        let Some(item) = item_of(event) else { return };
        let route = self.route_of(&item);
        let route = route.unwrap_or_else(|| Route::Item(self.announce(&item)));
        self.routes.insert(upstream_index(event), route);
    }

    fn done(&mut self, event: &Object<'_>) {
        let Some(item) = item_of(event) else { return };
        let index = upstream_index(event);
        match self.routes.get(&index).copied() {
            Some(Route::Item(at)) => self.items[at].done(&item, &mut self.emitter, self.showing),
            Some(Route::Echo(at)) => self.echo_done(at, &item),
            None => {
                let at = self.whole(&item);
                self.routes.insert(index, Route::Item(at));
            }
        }
    }

    /// A second announcement ends: with the same, or, where the server gives every call one id,
    /// with another call, which is then an item of its own.
    fn echo_done(&mut self, at: usize, item: &Item) {
        if self.items[at].is_open() {
            self.items[at].done(item, &mut self.emitter, self.showing);
        } else if says_otherwise(self.items[at].item(), item) {
            self.whole(item);
        }
    }

    fn within(&mut self, kind: &str, data: &Bytes, event: &Object<'_>) {
        if event.get("output_index").is_none() {
            self.emitter.forward(kind, data, event, None);
        } else if let Some(Route::Item(at)) = self.routes.get(&upstream_index(event)) {
            self.items[*at].hear(kind, data, event, &mut self.emitter);
        }
    }

    fn ended(&mut self, status: Status, event: &Object<'_>) {
        let response = event
            .get("response")
            .and_then(|raw| Object::parse(raw.as_bytes()).ok());
        self.end(status, &response.unwrap_or_default());
    }

    fn end(&mut self, status: Status, response: &Object<'_>) {
        if self.has_ended() {
            return;
        }
        for item in final_items(response) {
            self.final_item(&item);
        }
        self.close_items(status == Status::Completed);
        self.phase = Phase::Ended(Ending::reported(status, response));
    }

    /// An item of the final output: known and done, known and open, or never announced.
    fn final_item(&mut self, item: &Item) {
        match self
            .identity
            .position(item)
            .or_else(|| self.call_position(item))
        {
            Some(at) => self.items[at].done(item, &mut self.emitter, self.showing),
            None => drop(self.whole(item)),
        }
    }

    /// The route of an item that has been announced before.
    fn route_of(&self, item: &Item) -> Option<Route> {
        let at = self
            .identity
            .position(item)
            .or_else(|| self.call_position(item))?;
        Some(Route::Echo(at))
    }

    /// The item that the same call was announced as; other names are other calls.
    fn call_position(&self, item: &Item) -> Option<usize> {
        let (Side::Call, key) = item.head().pairing()? else {
            return None;
        };
        let at = *self.by_call.get(&key)?;
        let name = |item: &Item| {
            item.object()
                .string("name")
                .map(std::borrow::Cow::into_owned)
        };
        (!key.call_id.as_str().is_empty() && name(self.items[at].item()) == name(item))
            .then_some(at)
    }

    fn announce(&mut self, item: &Item) -> usize {
        let at = self.items.len();
        let (id, call_id) = self.identity.assign(item, at);
        let output = OutputItem::announce(item, id, call_id, at, &mut self.emitter, self.showing);
        self.keep(item, output)
    }

    fn whole(&mut self, item: &Item) -> usize {
        let at = self.items.len();
        let (id, call_id) = self.identity.assign(item, at);
        let output = OutputItem::whole(item, id, call_id, at, &mut self.emitter, self.showing);
        self.keep(item, output)
    }

    fn keep(&mut self, item: &Item, output: OutputItem) -> usize {
        let at = self.items.len();
        if let Some((Side::Call, key)) = item.head().pairing() {
            self.by_call.entry(key).or_insert(at);
        }
        self.items.push(output);
        at
    }

    fn close_items(&mut self, completed: bool) {
        for item in &mut self.items {
            item.close(completed, &mut self.emitter, self.showing);
        }
    }

    fn error_json(failure: &Failure) -> String {
        format!(
            r#"{{"code":{},"message":{}}}"#,
            quote(&failure.code),
            quote(&failure.message)
        )
    }
}

fn item_of(event: &Object<'_>) -> Option<Item> {
    Item::parse(Bytes::copy_from_slice(event.get("item")?.as_bytes())).ok()
}

fn upstream_index(event: &Object<'_>) -> u64 {
    event
        .get("output_index")
        .and_then(|raw| raw.parse().ok())
        .unwrap_or(0)
}

fn final_items(response: &Object<'_>) -> Vec<Item> {
    let output = response.get("output").unwrap_or("[]");
    crate::item::items_of(&Bytes::copy_from_slice(output.as_bytes())).unwrap_or_default()
}

/// Whether two calls of one `call_id` ask for different things.
fn says_otherwise(one: &Item, two: &Item) -> bool {
    let asks = |item: &Item| {
        let object = item.object();
        ["name", "arguments", "input", "action", "operation"]
            .map(|key| object.get(key).map(str::to_owned))
    };
    asks(one) != asks(two)
}
