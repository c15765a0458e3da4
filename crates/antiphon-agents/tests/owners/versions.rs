//! The versions of the state of a run: those of released code are read, and later ones are refused.

use antiphon_agents::machine::{RunState, RunStateError};
use serde_json::{Value, json};

use crate::states::{Moment, OWNERS, fixtures};

/// The states that version 1 stored for an owner, running and stopped.
fn states_of_version_1(owner: &str) -> Vec<Value> {
    let files = [format!("v1_{owner}.jsonl"), format!("v1_{owner}_stopped.jsonl")];
    let read = |file: &String| std::fs::read_to_string(fixtures().join(file)).unwrap();
    let lines: String = files.iter().map(read).collect();
    let state = |line: &str| -> Value {
        let moment: Moment = serde_json::from_str(line).unwrap();
        serde_json::from_str(moment.state.get()).unwrap()
    };
    lines.lines().map(state).collect()
}

#[test]
fn states_of_version_1_are_read() {
    for owner in OWNERS {
        let states = states_of_version_1(owner);
        assert!(states.len() > 5, "{owner}: {}", states.len());
        for stored in states {
            assert_eq!(stored["version"], 1, "{owner}");
            let state = RunState::read(&stored.to_string()).unwrap();
            assert_eq!(stored["agent"], state.agent(), "{owner}");
            let items: Vec<Value> =
                state.items().iter().map(|it| serde_json::from_str(it.text()).unwrap()).collect();
            assert_eq!(stored["items"], json!(items), "{owner}");
            // It is written again without a loss.
            let written: Value = serde_json::from_str(&state.to_json()).unwrap();
            assert_keeps(&stored, &written, owner);
        }
    }
}

/// Checks that the written value has all of the stored one. Later code may have added fields.
fn assert_keeps(stored: &Value, written: &Value, path: &str) {
    match (stored, written) {
        (Value::Object(stored), Value::Object(written)) => {
            for (name, value) in stored {
                let kept = written.get(name).unwrap_or(&Value::Null);
                assert_keeps(value, kept, &format!("{path}.{name}"));
            }
        }
        (Value::Array(stored), Value::Array(written)) if stored.len() == written.len() => {
            for (at, (value, kept)) in stored.iter().zip(written).enumerate() {
                assert_keeps(value, kept, &format!("{path}[{at}]"));
            }
        }
        _ => assert_eq!(stored, written, "{path}"),
    }
}

#[test]
fn state_of_a_later_version_is_refused() {
    let mut later = states_of_version_1("replay").swap_remove(0);
    later["version"] = json!(2);
    // The fields of a later version are not known.
    for later in [later, json!({"version": 2, "steps": []})] {
        let error = RunState::read(&later.to_string()).unwrap_err();
        assert!(matches!(error, RunStateError::Version(2)), "{error:?}");
        assert_eq!(
            error.to_string(),
            "a later version of antiphon-agents wrote this state of a run: it has version 2, and \
             this library reads versions up to 1"
        );
    }
}

#[test]
fn other_json_is_refused() {
    for text in ["{}", "[]", r#"{"version":1}"#, "state"] {
        let error = RunState::read(text).unwrap_err();
        assert!(matches!(error, RunStateError::Malformed(_)), "{text}: {error:?}");
        assert!(error.to_string().starts_with("this is not the state of a run: "), "{error}");
    }
}
