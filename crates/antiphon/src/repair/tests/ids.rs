//! Item ids.

use super::{Action, assert_accepted, input_refusal, left_of, refusal, repairs, texts};
use crate::item::Item;
use crate::item::given::{assistant, call_under, item, output, reasoning, reference, user};

#[test]
fn copy_of_an_item_is_dropped() {
    let given = [user("hi"), assistant("msg_1", "Hello."), assistant("msg_1", "Hello.")];
    assert_eq!(
        refusal(&given),
        input_refusal(
            "Duplicate item found with id msg_1. Remove duplicate items from your input and try \
             again."
        )
    );
    assert_eq!(repairs(&given), [(2, "duplicate_item", Action::Dropped)]);
    assert_eq!(texts(&left_of(&given)), texts(&given[..2]));
}

#[test]
fn assistant_messages_under_one_id_are_one_item() {
    let given = [assistant("msg_1", "Hello."), assistant("msg_1", "Hel")];
    assert_eq!(texts(&left_of(&given)), texts(&given[..1]));
    let given = [reasoning("rs_1"), reasoning("rs_1"), assistant("msg_1", "Hello.")];
    assert_eq!(texts(&left_of(&given)), [given[0].text(), given[2].text()]);
}

#[test]
fn two_user_messages_under_one_id_both_stay() {
    let under_id = |text: &str| {
        item(format!(r#"{{"id":"msg_1","type":"message","role":"user","content":"{text}"}}"#))
    };
    let given = [under_id("hi"), under_id("bye")];
    assert_eq!(repairs(&given), [(1, "duplicate_item", Action::IdRemoved)]);
    let without_id = r#"{"type":"message","role":"user","content":"bye"}"#;
    assert_eq!(texts(&left_of(&given)), [given[0].text(), without_id]);
}

#[test]
fn two_calls_under_one_item_id_both_stay() {
    let given = [
        call_under("fc_0", "call_1", "{}"),
        output("call_1", "1"),
        call_under("fc_0", "call_2", "{}"),
        output("call_2", "2"),
    ];
    assert_eq!(repairs(&given), [(2, "duplicate_item", Action::IdRemoved)]);
    assert_eq!(left_of(&given).len(), 4);
}

#[test]
fn reference_next_to_its_item_is_dropped() {
    let given = [reference("msg_1"), user("hi"), assistant("msg_1", "Hello."), reference("msg_1")];
    assert_eq!(
        repairs(&given),
        [(0, "duplicate_item", Action::Dropped), (3, "duplicate_item", Action::Dropped)]
    );
    assert_eq!(texts(&left_of(&given)), texts(&given[1..3]));
}

#[test]
fn malformed_id_is_removed() {
    let given = [user("hi"), item(r#"{"role":"assistant","id":"chatcmpl-7","content":"Hello."}"#)];
    assert_eq!(
        refusal(&given),
        (
            400,
            Some("invalid_value"),
            "input[1].id".to_owned(),
            "Invalid 'input[1].id': 'chatcmpl-7'. Expected an ID that begins with 'msg'."
                .to_owned()
        )
    );
    assert_eq!(repairs(&given), [(1, "malformed_id", Action::IdRemoved)]);
    assert_eq!(left_of(&given)[1].text(), r#"{"role":"assistant","content":"Hello."}"#);
}

#[test]
fn id_with_invalid_characters_is_removed() {
    let given = [item(r#"{"role":"assistant","id":"msg_1:0","content":"Hello."}"#)];
    assert_eq!(
        refusal(&given).3,
        "Invalid 'input[0].id': 'msg_1:0'. Expected an ID that contains letters, numbers, \
         underscores, or dashes, but this value contained additional characters."
    );
    assert_eq!(repairs(&given), [(0, "malformed_id", Action::IdRemoved)]);
}

#[test]
fn id_prefix_is_checked_per_kind() {
    for (kind, expected, rest) in [
        ("message", "msg", r#""role":"user","content":"""#),
        ("reasoning", "rs", r#""summary":[]"#),
        ("function_call", "fc", r#""call_id":"c","name":"f","arguments":"{}""#),
        ("function_call_output", "fc", r#""call_id":"c","output":"""#),
        ("custom_tool_call", "ctc", r#""call_id":"c","name":"f","input":"""#),
        ("custom_tool_call_output", "ctco", r#""call_id":"c","output":"""#),
        ("web_search_call", "ws", r#""status":"completed","action":{}"#),
    ] {
        let given = [item(format!(r#"{{"type":"{kind}","id":"item_abc",{rest}}}"#))];
        let faults = super::check(&given);
        let (at, fault) = faults.first().expect("a provider refuses it");
        let message = fault.refusal(*at).message;
        if !kind.ends_with("_output") {
            let text = "Invalid 'input[0].id': 'item_abc'. Expected an ID that begins with";
            assert_eq!(message, format!("{text} '{expected}'."));
        }
        assert!(left_of(&given).iter().all(|item| item.head().id != Some("item_abc".into())));
    }
}

#[test]
fn malformed_id_of_a_custom_tools_output_is_removed() {
    let call = r#"{"type":"custom_tool_call","call_id":"c","name":"f","input":""}"#;
    let output = r#"{"type":"custom_tool_call_output","id":"fc_1","call_id":"c","output":""}"#;
    let given = [item(call), item(output)];
    let text = "Invalid 'input[1].id': 'fc_1'. Expected an ID that begins with 'ctco'.";
    assert_eq!(refusal(&given).3, text);
    assert_eq!(repairs(&given), [(1, "malformed_id", Action::IdRemoved)]);
}

#[test]
fn malformed_id_of_a_web_search_is_replaced() {
    let search = r#"{"type":"web_search_call","id":"foo_1","status":"completed","action":{}}"#;
    let given = [user("hi"), item(search)];
    assert_eq!(repairs(&given), [(1, "malformed_id", Action::IdReplaced)]);
    let left = left_of(&given);
    assert!(left[1].head().id.as_ref().is_some_and(|id| id.as_str().starts_with("ws_")));
    assert_accepted(&left);
}

/// The provider's text: <https://github.com/langchain-ai/langchainjs/issues/11044>.
#[test]
fn empty_id_is_removed_or_replaced() {
    let message = r#"{"role":"assistant","id":"","content":"Hello."}"#;
    for (text, action) in [
        (r#"{"role":"assistant","id": "","content":"Hello."}"#, Action::IdRemoved),
        (r#"{"type":"web_search_call","id":"","status":"completed"}"#, Action::IdReplaced),
        (r#"{"type":"reasoning","id":"","summary":[]}"#, Action::Dropped),
        (r#"{"type":"reasoning","id":"","encrypted_content":"gA"}"#, Action::IdRemoved),
    ] {
        let given = [item(text), item(message).with(|object| object.remove("id"))];
        assert_eq!(
            refusal(&given),
            (
                400,
                Some("invalid_value"),
                "input[0].id".to_owned(),
                "Invalid 'input[0].id': ''. Expected an ID that contains letters, numbers, \
                 underscores, or dashes, but this value contained additional characters."
                    .to_owned()
            )
        );
        assert_eq!(repairs(&given), [(0, "malformed_id", action)], "{text}");
        assert_accepted(&left_of(&given));
    }
}

#[test]
fn empty_id_of_a_kind_without_a_known_form_stays() {
    assert_accepted(&[item(r#"{"type":"acme:telemetry","id":""}"#)]);
}

#[test]
fn reference_without_id_is_dropped() {
    let given = [user("hi"), item(r#"{"type":"item_reference"}"#)];
    assert_eq!(
        refusal(&given),
        (
            400,
            Some("missing_required_parameter"),
            "input[1].id".to_owned(),
            "Missing required parameter: 'input[1].id'.".to_owned()
        )
    );
    assert_eq!(repairs(&given), [(1, "missing_id", Action::Dropped)]);
    assert_eq!(texts(&left_of(&given)), texts(&given[..1]));
}

#[test]
fn overlong_id_is_removed() {
    let long = "msg_".to_owned() + &"x".repeat(412);
    let given = [user("a"), user("b"), assistant(&long, "Hello.")];
    assert_eq!(
        refusal(&given),
        (
            400,
            Some("string_above_max_length"),
            "input[2].id".to_owned(),
            "Invalid 'input[2].id': string too long. Expected a string with maximum length 64, \
             but got a string with length 416 instead."
                .to_owned()
        )
    );
    assert_eq!(repairs(&given), [(2, "overlong_id", Action::IdRemoved)]);
}

#[test]
fn encrypted_reasoning_with_an_invalid_id_is_dropped() {
    let given = [user("hi"), reasoning("reasoning-1"), assistant("msg_1", "Hello.")];
    assert_eq!(repairs(&given), [(1, "malformed_id", Action::Dropped)]);
    assert_eq!(texts(&left_of(&given)), [given[0].text(), given[2].text()]);
}

#[test]
fn required_id_is_replaced() {
    let search = |id: &str| {
        let action = r#"{"query":"x"}"#;
        item(format!(
            r#"{{"type":"web_search_call","id":"{id}","status":"completed","action":{action}}}"#
        ))
    };
    let long = "y".repeat(65);
    let given = [search(&long), user("hi")];
    assert_eq!(repairs(&given), [(0, "overlong_id", Action::IdReplaced)]);
    let id = |items: &[Item]| items[0].head().id.clone().unwrap();
    let new = id(&left_of(&given));
    assert!(new.as_str().starts_with("ws_") && new.as_str().len() <= 64);
    assert_eq!(id(&left_of(&given)), new, "the same history is sent as the same bytes");
}

#[test]
fn each_item_under_a_repeated_id_gets_its_own() {
    let click = |n: u8| {
        let ids = format!(r#""id":"cu_1","call_id":"call_{n}""#);
        let done = r#""pending_safety_checks":[],"status":"completed""#;
        item(format!(r#"{{"type":"computer_call",{ids},"action":{{"x":{n}}},{done}}}"#))
    };
    let shown = |n: u8| {
        item(format!(r#"{{"type":"computer_call_output","call_id":"call_{n}","output":{{}}}}"#))
    };
    let left = left_of(&[click(1), shown(1), click(2), shown(2), click(3), shown(3)]);
    assert_eq!(left.len(), 6);
    assert_accepted(&left);
}

#[test]
fn overlong_reference_is_dropped() {
    let given = [user("hi"), item(format!(r#"{{"id":"{}"}}"#, "z".repeat(65)))];
    assert_eq!(repairs(&given), [(1, "overlong_id", Action::Dropped)]);
}

#[test]
fn ids_of_unknown_kinds_are_not_checked() {
    assert_accepted(&[
        item(r#"{"type":"acme:telemetry","id":"whatever:1","n":1e2}"#),
        item(r#"{"type":"file_search_call","id":"search/1","status":"completed"}"#),
        user("hi"),
    ]);
}

#[test]
fn equal_unknown_items_under_one_id_are_one() {
    let unknown = |n: u8| item(format!(r#"{{"type":"acme:telemetry","id":"t_1","n":{n}}}"#));
    let given = [unknown(1), unknown(1), unknown(2)];
    assert_eq!(
        repairs(&given),
        [(1, "duplicate_item", Action::Dropped), (2, "duplicate_item", Action::IdRemoved)]
    );
}

#[test]
fn overlong_id_of_local_shell_output_is_removed() {
    let call = item(concat!(
        r#"{"type":"local_shell_call","id":"lsh_1","call_id":"call_1","action":{},"#,
        r#""status":"completed"}"#,
    ));
    let output = r#"{"type":"local_shell_call_output","call_id":"call_1","output":"ok"}"#;
    let named = output.replace(r#""output":"#, &format!(r#""id":"{}","output":"#, "x".repeat(70)));
    let given = [user("hi"), call, Item::parse(named.into()).unwrap()];
    assert_eq!(repairs(&given), [(2, "overlong_id", Action::IdRemoved)]);
    assert_eq!(texts(&left_of(&given))[2], output);
}

const SEARCH: &str = r#"{"type":"web_search_call","status":"completed"}"#;

/// The provider's text: <https://github.com/openai/codex/issues/6926>.
#[test]
fn missing_id_is_added() {
    let given = [user("hi"), item(SEARCH), assistant("msg_1", "Found.")];
    assert_eq!(
        refusal(&given),
        (
            400,
            Some("missing_required_parameter"),
            "input[1].id".to_owned(),
            "Missing required parameter: 'input[1].id'.".to_owned()
        )
    );
    assert_eq!(repairs(&given), [(1, "missing_id", Action::IdAdded)]);
    let left = left_of(&given);
    assert!(left[1].head().id.as_ref().unwrap().as_str().starts_with("ws_"));
    assert_eq!(texts(&left), texts(&left_of(&given)));
    assert_accepted(&left);
}

#[test]
fn equal_items_without_ids_get_different_ones() {
    let given = [item(SEARCH), item(SEARCH), assistant("msg_1", "Found.")];
    let left = left_of(&given);
    assert_ne!(left[0].head().id, left[1].head().id);
    assert_eq!(left.len(), 3);
    assert_accepted(&left);
}

#[test]
fn reasoning_without_id_and_content_is_dropped() {
    let given = [
        item(r#"{"type":"reasoning","summary":[{"type":"summary_text","text":"Hm."}]}"#),
        assistant("msg_1", "Hello."),
    ];
    assert_eq!(repairs(&given), [(0, "missing_id", Action::Dropped)]);
    assert_eq!(texts(&left_of(&given)), texts(&given[1..]));
}

#[test]
fn reasoning_with_content_needs_no_id() {
    for content in [r#""encrypted_content":"gAAAA""#, r#""content":[{"type":"reasoning_text"}]"#] {
        let reasoning = format!(r#"{{"type":"reasoning","summary":[],{content}}}"#);
        assert_accepted(&[item(reasoning), assistant("msg_1", "Hello.")]);
    }
}

#[test]
fn approval_request_without_id_gets_one_with_its_prefix() {
    let given = [item(r#"{"type":"mcp_approval_request","server_label":"s","name":"f"}"#)];
    assert_eq!(refusal(&given).2, "input[0].id");
    assert_eq!(left_of(&given)[0].head().id.as_ref().unwrap().as_str(), "mcpr_1");
}
