//! Well-formed events are forwarded byte for byte.

use bytes::Bytes;

use super::world::{ClientView, World};

/// A provider's stream, with the numbers and indexes that clients get.
fn stream() -> Vec<&'static str> {
    include_str!("forwarding.jsonl").lines().collect()
}

fn hears(stream: impl IntoIterator<Item = String>) -> ClientView {
    let mut events: Vec<Bytes> = stream.into_iter().map(Bytes::from).collect();
    events.push(Bytes::from_static(br#"{"type":"response.completed"}"#));
    World::default().hears_bytes(&events)
}

#[test]
fn well_formed_stream_keeps_its_bytes() {
    let stream = stream();
    let received = hears(stream.iter().map(ToString::to_string));
    let between = &received.raw[2..received.raw.len() - 1];
    let passed: Vec<_> = between.iter().map(|event| str::from_utf8(&event.data).unwrap()).collect();
    assert_eq!(passed, stream[2..]);
    assert!(received.finished.notes.is_empty());
}

#[test]
fn only_wrong_sequence_numbers_are_changed() {
    let stream = stream();
    let numbered =
        |line: &&str| line.replacen(r#""sequence_number":"#, r#""sequence_number":7"#, 1);
    let received = hears(stream.iter().map(numbered));
    let between = &received.raw[2..received.raw.len() - 1];
    let passed: Vec<_> = between.iter().map(|event| str::from_utf8(&event.data).unwrap()).collect();
    assert_eq!(passed, stream[2..]);
}

/// Source: the Open Responses specification requires a status on every item. OpenAI omits it on
/// reasoning, and rejects reasoning that is sent back with one.
#[test]
fn status_is_added_for_clients_only() {
    let stream = stream();
    let bare = |line: &&str| {
        let line =
            line.replace(r#""type":"reasoning","status":"in_progress""#, r#""type":"reasoning""#);
        line.replace(r#""type":"reasoning","status":"completed""#, r#""type":"reasoning""#)
    };
    let received = hears(stream.iter().map(bare));
    let status = |kind: &str| received.events_named(kind)[0]["item"]["status"].clone();
    assert_eq!(status("output_item.added"), "in_progress");
    assert_eq!(status("output_item.done"), "completed");
    assert_eq!(received.output()[0]["status"], "completed");
    let kept = received.finished.output[0].item.as_ref().unwrap().text();
    assert!(bare(&stream[7]).contains(kept) && !kept.contains("status"), "{kept}");
}

#[test]
fn stored_items_keep_their_bytes() {
    let stream = stream();
    let received = hears(stream.iter().map(ToString::to_string));
    let kept = |at: usize| received.finished.output[at].item.as_ref().unwrap().text();
    assert!(stream[7].contains(kept(0)) && stream[13].contains(kept(1)));
    assert!(stream[17].contains(kept(2)) && stream[24].contains(kept(4)));
}

#[test]
fn multi_line_event_is_forwarded_in_one_line() {
    let pretty = "{\"type\":\"acme:ping\",\n\"sequence_number\":2,\r\n\"fields\":[1,\n2]}";
    let received = hears([pretty.to_owned()]);
    let fields = serde_json::json!([1, 2]);
    assert_eq!(
        (&received.events[2]["type"], &received.events[2]["fields"]),
        (&"acme:ping".into(), &fields)
    );
}

#[test]
fn sse_event_name_is_the_type() {
    let stream = stream();
    let received = hears([stream[18].replace("18", "2")]);
    let expected = "event: keepalive\ndata: {\"type\":\"keepalive\",\"sequence_number\":2}\n\n";
    assert_eq!(received.raw[2].to_sse(), expected);
}

#[test]
fn item_events_get_our_id_and_index() {
    let stream = stream();
    let renamed =
        stream[8].replace("msg_1", "m1").replace("\"output_index\":1", "\"output_index\":5");
    let delta =
        stream[10].replace("msg_1", "m1").replace("\"output_index\":1", "\"output_index\":5");
    let received = hears([renamed, delta]);
    let id = received.only_item()["id"].clone();
    let delta = received.events_named("output_text.delta")[0];
    assert_eq!((&delta["item_id"], &delta["output_index"]), (&id, &0.into()));
    assert_eq!(delta["obfuscation"], "x2");
}
