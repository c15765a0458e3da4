//! Tests of rejected requests and their retries.

use std::time::Duration;

use super::*;

const DUPLICATE: &str =
    "Duplicate item found with id msg_9. Remove duplicate items from your input.";

#[test]
fn what_does_not_fit_is_learnt_and_sent_once_more_otherwise() {
    let client = acquainted();
    let mut turn = within(&client, &user("So?"));
    turn.record_rejection(400, error("No tool output found for function call call_1."));
    learns(&mut turn, CALL);
    assert!(sent(&turn).contains("No output was recorded for this call."));
    let report = turn.report();
    assert_eq!(report.resynced_after, Some("unanswered_call"));
    let headers = report.headers();
    assert_eq!(headers[1], ("antiphon-repairs", "unanswered_call=1".to_owned()));
    assert_eq!(headers[2], ("antiphon-relearned", "true".to_owned()));
    turn.record_rejection(400, error("No tool output found for function call call_1."));
    assert_eq!(turn.step(), Step::GiveUp, "not a third time");
}

#[test]
fn where_nothing_else_would_be_sent_the_server_has_the_last_word() {
    let client = acquainted();
    let mut turn = within(&client, &user("So?"));
    turn.record_rejection(400, error("No tool output found for function call call_1."));
    learns(&mut turn, "");
    assert_eq!(turn.step(), Step::GiveUp);
}

#[test]
fn what_is_refused_by_its_id_is_left_out_though_it_is_not_listed() {
    let client = acquainted();
    let foreign = HELLO.replace("msg_1", "msg_9");
    let mut turn = within(&client, &format!("{foreign},{}", user("So?")));
    learns(&mut turn, HELLO);
    turn.record_rejection(400, error(DUPLICATE));
    learns(&mut turn, HELLO);
    assert_eq!(sent(&turn), within_body(&user("So?")));
    let repairs = turn.report().repairs;
    assert_eq!(
        (repairs[0].position, repairs[0].fault, repairs[0].action),
        (Some(0), "duplicate_item", "dropped")
    );
}

#[test]
fn where_all_of_it_would_be_left_out_nothing_is_sent() {
    let client = acquainted();
    let mut turn = within(&client, r#"{"type":"item_reference","id":"msg_9"}"#);
    turn.record_rejection(404, error("Item with id 'msg_9' not found."));
    learns(&mut turn, HELLO);
    assert_eq!(turn.step(), Step::GiveUp);
}

#[test]
fn where_the_server_does_not_tell_why_its_refusal_stands() {
    for (status, body) in [(500, Bytes::new()), (404, error("Not Found"))] {
        let client = acquainted();
        let mut turn = within(&client, &user("So?"));
        turn.record_rejection(400, error("No tool output found for function call call_1."));
        while matches!(turn.step(), Step::Ask { .. }) {
            turn.record_answer(status, body.clone());
        }
        assert_eq!(turn.step(), Step::GiveUp);
    }
}

#[test]
fn what_a_chain_lost_is_forgotten() {
    let client = client();
    let mut turn = open(&client, r#"{"input":"Hi."}"#);
    ends(&mut turn, HELLO);
    let body = r#"{"previous_response_id":"resp_1","input":"So?"}"#;
    let mut turn = open(&client, body);
    turn.record_rejection(400, error("Previous response with id 'resp_1' not found."));
    assert_eq!(turn.step(), Step::GiveUp);
    assert_eq!(asked(&open(&client, body)), "GET /responses/resp_1");
}

#[test]
fn only_what_tells_nothing_of_the_state_leaves_no_doubt() {
    for (status, is_sure) in [
        (429, true),
        (401, true),
        (403, true),
        (413, true),
        (400, false),
        (409, false),
        (500, false),
    ] {
        let client = acquainted();
        let mut turn = within(&client, &user("So?"));
        turn.record_rejection(status, error("No."));
        assert_eq!(turn.step(), Step::GiveUp);
        let next = within(&client, &user("Bye."));
        assert_eq!(matches!(next.step(), Step::Send { .. }), is_sure, "{status}");
    }
}

#[test]
fn whoever_waited_no_longer_does_not_say_whether_the_server_has_the_request() {
    let client = acquainted();
    let mut turn = within(&client, &user("So?"));
    turn.record_rejection(408, error("Request timed out."));
    assert_eq!(turn.step(), Step::GiveUp);
    let mut again = within(&client, &user("So?"));
    learns(&mut again, &format!("{HELLO},{}", user("So?")));
    assert_eq!(sent(&again), within_body(""));
}

#[test]
fn what_was_held_when_a_request_was_first_made_is_not_sent_when_it_is_made_again() {
    let client = acquainted();
    let input = format!("{},{}", user("Hi."), user("So?"));
    let mut turn = within(&client, &input);
    assert_eq!(sent(&turn), within_body(&user("So?")));
    turn.record_rejection(500, error("Oh."));
    let held = format!("{},{HELLO},{}", user("Hi."), user("So?"));
    for _ in 0..2 {
        let mut again = within(&client, &input);
        learns(&mut again, &format!("{held},{CALL}"));
        assert!(sent(&again).contains("No output was recorded"), "{}", sent(&again));
        assert!(!sent(&again).contains("So?"), "{}", sent(&again));
        assert_eq!(again.report().resent, 2);
        again.record_rejection(500, error("Oh."));
    }
}

#[test]
fn a_locked_conversation_is_waited_for_a_few_times_and_learnt_each_time() {
    let client = acquainted();
    let mut turn = within(&client, &user("So?"));
    let locked = || Bytes::from(r#"{"error":{"message":"Retry.","code":"conversation_locked"}}"#);
    for milliseconds in [100, 500, 1000, 2000] {
        assert_eq!(turn.wait(), None);
        turn.record_rejection(400, locked());
        assert_eq!(turn.wait(), Some(Duration::from_millis(milliseconds)));
        learns(&mut turn, HELLO);
        assert_eq!(sent(&turn), within_body(&user("So?")));
    }
    turn.record_rejection(400, locked());
    assert_eq!((turn.step(), turn.wait()), (Step::GiveUp, None));
}

#[test]
fn what_another_turn_left_meanwhile_is_mended() {
    let client = acquainted();
    let mut turn = within(&client, &user("So?"));
    turn.record_rejection(400, r#"{"error":{"code":"conversation_locked"}}"#.into());
    learns(&mut turn, CALL);
    assert!(sent(&turn).contains("No output was recorded for this call."));
    assert_eq!(turn.report().resynced_after, None);
}
