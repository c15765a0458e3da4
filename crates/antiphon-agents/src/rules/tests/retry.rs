//! Tests of the retries of failed requests.

use std::time::Duration;

use crate::rules::{FailedRequest, FailureKind, GiveUp, Retries, RetryDecision, RetryVerdict};

const DELAY: Duration = Duration::from_millis(500);

fn failed(failure: FailureKind) -> FailedRequest {
    FailedRequest {
        failure,
        has_emitted_output: false,
        should_retry: None,
        retry_after: None,
        verdict: RetryVerdict::ByRules,
    }
}

fn decide(failed: &FailedRequest) -> RetryDecision {
    Retries::new(vec![DELAY]).decide(failed)
}

#[test]
fn behaviour_47_a_locked_conversation_is_tried_three_times_again() {
    let mut retries = Retries::new(Vec::new());
    let locked = failed(FailureKind::Locked);
    for seconds in [1, 2, 4] {
        let after = RetryDecision::After(Duration::from_secs(seconds));
        assert_eq!(retries.decide(&locked), after);
    }
    assert_eq!(retries.decide(&locked), RetryDecision::GiveUp(GiveUp::Exhausted { retries: 3 }));
}

#[test]
fn a_provider_can_say_that_a_replay_is_safe() {
    for status in [408, 409, 429, 500, 503] {
        assert_eq!(decide(&failed(FailureKind::Status(status))), RetryDecision::After(DELAY));
    }
    let received = FailedRequest { should_retry: Some(true), ..failed(FailureKind::Broken) };
    assert_eq!(decide(&received), RetryDecision::After(DELAY));
    let denied = FailedRequest { should_retry: Some(false), ..failed(FailureKind::Status(503)) };
    assert_eq!(decide(&denied), RetryDecision::GiveUp(GiveUp::NotRetryable));
}

#[test]
fn behaviour_49_after_an_output_event_nothing_is_retried() {
    for failure in [FailureKind::Broken, FailureKind::Locked] {
        let after = FailedRequest { has_emitted_output: true, ..failed(failure) };
        assert_eq!(decide(&after), RetryDecision::GiveUp(GiveUp::OutputEmitted));
    }
    assert_eq!(decide(&failed(FailureKind::Broken)), RetryDecision::After(DELAY));
}

#[test]
fn permanent_error_is_not_retried() {
    let refused = failed(FailureKind::Status(400));
    assert_eq!(decide(&refused), RetryDecision::GiveUp(GiveUp::NotRetryable));
}

#[test]
fn the_provider_can_say_when() {
    let wait = Duration::from_secs(7);
    let busy = FailedRequest { retry_after: Some(wait), ..failed(FailureKind::Status(429)) };
    let mut retries = Retries::new(vec![DELAY]);
    assert_eq!(retries.decide(&busy), RetryDecision::After(wait));
    assert_eq!(retries.decide(&busy), RetryDecision::GiveUp(GiveUp::Exhausted { retries: 1 }));
}

#[test]
fn longer_delay_than_the_limit_is_not_waited_for() {
    let (delay, longest) = (Duration::from_secs(8), Duration::from_secs(7));
    let busy = FailedRequest { retry_after: Some(delay), ..failed(FailureKind::Status(429)) };
    let mut retries = Retries::new(vec![DELAY]).with_longest_delay(longest);
    let gives_up = RetryDecision::GiveUp(GiveUp::LongDelay { delay, longest });
    assert_eq!(retries.decide(&busy), gives_up);
    let soon = FailedRequest { retry_after: Some(longest), ..busy };
    assert_eq!(retries.decide(&soon), RetryDecision::After(longest));
}

#[test]
fn the_application_decides_before_the_rules() {
    let decided = |verdict| FailedRequest {
        has_emitted_output: true,
        verdict,
        ..failed(FailureKind::Broken)
    };
    assert_eq!(decide(&decided(RetryVerdict::Safe)), RetryDecision::After(DELAY));
    let never = FailedRequest { has_emitted_output: false, ..decided(RetryVerdict::Never) };
    assert_eq!(decide(&never), RetryDecision::GiveUp(GiveUp::Verdict));
}
