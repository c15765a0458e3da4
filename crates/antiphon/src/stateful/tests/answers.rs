//! Tests of answers in every form.

use serde_json::Value;

use super::*;

fn event(kind: &str, rest: &str) -> String {
    format!("event: {kind}\ndata: {{\"type\":\"{kind}\",{rest}}}\n\n")
}

fn created() -> String {
    event("response.created", r#""response":{"id":"resp_1","status":"in_progress","output":[]}"#)
}

fn done(place: usize, item: &str) -> String {
    event("response.output_item.done", &format!(r#""output_index":{place},"item":{item}"#))
}

fn completed(output: &str) -> String {
    event("response.completed", &format!(r#""response":{}"#, response(output)))
}

/// The bytes for the caller of an event stream that is received in pieces of this size.
fn receive(turn: &mut Turn, answer: &str, size: usize) -> String {
    turn.start(true, NOW);
    let pieces = answer.as_bytes().chunks(size);
    let mut bytes: Vec<u8> = pieces.flat_map(|piece| turn.push(piece, NOW)).collect();
    bytes.extend(turn.finish(NOW));
    String::from_utf8(bytes).unwrap()
}

/// The events for the caller of an event stream.
fn corrected(answer: &str) -> Vec<Value> {
    let mut turn = within(&client_with_history(), &user("Echo."));
    let stream = receive(&mut turn, answer, 16);
    let data = stream.lines().filter_map(|line| line.strip_prefix("data: "));
    data.map(|json| serde_json::from_str(json).unwrap()).collect()
}

/// The items of these events with this type.
fn items(events: &[Value], kind: &str) -> Vec<Value> {
    let events = events.iter().filter(|event| event["type"] == kind);
    events.map(|event| event["item"].clone()).collect()
}

/// Whether the conversation is known after an answer of these bytes, received in pieces of this
/// size.
fn is_known_behind(answer: &str, size: usize) -> bool {
    let client = client_with_history();
    let mut turn = within(&client, &user("Echo."));
    receive(&mut turn, answer, size);
    let next = within(&client, &format!("{CALL},{}", output("call_1")));
    matches!(next.step(), Step::Send { .. })
}

#[test]
fn answer_is_read_from_pieces_of_any_size() {
    let answer = [created(), done(0, CALL), completed(CALL), "data: [DONE]\n\n".into()].concat();
    for size in [1, 2, 3, 7, 64, answer.len()] {
        assert!(is_known_behind(&answer, size), "pieces of {size}");
    }
}

#[test]
fn completed_items_replace_a_missing_output() {
    let without = completed("").replace(r#","output":[]"#, "");
    for end in [completed(""), without] {
        assert!(is_known_behind(&[created(), done(0, CALL), end].concat(), 16));
    }
}

#[test]
fn events_need_no_names() {
    let answer = [created(), done(0, CALL), completed(CALL)].concat();
    let unnamed: Vec<&str> = answer.lines().filter(|line| !line.starts_with("event:")).collect();
    assert!(is_known_behind(&unnamed.join("\n"), 10));
}

#[test]
fn failed_or_broken_answer_makes_state_stale() {
    let failed = event("response.failed", r#""response":{"id":"resp_1","status":"failed"}"#);
    assert!(!is_known_behind(&[created(), failed].concat(), 9));
    assert!(!is_known_behind(&event("error", r#""message":"Oh.""#), 9));
    let whole = [created(), done(0, CALL), completed(CALL)].concat();
    for end in 0..whole.len() - 2 {
        assert!(!is_known_behind(&whole[..end], 4096), "{end} bytes");
    }
}

#[test]
fn answer_abandoned_after_its_end_is_complete() {
    for is_dropped in [true, false] {
        let client = client_with_history();
        let mut turn = within(&client, &user("So?"));
        turn.start(true, NOW);
        turn.push(completed(HELLO.replace("msg_1", "msg_2").as_str()).as_bytes(), NOW);
        if is_dropped {
            drop(turn);
        } else {
            turn.abandon();
        }
        sent(&within(&client, &user("Bye.")));
    }
}

#[test]
fn whole_body_is_complete_at_its_last_byte() {
    let answer = response(HELLO);
    for (heard, is_sure) in [(answer.len(), true), (answer.len() - 1, false), (0, false)] {
        let client = client();
        let mut turn = within(&client, &user("Hi."));
        learns(&mut turn, "");
        turn.start(false, NOW);
        turn.push(&answer.as_bytes()[..heard], NOW);
        turn.abandon();
        let next = within(&client, &user("Bye."));
        assert_eq!(matches!(next.step(), Step::Send { .. }), is_sure, "{heard} bytes");
    }
}

#[test]
fn queued_response_makes_state_stale() {
    let client = client_with_history();
    let mut turn = within(&client, &user("So?"));
    turn.start(false, NOW);
    turn.push(br#"{"id":"resp_2","status":"queued","output":[]}"#, NOW);
    turn.finish(NOW);
    assert_eq!(asked(&within(&client, &user("Bye."))), get(ITEMS));
}

#[test]
fn doubled_call_reaches_the_caller_once() {
    let added = event("response.output_item.added", &format!(r#""output_index":0,"item":{CALL}"#));
    let again = CALL.replace("fc_1", "fc_2");
    let events = corrected(
        &[created(), added.clone(), added, done(0, CALL), done(1, &again), completed(CALL)]
            .concat(),
    );

    for kind in ["response.output_item.added", "response.output_item.done"] {
        assert_eq!(items(&events, kind).len(), 1, "{kind}");
    }
    let last = events.last().unwrap();
    assert_eq!(
        (&last["type"], &last["response"]["id"]),
        (&"response.completed".into(), &"resp_1".into())
    );
    assert_eq!(last["response"]["output"].as_array().unwrap().len(), 1);
    let numbers = events.iter().map(|event| event["sequence_number"].as_u64().unwrap());
    assert!(numbers.eq(0..events.len() as u64));
}

#[test]
fn doubled_call_of_a_whole_answer_reaches_the_caller_once() {
    let again = CALL.replace("fc_1", "fc_2");
    let receive = |output: &str| {
        let mut turn = within(&client_with_history(), &user("Echo."));
        turn.start(false, NOW);
        assert!(turn.push(response(output).as_bytes(), NOW).is_empty());
        turn.finish(NOW)
    };
    assert_eq!(receive(&format!("{CALL},{again}")), response(CALL));
    assert_eq!(receive(&format!("{CALL}, {HELLO}")), response(&format!("{CALL}, {HELLO}")));
}

/// The provider rejects a status on reasoning that is sent back.
#[test]
fn well_formed_events_pass_unchanged() {
    let reasoning = r#"{"type":"reasoning","id":"rs_1","summary":[]}"#;
    let numbered = |number: usize, event: String| {
        event.replacen('{', &format!(r#"{{"sequence_number":{number},"#), 1)
    };
    let added = |place: usize, item: &str| {
        event("response.output_item.added", &format!(r#""output_index":{place},"item":{item}"#))
    };
    let open = CALL.replace("completed", "in_progress").replace(r#""{}""#, r#""""#);
    let arguments = |kind: &str, field: &str| {
        let kind = format!("response.function_call_arguments.{kind}");
        event(&kind, &format!(r#""output_index":1,"item_id":"fc_1","{field}":"{{}}""#))
    };
    let events = [
        added(0, reasoning),
        done(0, reasoning),
        added(1, &open),
        arguments("delta", "delta"),
        arguments("done", "arguments"),
        done(1, CALL),
    ];
    let events: String =
        events.into_iter().zip(2..).map(|(event, number)| numbered(number, event)).collect();
    let last = completed(&format!("{reasoning},{CALL}"));

    let mut turn = within(&client_with_history(), &user("Echo."));
    let stream = receive(&mut turn, &[created(), events.clone(), last].concat(), 4096);

    assert!(stream.contains(&events), "{stream}");
}

#[test]
fn stream_that_breaks_off_fails() {
    let events = corrected(&[created(), done(0, CALL)].concat());
    assert_eq!(events.last().unwrap()["type"], "response.failed");
}

#[test]
fn background_events_pass_unchanged() {
    let client = client();
    let mut turn = open(&client, r#"{"model":"m","background":true,"stream":true,"input":"Hi."}"#);
    let answer = [created(), done(0, CALL), done(0, CALL), completed(CALL)].concat();
    assert_eq!(receive(&mut turn, &answer, 7), answer);
}

#[test]
fn raw_reasoning_keeps_its_event_names() {
    for name in ["response.reasoning.delta", "response.reasoning_text.delta"] {
        let delta =
            event(name, r#""output_index":0,"item_id":"rs_1","content_index":0,"delta":"Hm.""#);
        let events = corrected(&[created(), delta, completed("")].concat());
        let done = name.replace("delta", "done");
        let kinds: Vec<&str> = events.iter().filter_map(|event| event["type"].as_str()).collect();
        assert!(kinds.contains(&name) && kinds.contains(&&*done), "{kinds:?}");
    }
}
