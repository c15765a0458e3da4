//! `Duplicate item found with id fc_…`: the tool loop of a framework resends stored items.
//!
//! The framework does not know the stored state of the conversation. After a tool call it sends the
//! user's message, the reasoning and the call again, followed by the output. Only the output is
//! new.

use antiphon::item::{FingerprintKey, parse_items};
use antiphon::reconcile::{Verdict, reconcile};
use antiphon::{HeldItem, Transcript};

pub(crate) fn main() {
    let key = FingerprintKey::new([0; 16]);
    let turn = r#"[
        {"role": "user", "content": "Echo hello"},
        {"type": "reasoning", "id": "rs_1", "summary": []},
        {"type": "function_call", "id": "fc_1", "call_id": "call_1", "name": "echo",
            "arguments": "{}"},
        {"type": "function_call_output", "call_id": "call_1", "output": "hello"}
    ]"#;
    let incoming = parse_items(&turn.into()).expect("the text above is a list of items");
    let held: Transcript = incoming[..3]
        .iter()
        .zip(["msg_1", "rs_1", "fc_1"])
        .map(|(item, id)| HeldItem::new(id.into(), item, key, None))
        .collect();

    let verdicts = reconcile(&held, &incoming, key);

    for (item, verdict) in incoming.iter().zip(&verdicts) {
        println!("{:22} {verdict:?}", item.head().kind.as_str());
    }
    assert_eq!(verdicts.iter().filter(|verdict| verdict.is_fresh()).count(), 1);
    assert_eq!(verdicts[3], Verdict::Fresh);
}
