//! Tests of the retries of failed requests.

use std::time::Duration;

use crate::rules::{FailedRequest, FailureKind, GiveUp, Retries, RetryDecision, is_output_event};

const DELAY: Duration = Duration::from_millis(500);

fn failed(failure: FailureKind, is_stateful: bool) -> FailedRequest {
    FailedRequest {
        failure,
        is_stateful,
        has_emitted_output: false,
        should_retry: None,
        retry_after: None,
    }
}

fn decide(failed: &FailedRequest) -> RetryDecision {
    Retries::new(vec![DELAY]).decide(failed)
}

#[test]
fn behaviour_47_a_locked_conversation_is_tried_three_times_again() {
    let mut retries = Retries::default();
    let locked = failed(FailureKind::Locked, true);
    for seconds in [1, 2, 4] {
        let after = RetryDecision::After(Duration::from_secs(seconds));
        assert_eq!(retries.decide(&locked), after);
    }
    assert_eq!(retries.decide(&locked), RetryDecision::GiveUp(GiveUp::Exhausted));
}

#[test]
fn behaviour_48_with_state_and_unknown_safety_nothing_is_retried() {
    let broken = failed(FailureKind::Broken, true);
    assert_eq!(decide(&broken), RetryDecision::GiveUp(GiveUp::UnknownSafety));
    assert_eq!(decide(&failed(FailureKind::Broken, false)), RetryDecision::After(DELAY));
}

#[test]
fn with_state_a_provider_can_say_that_a_replay_is_safe() {
    for status in [408, 409, 429, 500, 503] {
        assert_eq!(decide(&failed(FailureKind::Status(status), true)), RetryDecision::After(DELAY));
    }
    let received = FailedRequest { should_retry: Some(true), ..failed(FailureKind::Broken, true) };
    assert_eq!(decide(&received), RetryDecision::After(DELAY));
    let denied =
        FailedRequest { should_retry: Some(false), ..failed(FailureKind::Status(503), true) };
    assert_eq!(decide(&denied), RetryDecision::GiveUp(GiveUp::NotRetryable));
}

#[test]
fn behaviour_49_after_an_output_event_nothing_is_retried() {
    let after = |event: &str| FailedRequest {
        has_emitted_output: is_output_event(event),
        ..failed(FailureKind::Broken, false)
    };
    assert_eq!(decide(&after("response.created")), RetryDecision::After(DELAY));
    for event in ["response.output_item.added", "response.output_text.delta"] {
        assert_eq!(decide(&after(event)), RetryDecision::GiveUp(GiveUp::OutputEmitted));
    }
    let locked =
        FailedRequest { failure: FailureKind::Locked, ..after("response.output_item.added") };
    assert_eq!(decide(&locked), RetryDecision::GiveUp(GiveUp::OutputEmitted));
}

#[test]
fn permanent_error_is_not_retried() {
    let refused = failed(FailureKind::Status(400), false);
    assert_eq!(decide(&refused), RetryDecision::GiveUp(GiveUp::NotRetryable));
}

#[test]
fn the_provider_can_say_when() {
    let wait = Duration::from_secs(7);
    let busy = FailedRequest { retry_after: Some(wait), ..failed(FailureKind::Status(429), false) };
    let mut retries = Retries::new(vec![DELAY]);
    assert_eq!(retries.decide(&busy), RetryDecision::After(wait));
    assert_eq!(retries.decide(&busy), RetryDecision::GiveUp(GiveUp::Exhausted));
}
