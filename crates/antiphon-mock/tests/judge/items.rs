//! Relations between items.

use antiphon::Kind;
use antiphon_mock::encrypted_content;
use antiphon_mock::judge::validate;
use serde_json::{Value, json};

use crate::request::{
    MODEL, REMOVE, RS, assistant, call, output, reasoning, refused, refused_input, replay, user,
};

const NOT_FOUND: &str = "not found. Items are not persisted when `store` is set to false. Try \
    again with `store` set to true, or remove this item from your input.";

#[test]
fn duplicate_item_is_refused() {
    let turn = [reasoning(RS), call("fc_1", "call_1")];
    let twice: Vec<Value> = [&turn[..], &turn[..], &[output("call_1")]].concat();
    refused_input(&json!(twice), &format!("Duplicate item found with id {RS}. {REMOVE}"));
    let calls = json!([call("fc_1", "call_1"), call("fc_1", "call_2"), output("call_1")]);
    refused_input(&calls, &format!("Duplicate item found with id fc_1. {REMOVE}"));
    let messages = json!([assistant("msg_1"), assistant("msg_1")]);
    refused_input(&messages, &format!("Duplicate item found with id msg_1. {REMOVE}"));
}

#[test]
fn call_needs_a_later_output_of_its_kind() {
    for (kind, output_kind, call_words, output_words) in [
        ("function_call", "function_call_output", "function call", "function call output"),
        (
            "custom_tool_call",
            "custom_tool_call_output",
            "custom tool call",
            "custom tool call output",
        ),
        ("shell_call", "shell_call_output", "shell call", "shell call output"),
        (
            "local_shell_call",
            "local_shell_call_output",
            "local shell call",
            "local shell call output",
        ),
        (
            "apply_patch_call",
            "apply_patch_call_output",
            "apply patch call",
            "apply patch call output",
        ),
        ("computer_call", "computer_call_output", "computer call", "computer call output"),
        ("tool_search_call", "tool_search_output", "tool search call", "tool search output"),
        ("program", "program_output", "program", "program output"),
        (
            "multi_agent_call",
            "multi_agent_call_output",
            "multi agent call",
            "multi agent call output",
        ),
    ] {
        let half = |kind: &str, nth: u8| {
            let id = format!("{}_{nth}", Kind::parse(kind).id_prefix());
            json!({"type": kind, "id": id, "call_id": "call_x"})
        };
        let (call, other_call) = (half(kind, 1), half(kind, 2));
        let (output, other_output) = (half(output_kind, 3), half(output_kind, 4));
        let unanswered = format!("No tool output found for {call_words} call_x.");
        let orphan = format!("No tool call found for {output_words} with call_id call_x.");
        let call_twice = format!("Duplicate {call_words} found with call_id call_x. {REMOVE}");
        let output_twice = format!("Duplicate {output_words} found with call_id call_x. {REMOVE}");
        assert_eq!(validate(&replay(&json!([call, user("go on"), output]))), Ok(()), "{kind}");
        refused_input(&json!([user("hi"), call]), &unanswered);
        refused_input(&json!([output, user("hi")]), &orphan);
        refused_input(&json!([output, call]), &orphan);
        refused_input(&json!([call, other_call, output]), &call_twice);
        refused_input(&json!([call, output, other_call, other_output]), &call_twice);
        refused_input(&json!([call, output, other_output]), &output_twice);
    }
}

#[test]
fn call_identity_includes_its_type() {
    let custom = json!({"type": "custom_tool_call", "call_id": "call_1", "name": "n", "input": ""});
    let of_custom = json!({"type": "custom_tool_call_output", "call_id": "call_1", "output": ""});
    let crossed = json!([custom, output("call_1")]);
    let message = "No tool call found for function call output with call_id call_1.";
    refused_input(&crossed, message);
    let both = json!([custom, call("fc_1", "call_1"), output("call_1"), of_custom]);
    assert_eq!(validate(&replay(&both)), Ok(()));
}

#[test]
fn reasoning_must_precede_model_output() {
    let lone = |id: &str| {
        format!("Item '{id}' of type 'reasoning' was provided without its required following item.")
    };
    refused_input(&json!([user("hi"), reasoning(RS)]), &lone(RS));
    refused_input(&json!([reasoning(RS), user("hi"), assistant("msg_1")]), &lone(RS));
    refused_input(&json!([reasoning("rs_1"), reasoning("rs_2"), user("hi")]), &lone("rs_1"));
    let answered = json!([call("fc_1", "call_1"), reasoning(RS), output("call_1")]);
    refused_input(&answered, &lone(RS));
}

#[test]
fn reference_to_unstored_item_is_refused() {
    let missing = |id: &str| format!("Item with id '{id}' {NOT_FOUND}");
    for sealed in [Value::Null, json!("")] {
        let bare =
            json!({"type": "reasoning", "id": RS, "summary": [], "encrypted_content": sealed});
        let input = replay(&json!([bare, assistant("msg_1")]));
        refused(&input, (404, Some("input"), None, &missing(RS)));
    }
    let reference = json!([user("hi"), {"type": "item_reference", "id": "msg_1"}]);
    refused(&replay(&reference), (404, Some("input"), None, &missing("msg_1")));
}

#[test]
fn encrypted_content_is_bound_to_item_and_model() {
    let code = Some("invalid_encrypted_content");
    let input = |id: &str, sealed: &str| {
        let item =
            json!({"type": "reasoning", "id": id, "summary": [], "encrypted_content": sealed});
        replay(&json!([item, assistant("msg_1")]))
    };
    let shown = |sealed: &str| format!("gAAA...{}", &sealed[sealed.len() - 4..]);

    let own = encrypted_content(MODEL, RS);
    let moved = format!(
        "The encrypted content {} could not be verified. Reason: Encrypted content item_id did not \
        match the target item id.",
        shown(&own)
    );
    refused(&input("rs_other", &own), (400, None, code, &moved));

    let foreign = encrypted_content("other-model", RS);
    for sealed in [foreign.as_str(), &own[..own.len() - 1], "gAAAAABnot-ours"] {
        let unreadable = format!(
            "The encrypted content {} could not be verified. Reason: Encrypted content could not \
            be decrypted or parsed.",
            shown(sealed)
        );
        refused(&input(RS, sealed), (400, None, code, &unreadable));
    }
    let compaction = json!([{"type": "compaction", "id": "cmp_1", "encrypted_content": own}]);
    refused(&replay(&compaction), (400, None, code, &moved));
}
