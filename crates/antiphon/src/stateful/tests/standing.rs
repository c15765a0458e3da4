//! Tests that a ledger is never certain and wrong.

use super::*;

fn is_sure(client: &StatefulClient) -> bool {
    let turn = within(client, &user("Bye."));
    let is_sure = matches!(turn.step(), Step::Send { .. });
    is_sure
}

#[test]
fn client_and_turns_are_sendable() {
    fn shared<T: Clone + Send + Sync + 'static>() {}
    fn sent<T: Send + 'static>() {}
    shared::<StatefulClient>();
    sent::<Turn>();
}

#[test]
fn a_turn_that_is_dropped_was_left() {
    let client = acquainted();
    drop(within(&client, &user("So?")));
    assert!(!is_sure(&client));
}

#[test]
fn what_was_learnt_behind_a_turn_that_was_left_may_not_be_all() {
    let client = acquainted();
    drop(within(&client, &user("So?")));
    let mut next = within(&client, &user("And?"));
    learns(&mut next, HELLO);
    ends(&mut next, "");
    assert!(!is_sure(&client));
    let mut last = within(&client, &user("Bye."));
    learns(&mut last, HELLO);
    ends(&mut last, "");
    assert!(is_sure(&client));
}

#[test]
fn what_something_else_changed_is_asked_for() {
    let client = acquainted();
    client.mark_stale("account", "conv_1");
    assert!(!is_sure(&client));
}

#[test]
fn what_changed_while_a_turn_was_on_its_way_is_asked_for_after_it() {
    let client = acquainted();
    let mut turn = within(&client, &user("So?"));
    client.mark_stale("account", "conv_1");
    ends(&mut turn, "");
    assert!(!is_sure(&client));
}

#[test]
fn while_one_turn_is_on_its_way_another_is_planned_on_nothing_that_is_known() {
    let client = acquainted();
    let mut first = within(&client, &user("So?"));
    let mut second = within(&client, &user("And?"));
    learns(&mut second, HELLO);
    ends(&mut first, "");
    ends(&mut second, "");
    assert!(!is_sure(&client));
}

#[test]
fn a_list_that_is_older_than_what_came_to_be_known_is_not_believed() {
    let client = client();
    let mut first = within(&client, &user("Hi."));
    let mut second = within(&client, &format!("{},{HELLO},{}", user("Hi."), user("So?")));
    learns(&mut first, "");
    ends(&mut first, HELLO);
    // Listed before the end of the first turn, and received after it.
    learns(&mut second, "");
    assert_eq!(sent(&second), within_body(&user("So?")));
    ends(&mut second, "");
    sent(&within(&client, &user("Bye.")));
}

#[test]
fn a_turn_that_was_refused_as_another_was_on_its_way_leaves_that_in_doubt() {
    let client = acquainted();
    let mut first = within(&client, &user("So?"));
    let mut second = within(&client, &user("And?"));
    learns(&mut second, HELLO);
    let locked = r#"{"error":{"code":"conversation_locked"}}"#;
    second.record_rejection(400, locked.into());
    ends(&mut first, "");
    assert!(!is_sure(&client));
}

#[test]
fn a_deletion_without_a_turn_leaves_a_doubt() {
    let client = client();
    let mut turn = within(&client, &user("So?"));
    learns(&mut turn, r#"{"type":"reasoning","id":"rs_1","summary":[]}"#);
    turn.record_answer(200, Bytes::new());
    turn.record_rejection(429, error("Slow down."));
    assert!(!is_sure(&client));
}
