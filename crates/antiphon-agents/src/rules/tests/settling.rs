//! Tests that the next turn works after a run that stops between a call and its output.

use super::{call_model, next, tracker};
use crate::rules::settle;
use antiphon::faults::Fault;
use antiphon::item::given::{call_under, item, output, user};
use antiphon::item::{CallKey, Kind};
use antiphon::placeholder::create_failed_output;
use antiphon::repair::check;

#[test]
fn calls_that_a_run_leaves_behind_are_answered() {
    let mut tracker = tracker();
    let calls = [call_under("fc_1", "call_1", "{}"), call_under("fc_2", "call_2", "{}")];
    call_model(&mut tracker, &calls);
    tracker.add(output("call_2", "ok")).unwrap();
    let settled = settle(&mut tracker, "The run was stopped.").unwrap();
    assert_eq!((settled.answered.len(), settled.left_open), (1, vec![]));
    tracker.add(user("go on")).unwrap();
    let sent = [output("call_2", "ok"), output("call_1", "The run was stopped."), user("go on")];
    assert_eq!(next(&tracker), sent);
    assert_eq!(check(&[&calls[..], &sent].concat()), [] as [(usize, Fault); 0]);
    assert_eq!(settle(&mut tracker, "again").unwrap().answered, []);
}

#[test]
fn call_outside_the_conversation_is_not_answered() {
    let mut tracker = tracker();
    tracker.hydrate(&[user("hi")]);
    assert_eq!(settle(&mut tracker, "The run was stopped.").unwrap().answered, []);
}

#[test]
fn screenshot_cannot_be_generated() {
    let computer = item(r#"{"type":"computer_call","id":"cu_1","call_id":"call_1"}"#);
    let mut tracker = tracker();
    call_model(&mut tracker, &[computer]);
    let open = CallKey { kind: Kind::ComputerCall, call_id: "call_1".into() };
    assert_eq!(settle(&mut tracker, "The run was stopped.").unwrap().left_open, [open]);
}

#[test]
fn generated_output_is_accepted_by_a_provider() {
    let message = "It failed.";
    for kind in [
        Kind::FunctionCall,
        Kind::CustomToolCall,
        Kind::ShellCall,
        Kind::LocalShellCall,
        Kind::ApplyPatchCall,
    ] {
        let key = CallKey { kind: kind.clone(), call_id: "call_1".into() };
        let answer = create_failed_output(&key, message).unwrap();
        assert_eq!(answer.head().pairing().unwrap().1, key);
        assert!(answer.text().contains(message), "{}", answer.text());
        let id = format!("{}_1", kind.id_prefix());
        let call = item(format!(r#"{{"type":"{kind}","id":"{id}","call_id":"call_1"}}"#));
        assert_eq!(check(&[call, answer]), [] as [(usize, Fault); 0]);
    }
}
