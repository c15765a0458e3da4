//! Properties of the assembler, for generated streams with and without faults.

use std::collections::BTreeSet;

use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use serde_json::{Value, json};

use super::events::{call, completed, created, in_progress, message};
use super::generator::{Role, Spoken, Stream, answer, stream};
use super::mangler::{HELD_CALL, HELD_ID, Mangling, manglings};
use super::world::{ClientView, World, hears};

fn config() -> ProptestConfig {
    ProptestConfig {
        rng_seed: RngSeed::Fixed(0x616e_7469_7068_6f6e),
        failure_persistence: None,
        ..ProptestConfig::with_cases(512)
    }
}

proptest! {
    #![proptest_config(config())]

    /// The checking client accepts the output.
    #[test]
    fn output_is_well_formed_for_any_upstream(
        answer in answer(),
        manglings in manglings(),
        side_by_side: bool,
        ends: bool,
    ) {
        let mut stream = stream(&answer, side_by_side);
        for mangling in &manglings {
            stream.mangle(mangling);
        }
        receive(&world().with_contradictory_upstream(), &stream, ends);
    }

    #[test]
    fn model_output_is_emitted_once(
        answer in answer(),
        manglings in manglings(),
        side_by_side: bool,
    ) {
        let mut stream = stream(&answer, side_by_side);
        let manglings = Mishaps(manglings);
        prop_assume!(manglings.leave_the_answer_known());
        manglings.0.iter().for_each(|mangling| stream.mangle(mangling));
        let received = receive(&world(), &stream, true);
        let reply: BTreeSet<String> = received.output().iter().map(saying).collect();
        let meant: BTreeSet<String> = final_items(&answer).iter().map(saying).collect();
        prop_assert_eq!(received.output().len(), answer.len(), "{}", received.story());
        prop_assert_eq!(reply, meant, "{}", received.story());
    }

    #[test]
    fn generated_stream_keeps_its_bytes(answer in answer(), side_by_side: bool) {
        let stream = stream(&answer, side_by_side);
        let events = numbered(&stream);
        let received = World::default().hears(&events);
        prop_assert_eq!(&received.output(), &stream.output);
        for (passed, came) in received.raw[2..].iter().zip(&events[2..events.len() - 1]) {
            prop_assert_eq!(str::from_utf8(&passed.data).unwrap(), came.to_string());
        }
        prop_assert!(received.finished.notes.is_empty());
    }

    #[test]
    fn whole_answer_equals_its_stream(answer in answer()) {
        let stream = stream(&answer, false);
        let whole = World::default().hears_whole(&json!({"output": stream.output}));
        prop_assert_eq!(whole.output(), stream.output);
    }

    #[test]
    fn response_is_the_same_without_events(
        answer in answer(),
        manglings in manglings(),
        side_by_side: bool,
        is_whole: bool,
    ) {
        let mut stream = stream(&answer, side_by_side);
        for mangling in &manglings {
            stream.mangle(mangling);
        }
        let sent = match is_whole {
            true => vec![json!({"object": "response", "output": stream.output})],
            false => events(&stream, true),
        };
        let [silent, heard] = world().ends_for_both(&sent);
        prop_assert_eq!(silent.response, heard.response);
        prop_assert_eq!((silent.output, silent.notes), (heard.output, heard.notes));
    }

    #[test]
    fn broken_stream_adds_no_content(
        answer in answer(),
        side_by_side: bool,
        at: prop::sample::Index,
    ) {
        let mut stream = stream(&answer, side_by_side);
        stream.mangle(&Mangling::Cut { at });
        let received = receive(&world(), &stream, false);
        prop_assert_eq!(&received.last()["type"], "response.failed");
        let done = stream.events.iter().filter(|sent| matches!(sent.of, Some((_, Role::Done))));
        let finished = received.finished.output.iter().filter(|output| {
            output.item.as_ref().is_some_and(|item| !item.head().unfinished)
        });
        prop_assert!(finished.count() <= done.count());
        for (reply, meant) in received.output().iter().zip(&stream.output) {
            prop_assert!(saying(meant).starts_with(&saying(reply)));
        }
    }

    #[test]
    fn held_ids_are_never_reused(answer in answer(), manglings in manglings()) {
        let mut stream = stream(&answer, false);
        for mangling in &manglings {
            stream.mangle(mangling);
        }
        let world = world().with_contradictory_upstream();
        for item in receive(&world, &stream, true).output() {
            prop_assert_ne!(&item["id"], HELD_ID);
            prop_assert!(item["call_id"] != HELD_CALL || item["type"] != "function_call");
        }
    }
}

fn world() -> World {
    World::holding(&[message(HELD_ID, "Earlier."), call("fc_held", HELD_CALL, "{}")])
}

fn receive(world: &World, stream: &Stream, ends: bool) -> ClientView {
    world.hears(&events(stream, ends))
}

/// The upstream's events.
fn events(stream: &Stream, ends: bool) -> Vec<Value> {
    let mut events = vec![created(), in_progress()];
    events.extend(stream.events.iter().map(|sent| sent.json.clone()));
    if ends {
        events.push(completed(&stream.output));
        events.push(json!({"type": "response.failed"}));
    }
    events
}

/// The upstream's events, with the numbers that clients get.
fn numbered(stream: &Stream) -> Vec<Value> {
    let within = stream.events.iter().map(|sent| sent.json.clone());
    let events = [created(), in_progress()].into_iter().chain(within);
    let events = events.chain([completed(&stream.output)]);
    let number = |(number, mut event): (usize, Value)| {
        event["sequence_number"] = number.into();
        event
    };
    events.enumerate().map(number).collect()
}

fn final_items(answer: &[Spoken]) -> Vec<Value> {
    stream(answer, false).output
}

/// The content of an item, without its names.
fn saying(item: &Value) -> String {
    let parts = [&item["summary"], &item["content"]];
    let parts = parts.into_iter().filter_map(Value::as_array).flatten();
    let text = |part: &Value| {
        let text = part["text"].as_str().or_else(|| part["refusal"].as_str());
        text.unwrap_or_default().to_owned()
    };
    let arguments = item["arguments"].as_str().unwrap_or_default();
    let arguments = serde_json::from_str::<Value>(arguments)
        .map_or_else(|_| arguments.to_owned(), |arguments| arguments.to_string());
    let input = item["input"].as_str().unwrap_or_default();
    format!(
        "{} {} {}{arguments}{input}",
        item["type"],
        item["action"],
        parts.map(text).collect::<String>()
    )
}

struct Mishaps(Vec<Mangling>);

impl Mishaps {
    fn any(&self, is_it: impl Fn(&Mangling) -> bool) -> bool {
        self.0.iter().any(is_it)
    }

    /// Whether the answer can still be recovered from the stream. Items are identified by names, by
    /// indexes, and by their announcement and end; the faults may spoil only one of the three.
    fn leave_the_answer_known(&self) -> bool {
        use Mangling as M;
        let spoils_names = |it: &M| {
            matches!(
                it,
                M::Named { .. }
                    | M::CallNamed { .. }
                    | M::OtherFinalId { .. }
                    | M::OtherIdInOutput { .. }
                    | M::OneCallId
            )
        };
        let spoils_indexes = |it: &M| matches!(it, M::OneIndex | M::OtherIndexes { .. });
        let lacks_events = |it: &M| {
            matches!(
                it,
                M::Omitted { role: Role::Added | Role::Done, .. }
                    | M::AnnouncedLate { .. }
                    | M::Cut { .. }
            )
        };
        let tells_twice = |it: &M| matches!(it, M::SentAgain { .. } | M::AnnouncedAgain { .. });
        let spoils_the_story = |it: &M| lacks_events(it) || tells_twice(it);
        let spoiled =
            [self.any(spoils_names), self.any(spoils_indexes), self.any(spoils_the_story)];
        let count = spoiled.into_iter().filter(|is_spoiled| *is_spoiled).count();
        // Two items with the same name cannot be distinguished by name.
        let named = self.0.iter().filter(|it| matches!(it, M::Named { .. })).count();
        let has_an_end = !self.any(|it| matches!(it, M::EmptyOutput)) || !self.any(lacks_events);
        count <= 1 && named <= 1 && has_an_end
    }
}

#[test]
fn empty_answer_has_no_output() {
    assert!(hears(&[created(), completed(&[])]).output().is_empty());
}
