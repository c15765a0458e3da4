//! The judge has a list of its own. It has to cover every kind of call that the engine knows.

use antiphon::Kind;
use antiphon_mock::judge::validate;
use serde_json::json;

use crate::request::{refused_input, replay, user};

#[test]
fn every_kind_of_call_is_judged() {
    for kind in Kind::ALL {
        let Some(output) = kind.output() else { continue };
        let (call_id, output_id) = (kind.id_prefix(), output.id_prefix());
        let call = json!({"type": kind.as_str(), "id": call_id, "call_id": "call_1"});
        let answer = json!({
            "type": output.as_str(), "id": output_id, "call_id": "call_1",
            "approval_request_id": call_id,
        });
        let answered = json!([call, answer]);
        assert_eq!(validate(&replay(&answered)), Ok(()), "{kind}");
        let unanswered = json!([call, user("And now?")]);
        if kind.must_be_answered() {
            let words = kind.as_str().replace('_', " ");
            refused_input(&unanswered, &format!("No tool output found for {words} call_1."));
        } else {
            assert_eq!(validate(&replay(&unanswered)), Ok(()), "{kind}");
        }
    }
}
