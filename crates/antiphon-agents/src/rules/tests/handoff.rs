//! Tests of handoffs with each owner of the state.

use super::{conversation, function};
use crate::rules::{Handoff, HandoffError, HandoffOptions, HandoffWarning, first_handoff};
use antiphon::tracker::Continuation;

const FILTER: HandoffOptions = HandoffOptions { has_input_filter: true, nests_history: false };
const NEST: HandoffOptions = HandoffOptions { has_input_filter: false, nests_history: true };

#[test]
fn behaviour_17_filter_cannot_rewrite_a_history_of_the_server() {
    for owned in [conversation(), Continuation::Chain { previous_response_id: None }] {
        assert_eq!(Handoff::from_options(Some(&owned), FILTER), Err(HandoffError::InputFilter));
    }
    assert_eq!(
        Handoff::from_options(None, FILTER),
        Ok(Handoff { nests_history: false, warning: None })
    );
}

#[test]
fn behaviour_18_nesting_is_left_with_a_warning() {
    let warned = Handoff { nests_history: false, warning: Some(HandoffWarning::NestingDisabled) };
    assert_eq!(Handoff::from_options(Some(&conversation()), NEST), Ok(warned));
    assert_eq!(
        Handoff::from_options(None, NEST),
        Ok(Handoff { nests_history: true, warning: None })
    );
}

#[test]
fn first_of_several_handoffs_is_made() {
    let calls = [function("call_1"), function("call_2")];
    let (first, answers) = first_handoff(&calls).unwrap();
    assert_eq!(first, &calls[0]);
    let named: Vec<_> = answers.iter().map(|item| item.head().call_id.clone()).collect();
    assert_eq!(named, [Some("call_2".into())]);
    assert_eq!(first_handoff(&[]), None);
}
