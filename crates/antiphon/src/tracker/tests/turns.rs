//! Runs of several requests, and the owner of the state between them.

use super::*;
use crate::item::given::{assistant, call_under, output, user};
use crate::tracker::{ConflictingOptions, ContinuationOptions};

fn calls(call_id: &str) -> [Item; 1] {
    [call_under(&format!("fc_{call_id}"), call_id, "{}")]
}

#[test]
fn behaviour_09_response_without_id_keeps_the_chain() {
    let mut tracker = chain();
    add(&mut tracker, &[user("hi")]);
    call_model(&mut tracker, Some("resp_1"), &calls("call_1"));
    for without_id in [None, Some("")] {
        call_model(&mut tracker, without_id, &[]);
        assert_eq!(previous(&restored(&tracker)), Some("resp_1"));
    }
}

#[test]
fn behaviour_11_requests_have_only_new_items() {
    let mut tracker = conversation();
    add(&mut tracker, &[user("hi")]);
    assert_eq!(call_model(&mut tracker, Some("resp_1"), &calls("call_1")), [user("hi")]);
    add(&mut tracker, &[output("call_1", "one")]);
    let second = call_model(&mut tracker, Some("resp_2"), &calls("call_2"));
    assert_eq!(second, [output("call_1", "one")]);
    add(&mut tracker, &[output("call_2", "two")]);
    let third = call_model(&mut tracker, Some("resp_3"), &[assistant("msg_1", "Done.")]);
    assert_eq!(third, [output("call_2", "two")]);
    let conversation = tracker.plan().continuation;
    assert_eq!(conversation, Continuation::Conversation { id: "conv_1".into() });
    assert_eq!(tracker.turns(), 3);
}

#[test]
fn behaviour_12_chain_advances_with_every_call() {
    let options = ContinuationOptions {
        previous_response_id: Some("resp_0".into()),
        ..ContinuationOptions::default()
    };
    let mut tracker = Tracker::new(options.choose().unwrap().unwrap(), ReasoningIds::Keep);
    add(&mut tracker, &[user("hi")]);
    assert_eq!(previous(&tracker), Some("resp_0"));
    call_model(&mut tracker, Some("resp_1"), &calls("call_1"));
    assert_eq!(previous(&tracker), Some("resp_1"));
    add(&mut tracker, &[output("call_1", "one")]);
    assert_eq!(call_model(&mut tracker, Some("resp_2"), &[]), [output("call_1", "one")]);
    assert_eq!(previous(&tracker), Some("resp_2"));
}

#[test]
fn behaviour_13_automatic_chain_starts_at_first_response() {
    let options =
        ContinuationOptions { auto_previous_response_id: true, ..ContinuationOptions::default() };
    let mut tracker = Tracker::new(options.choose().unwrap().unwrap(), ReasoningIds::Keep);
    add(&mut tracker, &[user("hi")]);
    assert_eq!(previous(&tracker), None);
    call_model(&mut tracker, Some("resp_1"), &[]);
    assert_eq!(previous(&tracker), Some("resp_1"));
}

#[test]
fn behaviour_14_no_option_means_full_replay() {
    assert_eq!(ContinuationOptions::default().choose(), Ok(None));
    let session = ContinuationOptions { session: true, ..ContinuationOptions::default() };
    assert_eq!(session.choose(), Ok(None));
}

#[test]
fn behaviour_15_retry_does_not_resend_input_later() {
    let mut tracker = conversation();
    add(&mut tracker, &[user("hi")]);
    let failed = send(&mut tracker);
    tracker.rewind(failed).unwrap();
    assert_eq!(call_model(&mut tracker, None, &calls("call_1")), [user("hi")]);
    add(&mut tracker, &[output("call_1", "ok")]);
    assert_eq!(next(&tracker), [output("call_1", "ok")]);
    assert_eq!(tracker.turns(), 1);
}

#[test]
fn behaviour_16_session_excludes_server_state() {
    let of = |conversation: bool, previous: bool, auto: bool| ContinuationOptions {
        conversation_id: conversation.then(|| "conv_1".into()),
        previous_response_id: previous.then(|| "resp_1".into()),
        auto_previous_response_id: auto,
        session: true,
    };
    for (options, option) in [
        (of(true, false, false), "conversation_id"),
        (of(false, true, false), "previous_response_id"),
        (of(false, false, true), "auto_previous_response_id"),
    ] {
        let refused = ConflictingOptions::SessionWithServerState { option };
        assert_eq!(options.choose(), Err(refused));
        let started = ContinuationOptions { session: false, ..options }.choose().unwrap().unwrap();
        let resumed = ContinuationOptions { session: true, ..(&started).into() };
        assert!(resumed.choose().is_err());
    }
}

#[test]
fn conversation_and_chain_exclude_each_other() {
    let conversation =
        ContinuationOptions { conversation_id: Some("conv_1".into()), ..Default::default() };
    let previous =
        ContinuationOptions { previous_response_id: Some("resp_1".into()), ..conversation.clone() };
    let auto = ContinuationOptions { auto_previous_response_id: true, ..conversation };
    for (options, option) in
        [(previous, "previous_response_id"), (auto, "auto_previous_response_id")]
    {
        assert_eq!(options.choose(), Err(ConflictingOptions::ConversationWithChain { option }));
    }
}
