//! Placeholders and carrier messages, created and recognized.

use super::{LateOutput, is_placeholder_item, late_output_message};
use crate::faults::MAX_ID_LENGTH;
use crate::item::given::{call, item, output, user};
use crate::item::{Item, Role};
use crate::placeholder::PLACEHOLDER_TEXT;
use crate::repair::repair;

fn carrier(output: &Item) -> Item {
    late_output_message(output).expect("an output has a carrier")
}

/// The texts of a message's parts.
fn parts(message: &Item) -> Vec<String> {
    let content: serde_json::Value = serde_json::from_str(message.text()).unwrap();
    let parts = content["content"].as_array().unwrap().iter();
    parts.map(|part| part["text"].as_str().unwrap_or("no text").to_owned()).collect()
}

const HEADING: &str = "Late output of the function call call_1, in the place of \"No output was \
                       recorded for this call.\":\n\n";

#[test]
fn late_text_becomes_a_user_message_naming_its_call() {
    let message = carrier(&output("call_1", "10 \"degrees\""));
    assert_eq!(message.head().role, Some(Role::User));
    assert_eq!(message.head().id, None);
    assert_eq!(parts(&message), [HEADING, "10 \"degrees\""]);
    assert!(HEADING.contains(PLACEHOLDER_TEXT));
}

#[test]
fn message_parts_of_a_late_output_stay() {
    let image = item(
        r#"{"type":"function_call_output","id":"fc_1","call_id":"call_1","output":[
            {"type":"input_text","text":"Bonn:"},{"type":"input_image","image_url":"data:"}]}"#,
    );
    let message = carrier(&image);
    assert_eq!(parts(&message), [HEADING, "Bonn:", "no text"]);
    assert!(message.text().contains(r#"{"type":"input_image","image_url":"data:"}"#));
}

#[test]
fn late_output_of_other_kinds_becomes_json() {
    let patched = r#"{"type":"apply_patch_call_output","call_id":"call_1","status":"completed"}"#;
    let texts = parts(&carrier(&item(patched)));
    assert_eq!(texts[0], HEADING.replace("function", "apply patch"));
    assert_eq!(texts[1], r#"{"type":"apply_patch_call_output","status":"completed"}"#);
    let scent = r#"{"type":"function_call_output","call_id":"call_1","output":[{"type":"scent"}]}"#;
    let texts = parts(&carrier(&item(scent)));
    assert_eq!(texts[1], r#"{"type":"function_call_output","output":[{"type":"scent"}]}"#);
}

#[test]
fn empty_late_output_becomes_a_message() {
    let empty = item(r#"{"type":"function_call_output","call_id":"call_1","output":[]}"#);
    assert_eq!(parts(&carrier(&empty)), [HEADING]);
}

#[test]
fn heading_length_is_bounded() {
    let message = carrier(&output(&"é".repeat(10_000), "ok"));
    let heading = parts(&message).remove(0);
    assert_eq!(heading.chars().filter(|c| *c == 'é').count(), MAX_ID_LENGTH);
    assert!(is_placeholder_item(&message));
}

#[test]
fn only_outputs_become_messages() {
    assert_eq!(late_output_message(&user("hi")), None);
    assert_eq!(late_output_message(&call("call_1", "{}")), None);
}

#[test]
fn only_placeholders_and_carriers_are_recognized() {
    let calls = [
        call("call_1", "{}"),
        item(r#"{"type":"custom_tool_call","call_id":"call_2","name":"f","input":""}"#),
        item(r#"{"type":"shell_call","call_id":"call_3","action":{"commands":["ls"]}}"#),
        item(r#"{"type":"local_shell_call","id":"l","call_id":"call_4","action":{}}"#),
        item(r#"{"type":"apply_patch_call","call_id":"call_5","operation":{}}"#),
        item(r#"{"type":"tool_search_call","call_id":"call_6","arguments":{}}"#),
    ];
    let placeholders = repair(&calls).items.split_off(calls.len());
    assert_eq!(placeholders.len(), calls.len());
    assert!(placeholders.iter().all(is_placeholder_item));
    assert!(is_placeholder_item(&carrier(&output("call_1", "10 degrees"))));
    let real =
        [user("Late output of the function call."), output("call_1", "ok"), user(PLACEHOLDER_TEXT)];
    assert!(!real.iter().chain(&calls).any(is_placeholder_item));
}

#[test]
fn late_output_actions_are_named_in_reports() {
    assert_eq!(
        [LateOutput::Replaces, LateOutput::CarriedByMessage].map(LateOutput::action),
        ["replaces", "told"]
    );
    assert!(LateOutput::CarriedByMessage.message().contains("cannot be deleted"));
}
