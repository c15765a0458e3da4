//! An upstream, an assembler, and a client that checks every stream.

use bytes::Bytes;
use serde_json::Value;

use super::checker::{Upstream, check};
use crate::item::{FingerprintKey, IdSource, Item};
use crate::json::Object;
use crate::stream::{
    Assembler, Envelope, Event, Failure, Finished, Form, Permission, ReasoningForm, UsedIds,
};
use crate::transcript::{HeldItem, Origin, Transcript};

pub(crate) const NOW: i64 = 1_770_000_060;

/// Sequential ids.
#[derive(Default)]
struct Counting(u64);

impl IdSource for Counting {
    fn fill(&mut self, bytes: &mut [u8]) {
        self.0 += 1;
        let at = bytes.len() - 8;
        bytes[at..].copy_from_slice(&self.0.to_be_bytes());
    }
}

/// The request and the conversation.
#[derive(Default)]
pub(crate) struct World {
    held: Vec<Item>,
    upstream: Upstream,
    hides_encrypted: bool,
    form: Form,
    reasoning: ReasoningForm,
    /// The request's `tool_choice`, raw.
    tool_choice: Option<String>,
    /// The request allows one call.
    one_call: bool,
}

/// The client's events, and the output to store.
pub(crate) struct ClientView {
    pub(crate) raw: Vec<Event>,
    /// The same events as JSON, the terminal one included.
    pub(crate) events: Vec<Value>,
    pub(crate) finished: Finished,
}

impl World {
    /// A conversation with these items.
    pub(crate) fn holding(items: &[Value]) -> Self {
        let parsed = |item: &Value| Item::parse(item.to_string().into()).unwrap();
        Self { held: items.iter().map(parsed).collect(), ..Self::default() }
    }

    /// The request does not ask for encrypted reasoning.
    pub(crate) fn without_encrypted() -> Self {
        Self { hides_encrypted: true, ..Self::default() }
    }

    /// The upstream may contradict itself.
    pub(crate) fn with_contradictory_upstream(self) -> Self {
        Self { upstream: Upstream::Contradictory, ..self }
    }

    /// The upstream stores the conversation, under its own ids.
    pub(crate) fn owned_by_upstream(self) -> Self {
        Self { upstream: Upstream::Keeping, ..self }
    }

    /// The client expects the event names of this specification.
    pub(super) fn reading(form: Form) -> Self {
        Self { form, ..Self::default() }
    }

    /// The client gets reasoning in this form.
    pub(crate) fn showing(reasoning: ReasoningForm) -> Self {
        Self { reasoning, ..Self::default() }
    }

    /// The request has this `tool_choice`.
    pub(crate) fn choosing(tool_choice: &Value) -> Self {
        Self { tool_choice: Some(tool_choice.to_string()), ..Self::default() }
    }

    /// The request allows one call only.
    pub(super) fn one_call_at_a_time() -> Self {
        Self { one_call: true, ..Self::default() }
    }

    pub(crate) fn assembler(&self) -> Assembler {
        let mut request = Object::parse(br#"{"model":"sim"}"#).unwrap();
        if let Some(choice) = &self.tool_choice {
            request.set("tool_choice", choice.clone());
        }
        if self.one_call {
            request.set("parallel_tool_calls", "false");
        }
        let mut envelope = Envelope::new("resp_ours", 1_770_000_000, &request, None);
        if self.upstream == Upstream::Keeping {
            envelope = envelope.owned_by_upstream();
        }
        let ids = Box::new(Counting::default());
        Assembler::new(envelope, self.taken(), ids, !self.hides_encrypted)
            .with_form(self.form)
            .with_reasoning(self.reasoning)
            .with_permission(Permission::from_request(&request))
    }

    fn taken(&self) -> UsedIds {
        let key = FingerprintKey::new([0; 16]);
        let origin = Some(Origin::new("sim"));
        let held = self.held.iter().map(|item| {
            let id = item.head().id.clone().unwrap();
            HeldItem::new(id, item, key, origin.clone())
        });
        let transcript: Transcript = held.collect();
        match self.upstream {
            Upstream::Keeping => UsedIds::item_ids_only(&transcript),
            Upstream::Coherent | Upstream::Contradictory => UsedIds::from_transcript(&transcript),
        }
    }

    /// The upstream sends these events, then breaks off if none of them ends the response.
    pub(crate) fn hears(&self, events: &[Value]) -> ClientView {
        let events: Vec<Bytes> = events.iter().map(|event| event.to_string().into()).collect();
        self.hears_bytes(&events)
    }

    /// The same with the events as bytes.
    pub(crate) fn hears_bytes(&self, events: &[Bytes]) -> ClientView {
        let mut assembler = self.assembler();
        for event in events {
            assembler.apply_event(event).unwrap();
        }
        self.ends(assembler)
    }

    /// The end of the response for a client that reads no events and for one that reads them all.
    pub(crate) fn ends_for_both(&self, events: &[Value]) -> [Finished; 2] {
        [self.assembler().without_events(), self.assembler()].map(|mut assembler| {
            for event in events {
                assembler.apply_event(&event.to_string().into()).unwrap();
            }
            assembler.fail(Failure::server_error("The upstream broke off."));
            while assembler.next_event().is_some() {}
            assembler.finish(NOW)
        })
    }

    /// The upstream answers with one object.
    pub(crate) fn hears_whole(&self, response: &Value) -> ClientView {
        let mut assembler = self.assembler();
        assembler.apply_response(&response.to_string().into()).unwrap();
        self.ends(assembler)
    }

    /// Ends the upstream's stream: it breaks off if the response has not ended.
    pub(crate) fn ends(&self, mut assembler: Assembler) -> ClientView {
        assembler.fail(Failure::server_error("The upstream broke off."));
        let mut raw: Vec<Event> = std::iter::from_fn(|| assembler.next_event()).collect();
        let finished = assembler.finish(NOW);
        raw.push(finished.event.clone());
        let events = raw.iter().map(json).collect();
        let received = ClientView { raw, events, finished };
        received.check(self);
        received
    }
}

/// The upstream sends these events for a request with all options, in a new conversation.
pub(crate) fn hears(events: &[Value]) -> ClientView {
    World::default().hears(events)
}

/// Parses an event, and checks its type and that it is one line.
pub(crate) fn json(event: &Event) -> Value {
    let json: Value = serde_json::from_slice(&event.data).unwrap();
    assert_eq!(json["type"], *event.kind);
    assert!(!event.data.contains(&b'\n') && !event.data.contains(&b'\r'));
    json
}

impl ClientView {
    fn check(&self, world: &World) {
        if let Err(broken) = check(&self.events, world.upstream) {
            panic!("{broken}\n{}", self.story());
        }
        let shown = self.story();
        assert!(!world.hides_encrypted || !shown.contains("encrypted_content"), "{shown}");
        let response: Value = serde_json::from_str(&self.finished.response).unwrap();
        assert_eq!(response, self.last()["response"]);
    }

    /// The events, one per line.
    pub(crate) fn story(&self) -> String {
        let lines: Vec<String> = self.events.iter().map(Value::to_string).collect();
        lines.join("\n")
    }

    /// The types of the events without `response.`, from the first item on.
    pub(crate) fn kinds(&self) -> Vec<&str> {
        let kinds = self.events.iter().skip(2);
        kinds
            .map(|event| event["type"].as_str().unwrap())
            .map(|kind| kind.strip_prefix("response.").unwrap_or(kind))
            .collect()
    }

    pub(crate) fn events_named(&self, kind: &str) -> Vec<&Value> {
        let kind = format!("response.{kind}");
        self.events.iter().filter(|event| event["type"] == *kind).collect()
    }

    pub(crate) fn last(&self) -> &Value {
        self.events.last().unwrap()
    }

    /// The finished response's output.
    pub(crate) fn output(&self) -> Vec<Value> {
        self.last()["response"]["output"].as_array().unwrap().clone()
    }

    /// The only item of the output.
    pub(crate) fn only_item(&self) -> Value {
        let output = self.output();
        assert_eq!(output.len(), 1, "{}", self.story());
        output[0].clone()
    }

    /// The concatenated deltas of events of this type.
    pub(crate) fn deltas(&self, kind: &str) -> String {
        let deltas = self.events_named(kind);
        deltas.iter().map(|event| event["delta"].as_str().unwrap()).collect()
    }

    /// The items to store, as JSON.
    pub(crate) fn kept(&self) -> Vec<Option<Value>> {
        let kept = self.finished.output.iter().map(|output| &output.item);
        kept.map(|item| Some(serde_json::from_str(item.as_ref()?.text()).unwrap())).collect()
    }
}
