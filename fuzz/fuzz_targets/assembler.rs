//! For any stream of an upstream, the client gets one well-formed stream.
#![no_main]

use std::collections::HashSet;

use antiphon::Item;
use antiphon::stream::{Assembler, Event, Failure, Finished, Status};
use antiphon_fuzz::client::responses::{TERMINAL, check, json};
use antiphon_fuzz::gateway::{NOW, assembler};
use antiphon_fuzz::stream::events;
use bytes::Bytes;
use libfuzzer_sys::fuzz_target;
use serde_json::Value;

fuzz_target!(|bytes: &[u8]| {
    for encrypted in [true, false] {
        let output = assemble(bytes, encrypted).all_events();
        check(&output);
        assert!(
            encrypted || !output.iter().any(shows_encrypted),
            "encrypted reasoning was not requested"
        );
    }
    check_disconnect(assemble(bytes, true));
    whole(bytes);
});

/// An assembler and the events it has emitted.
struct Output {
    assembler: Assembler,
    events: Vec<Event>,
}

impl Output {
    fn hear(&mut self, event: &Bytes) {
        if let Err(error) = self.assembler.apply_event(event) {
            self.assembler.fail(Failure::server_error(error.to_string()));
        }
        self.drain();
    }

    fn drain(&mut self) {
        self.events.extend(std::iter::from_fn(|| self.assembler.next_event()));
    }

    /// The whole stream. If the upstream has not ended it, the connection broke.
    fn all_events(mut self) -> Vec<Value> {
        self.assembler.fail(Failure::server_error("The upstream broke off."));
        self.drain();
        let finished = self.assembler.finish(NOW);
        self.events.push(finished.event.clone());
        ids_are_distinct(&finished);
        let response: Option<Value> = serde_json::from_str(&finished.response).ok();
        let output: Vec<Value> = self.events.iter().map(json).collect();
        let last = output.last().and_then(|event| event.get("response"));
        assert!(last.is_none() || last == response.as_ref(), "the last event has the response");
        output
    }
}

fn assemble(bytes: &[u8], encrypted: bool) -> Output {
    let mut output = Output { assembler: assembler(encrypted), events: Vec::new() };
    for event in events(bytes) {
        output.hear(&event);
    }
    output
}

/// The caller disconnects: it gets no end, and the stored response can be continued.
fn check_disconnect(output: Output) {
    let finished = output.assembler.finish_disconnected(NOW);
    ids_are_distinct(&finished);
    let kept: Vec<Item> = finished.output.into_iter().filter_map(|output| output.item).collect();
    let last = kept.last().map(|item| item.head().kind.as_str());
    assert!(finished.status != Status::Cancelled || last != Some("reasoning"), "lone reasoning");
}

fn ids_are_distinct(finished: &Finished) {
    let ids: HashSet<&str> = finished.output.iter().map(|output| output.id.as_str()).collect();
    assert_eq!(ids.len(), finished.output.len(), "no id twice");
}

/// The same bytes as the body of an answer without streaming.
fn whole(bytes: &[u8]) {
    let mut output = Output { assembler: assembler(true), events: Vec::new() };
    if output.assembler.apply_response(&Bytes::copy_from_slice(bytes)).is_ok() {
        check(&output.all_events());
    }
}

/// Whether the event contains encrypted reasoning. Events of unknown types are forwarded unchanged
/// and do not count.
fn shows_encrypted(event: &Value) -> bool {
    let is_shown = |item: &Value| {
        let content = item["encrypted_content"].as_str().unwrap_or_default();
        item["type"] == "reasoning" && !content.is_empty()
    };
    match event["type"].as_str() {
        Some("response.output_item.added" | "response.output_item.done") => {
            is_shown(&event["item"])
        }
        Some(kind) if TERMINAL.contains(&kind) => {
            event["response"]["output"].as_array().is_some_and(|output| output.iter().any(is_shown))
        }
        _ => false,
    }
}
