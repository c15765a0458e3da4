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
fn dropped_turn_makes_state_stale() {
    let client = client_with_history();
    drop(within(&client, &user("So?")));
    assert!(!is_sure(&client));
}

#[test]
fn list_after_an_aborted_turn_may_be_incomplete() {
    let client = client_with_history();
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
fn marked_conversation_is_listed_again() {
    let client = client_with_history();
    client.mark_stale("account", "conv_1");
    assert!(!is_sure(&client));
}

#[test]
fn change_during_a_turn_makes_state_stale() {
    let client = client_with_history();
    let mut turn = within(&client, &user("So?"));
    client.mark_stale("account", "conv_1");
    ends(&mut turn, "");
    assert!(!is_sure(&client));
}

#[test]
fn parallel_turn_lists_the_items_itself() {
    let client = client_with_history();
    let mut first = within(&client, &user("So?"));
    let mut second = within(&client, &user("And?"));
    learns(&mut second, HELLO);
    ends(&mut first, "");
    ends(&mut second, "");
    assert!(!is_sure(&client));
}

#[test]
fn outdated_list_is_ignored() {
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
fn rejection_during_parallel_turn_makes_state_stale() {
    let client = client_with_history();
    let mut first = within(&client, &user("So?"));
    let mut second = within(&client, &user("And?"));
    learns(&mut second, HELLO);
    let locked = r#"{"error":{"code":"conversation_locked"}}"#;
    second.record_rejection(400, locked.into());
    ends(&mut first, "");
    assert!(!is_sure(&client));
}

#[test]
fn deletion_without_a_turn_makes_state_stale() {
    let client = client();
    let mut turn = within(&client, &user("So?"));
    learns(&mut turn, r#"{"type":"reasoning","id":"rs_1","summary":[]}"#);
    turn.record_answer(200, Bytes::new());
    turn.record_rejection(429, error("Slow down."));
    assert!(!is_sure(&client));
}
