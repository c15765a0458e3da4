//! Tests of rejected requests and their retries.

use std::time::Duration;

use super::*;

const DUPLICATE: &str =
    "Duplicate item found with id msg_9. Remove duplicate items from your input.";

#[test]
fn state_error_leads_to_one_resync_and_retry() {
    let client = client_with_history();
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
fn identical_request_is_not_sent_again() {
    let client = client_with_history();
    let mut turn = within(&client, &user("So?"));
    turn.record_rejection(400, error("No tool output found for function call call_1."));
    learns(&mut turn, "");
    assert_eq!(turn.step(), Step::GiveUp);
}

#[test]
fn rejected_id_is_left_out_although_unlisted() {
    let client = client_with_history();
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
fn request_without_remaining_items_is_not_sent() {
    let client = client_with_history();
    let mut turn = within(&client, r#"{"type":"item_reference","id":"msg_9"}"#);
    turn.record_rejection(404, error("Item with id 'msg_9' not found."));
    learns(&mut turn, HELLO);
    assert_eq!(turn.step(), Step::GiveUp);
}

#[test]
fn rejection_is_final_without_a_list() {
    for (status, body) in [(500, Bytes::new()), (404, error("Not Found"))] {
        let client = client_with_history();
        let mut turn = within(&client, &user("So?"));
        turn.record_rejection(400, error("No tool output found for function call call_1."));
        while matches!(turn.step(), Step::Ask { .. }) {
            turn.record_answer(status, body.clone());
        }
        assert_eq!(turn.step(), Step::GiveUp);
    }
}

#[test]
fn lost_response_is_forgotten() {
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
fn only_unrelated_errors_keep_state_fresh() {
    for (status, is_sure) in [
        (429, true),
        (401, true),
        (403, true),
        (413, true),
        (400, false),
        (409, false),
        (500, false),
    ] {
        let client = client_with_history();
        let mut turn = within(&client, &user("So?"));
        turn.record_rejection(status, error("No."));
        assert_eq!(turn.step(), Step::GiveUp);
        let next = within(&client, &user("Bye."));
        assert_eq!(matches!(next.step(), Step::Send { .. }), is_sure, "{status}");
    }
}

#[test]
fn request_timeout_leaves_the_attempt_open() {
    let client = client_with_history();
    let mut turn = within(&client, &user("So?"));
    turn.record_rejection(408, error("Request timed out."));
    assert_eq!(turn.step(), Step::GiveUp);
    let mut again = within(&client, &user("So?"));
    learns(&mut again, &format!("{HELLO},{}", user("So?")));
    assert_eq!(sent(&again), within_body(""));
}

#[test]
fn repeated_request_does_not_resend_stored_items() {
    let client = client_with_history();
    let input = format!("{},{HELLO},{}", user("Hi."), user("So?"));
    let mut turn = within(&client, &input);
    assert_eq!(sent(&turn), within_body(&user("So?")));
    turn.record_rejection(500, error("Oh."));
    let held = format!("{},{HELLO},{}", user("Hi."), user("So?"));
    for _ in 0..2 {
        let mut again = within(&client, &input);
        learns(&mut again, &format!("{held},{CALL}"));
        assert!(sent(&again).contains("No output was recorded"), "{}", sent(&again));
        assert!(!sent(&again).contains("So?"), "{}", sent(&again));
        assert_eq!(again.report().resent, 3);
        again.record_rejection(500, error("Oh."));
    }
}

#[test]
fn locked_conversation_is_retried_after_delays() {
    let client = client_with_history();
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
fn items_of_the_other_turn_are_repaired() {
    let client = client_with_history();
    let mut turn = within(&client, &user("So?"));
    turn.record_rejection(400, r#"{"error":{"code":"conversation_locked"}}"#.into());
    learns(&mut turn, CALL);
    assert!(sent(&turn).contains("No output was recorded for this call."));
    assert_eq!(turn.report().resynced_after, None);
}

#[test]
fn locked_conversation_does_not_count_as_state_error() {
    let client = client_with_history();
    let mut turn = within(&client, &user("So?"));
    turn.record_rejection(400, r#"{"error":{"code":"conversation_locked"}}"#.into());
    learns(&mut turn, HELLO);
    turn.record_rejection(400, error("No tool output found for function call call_1."));
    learns(&mut turn, CALL);
    assert!(sent(&turn).contains("No output was recorded for this call."));
}
