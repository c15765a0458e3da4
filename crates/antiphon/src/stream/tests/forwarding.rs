//! Well-formed events are forwarded byte for byte.

use bytes::Bytes;

use super::world::{ClientView, World};

/// A provider's stream, with the numbers and indexes that clients get.
const STREAM: &[&str] = &[
    r#"{"type":"response.created","sequence_number":0,"response":{"id":"resp_up","output":[]}}"#,
    r#"{"type":"response.in_progress","sequence_number":1,"response":{"id":"resp_up","output":[]}}"#,
    r#"{"type":"response.output_item.added","sequence_number":2,"output_index":0,"item":{"id":"rs_1","type":"reasoning","status":"in_progress","encrypted_content":"gA","summary":[]}}"#,
    r#"{"type":"response.reasoning_summary_part.added","sequence_number":3,"item_id":"rs_1","output_index":0,"summary_index":0,"part":{"type":"summary_text","text":""}}"#,
    r#"{"type":"response.reasoning_summary_text.delta","sequence_number":4,"item_id":"rs_1","output_index":0,"summary_index":0,"delta":"Hm\u002e","obfuscation":"x1"}"#,
    r#"{"type":"response.reasoning_summary_text.done","sequence_number":5,"item_id":"rs_1","output_index":0,"summary_index":0,"text":"Hm\u002e"}"#,
    r#"{"type":"response.reasoning_summary_part.done","sequence_number":6,"item_id":"rs_1","output_index":0,"summary_index":0,"part":{"type": "summary_text","text":"Hm\u002e"}}"#,
    r#"{"type":"response.output_item.done","sequence_number":7,"output_index":0,"item":{"id":"rs_1","type":"reasoning","status":"completed","encrypted_content":"gAAA","summary":[{"type": "summary_text", "text":"Hm\u002e"}]}}"#,
    r#"{"type":"response.output_item.added","sequence_number":8,"output_index":1,"item":{"id":"msg_1","type":"message","status":"in_progress","content":[],"role":"assistant"}}"#,
    r#"{"type":"response.content_part.added","sequence_number":9,"item_id":"msg_1","output_index":1,"content_index":0,"part":{"type": "output_text","annotations":[],"logprobs":[],"text":""}}"#,
    r#"{"type":"response.output_text.delta","sequence_number":10,"item_id":"msg_1","output_index":1,"content_index":0,"delta":"Hello","logprobs":[],"obfuscation":"x2"}"#,
    r#"{"type":"response.output_text.done","sequence_number":11,"item_id":"msg_1","output_index":1,"content_index":0,"text":"Hello","logprobs":[]}"#,
    r#"{"type":"response.content_part.done","sequence_number":12,"item_id":"msg_1","output_index":1,"content_index":0,"part":{"type":"output_text","annotations":[],"logprobs":[],"text":"Hello"}}"#,
    r#"{"type":"response.output_item.done","sequence_number":13,"output_index":1,"item":{"id":"msg_1","type":"message","status":"completed","content":[{"type":"output_text","annotations":[],"logprobs":[],"text":"Hello"}],"role":"assistant"}}"#,
    r#"{"type":"response.output_item.added","sequence_number":14,"output_index":2,"item":{"id":"fc_1","type":"function_call","status":"in_progress","arguments":"","call_id":"call_1","name":"f"}}"#,
    r#"{"type":"response.function_call_arguments.delta","sequence_number":15,"item_id":"fc_1","output_index":2,"delta":"{ }"}"#,
    r#"{"type":"response.function_call_arguments.done","sequence_number":16,"item_id":"fc_1","output_index":2,"arguments":"{ }"}"#,
    r#"{"type":"response.output_item.done","sequence_number":17,"output_index":2,"item":{"id":"fc_1","type":"function_call","status":"completed","arguments":"{ }","call_id":"call_1","name":"f","namespace":null}}"#,
    r#"{"type":"keepalive","sequence_number":18}"#,
    r#"{"type":"response.output_item.added","sequence_number":19,"output_index":3,"item":{"id":"ws_1","type":"web_search_call","status":"in_progress","action":{"type":"search","query":""}}}"#,
    r#"{"type":"response.web_search_call.searching","sequence_number":20,"output_index":3,"item_id":"ws_1"}"#,
    r#"{"type":"response.output_item.done","sequence_number":21,"output_index":3,"item":{"id":"ws_1","type":"web_search_call","status":"completed","action":{"type":"search","query":"x"}}}"#,
    r#"{"type":"response.output_item.added","sequence_number":22,"output_index":4,"item":{"id":"acme_1","type":"acme:chart","status":"completed","cells":[1e2,9007199254740993]}}"#,
    r#"{"type":"acme:chart.drawn","sequence_number":23,"output_index":4,"cells":[1e2]}"#,
    r#"{"type":"response.output_item.done","sequence_number":24,"output_index":4,"item":{"id":"acme_1","type":"acme:chart","status":"completed","cells":[1e2,9007199254740993]}}"#,
];

fn hears(stream: impl IntoIterator<Item = String>) -> ClientView {
    let mut events: Vec<Bytes> = stream.into_iter().map(Bytes::from).collect();
    events.push(Bytes::from_static(br#"{"type":"response.completed"}"#));
    World::default().hears_bytes(&events)
}

#[test]
fn well_formed_stream_keeps_its_bytes() {
    let received = hears(STREAM.iter().map(ToString::to_string));
    let between = &received.raw[2..received.raw.len() - 1];
    let passed: Vec<_> = between.iter().map(|event| str::from_utf8(&event.data).unwrap()).collect();
    assert_eq!(passed, STREAM[2..]);
    assert!(received.finished.notes.is_empty());
}

#[test]
fn only_wrong_sequence_numbers_are_changed() {
    let numbered =
        |line: &&str| line.replacen(r#""sequence_number":"#, r#""sequence_number":7"#, 1);
    let received = hears(STREAM.iter().map(numbered));
    let between = &received.raw[2..received.raw.len() - 1];
    let passed: Vec<_> = between.iter().map(|event| str::from_utf8(&event.data).unwrap()).collect();
    assert_eq!(passed, STREAM[2..]);
}

/// Source: the Open Responses specification requires a status on every item. OpenAI omits it on
/// reasoning, and rejects reasoning that is sent back with one.
#[test]
fn status_is_added_for_clients_only() {
    let bare = |line: &&str| {
        let line =
            line.replace(r#""type":"reasoning","status":"in_progress""#, r#""type":"reasoning""#);
        line.replace(r#""type":"reasoning","status":"completed""#, r#""type":"reasoning""#)
    };
    let received = hears(STREAM.iter().map(bare));
    let status = |kind: &str| received.of(kind)[0]["item"]["status"].clone();
    assert_eq!(status("output_item.added"), "in_progress");
    assert_eq!(status("output_item.done"), "completed");
    assert_eq!(received.output()[0]["status"], "completed");
    let kept = received.finished.output[0].item.as_ref().unwrap().text();
    assert!(bare(&STREAM[7]).contains(kept) && !kept.contains("status"), "{kept}");
}

#[test]
fn stored_items_keep_their_bytes() {
    let received = hears(STREAM.iter().map(ToString::to_string));
    let kept = |at: usize| received.finished.output[at].item.as_ref().unwrap().text();
    assert!(STREAM[7].contains(kept(0)) && STREAM[13].contains(kept(1)));
    assert!(STREAM[17].contains(kept(2)) && STREAM[24].contains(kept(4)));
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
    let received = hears([STREAM[18].replace("18", "2")]);
    let expected = "event: keepalive\ndata: {\"type\":\"keepalive\",\"sequence_number\":2}\n\n";
    assert_eq!(received.raw[2].to_sse(), expected);
}

#[test]
fn item_events_get_our_id_and_index() {
    let renamed =
        STREAM[8].replace("msg_1", "m1").replace("\"output_index\":1", "\"output_index\":5");
    let delta =
        STREAM[10].replace("msg_1", "m1").replace("\"output_index\":1", "\"output_index\":5");
    let received = hears([renamed, delta]);
    let id = received.only_item()["id"].clone();
    let delta = received.of("output_text.delta")[0];
    assert_eq!((&delta["item_id"], &delta["output_index"]), (&id, &0.into()));
    assert_eq!(delta["obfuscation"], "x2");
}
