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
    let client = acquainted();
    let mut turn = within(&client, &user("Echo."));
    turn.start(true);
    answer.as_bytes().chunks(size).for_each(|piece| turn.push(piece));
    turn.finish();
    let next = within(&client, &format!("{CALL},{}", output("call_1")));
    matches!(next.step(), Step::Send { .. })
}

#[test]
fn it_is_heard_however_it_is_cut() {
    let answer = [created(), done(0, CALL), completed(CALL), "data: [DONE]\n\n".into()].concat();
    for size in [1, 2, 3, 7, 64, answer.len()] {
        assert!(is_known_behind(&answer, size), "pieces of {size}");
    }
}

#[test]
fn an_end_without_output_goes_by_what_was_done() {
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
fn what_failed_or_broke_off_at_any_byte_is_in_doubt() {
    let failed = event("response.failed", r#""response":{"id":"resp_1","status":"failed"}"#);
    assert!(!is_known_behind(&[created(), failed].concat(), 9));
    assert!(!is_known_behind(&event("error", r#""message":"Oh.""#), 9));
    let whole = [created(), done(0, CALL), completed(CALL)].concat();
    for end in 0..whole.len() - 2 {
        assert!(!is_known_behind(&whole[..end], 4096), "{end} bytes");
    }
}

#[test]
fn one_that_is_left_behind_its_end_is_whole() {
    for is_dropped in [true, false] {
        let client = acquainted();
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
fn one_in_one_piece_is_whole_once_all_of_it_was_heard() {
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
fn one_that_is_queued_leaves_its_conversation_in_doubt() {
    let client = acquainted();
    let mut turn = within(&client, &user("So?"));
    turn.start(false);
    turn.push(br#"{"id":"resp_2","status":"queued","output":[]}"#);
    turn.finish();
    assert_eq!(asked(&within(&client, &user("Bye."))), get(ITEMS));
}
