//! Tests of answers in every form.

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

/// Whether the conversation is known after an answer of these bytes, received in pieces of this
/// size.
fn is_known_behind(answer: &str, size: usize) -> bool {
    let client = client_with_history();
    let mut turn = within(&client, &user("Echo."));
    turn.start(true);
    answer.as_bytes().chunks(size).for_each(|piece| turn.push(piece));
    turn.finish();
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
        turn.start(true);
        turn.push(completed(HELLO.replace("msg_1", "msg_2").as_str()).as_bytes());
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
        turn.start(false);
        turn.push(&answer.as_bytes()[..heard]);
        turn.abandon();
        let next = within(&client, &user("Bye."));
        assert_eq!(matches!(next.step(), Step::Send { .. }), is_sure, "{heard} bytes");
    }
}

#[test]
fn queued_response_makes_state_stale() {
    let client = client_with_history();
    let mut turn = within(&client, &user("So?"));
    turn.start(false);
    turn.push(br#"{"id":"resp_2","status":"queued","output":[]}"#);
    turn.finish();
    assert_eq!(asked(&within(&client, &user("Bye."))), get(ITEMS));
}
