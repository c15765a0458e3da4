//! What is made up, known again.

use super::{LateOutput, is_made_up, message_of_late_output};
use crate::faults::MAX_ID_LENGTH;
use crate::item::given::{call, item, output, user};
use crate::item::{Item, Role};
use crate::made_up::silence::SILENCE;
use crate::repair::repair;

fn told(output: &Item) -> Item {
    message_of_late_output(output).expect("an output can be told")
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
fn a_late_text_is_told_by_the_user_under_the_name_of_its_call() {
    let message = told(&output("call_1", "10 \"degrees\""));
    assert_eq!(message.head().role, Some(Role::User));
    assert_eq!(message.head().id, None);
    assert_eq!(parts(&message), [HEADING, "10 \"degrees\""]);
    assert!(HEADING.contains(SILENCE));
}

#[test]
fn parts_that_messages_have_too_stay_what_they_are() {
    let image = item(
        r#"{"type":"function_call_output","id":"fc_1","call_id":"call_1","output":[
            {"type":"input_text","text":"Bonn:"},{"type":"input_image","image_url":"data:"}]}"#,
    );
    let message = told(&image);
    assert_eq!(parts(&message), [HEADING, "Bonn:", "no text"]);
    assert!(message.text().contains(r#"{"type":"input_image","image_url":"data:"}"#));
}

#[test]
fn what_other_tools_answer_is_told_as_json() {
    let patched = r#"{"type":"apply_patch_call_output","call_id":"call_1","status":"completed"}"#;
    let told_of = parts(&told(&item(patched)));
    assert_eq!(told_of[0], HEADING.replace("function", "apply patch"));
    assert_eq!(told_of[1], r#"{"type":"apply_patch_call_output","status":"completed"}"#);
    let scent = r#"{"type":"function_call_output","call_id":"call_1","output":[{"type":"scent"}]}"#;
    let told_of = parts(&told(&item(scent)));
    assert_eq!(told_of[1], r#"{"type":"function_call_output","output":[{"type":"scent"}]}"#);
}

#[test]
fn an_output_without_a_word_is_told_too() {
    let empty = item(r#"{"type":"function_call_output","call_id":"call_1","output":[]}"#);
    assert_eq!(parts(&told(&empty)), [HEADING]);
}

#[test]
fn the_heading_is_bounded() {
    let message = told(&output(&"é".repeat(10_000), "ok"));
    let heading = parts(&message).remove(0);
    assert_eq!(heading.chars().filter(|c| *c == 'é').count(), MAX_ID_LENGTH);
    assert!(is_made_up(&message));
}

#[test]
fn only_outputs_can_be_told() {
    assert_eq!(message_of_late_output(&user("hi")), None);
    assert_eq!(message_of_late_output(&call("call_1", "{}")), None);
}

#[test]
fn what_was_made_up_is_known_and_nothing_else() {
    let calls = [
        call("call_1", "{}"),
        item(r#"{"type":"custom_tool_call","call_id":"call_2","name":"f","input":""}"#),
        item(r#"{"type":"shell_call","call_id":"call_3","action":{"commands":["ls"]}}"#),
        item(r#"{"type":"local_shell_call","id":"l","call_id":"call_4","action":{}}"#),
        item(r#"{"type":"apply_patch_call","call_id":"call_5","operation":{}}"#),
        item(r#"{"type":"tool_search_call","call_id":"call_6","arguments":{}}"#),
    ];
    let made_up = repair(&calls).items.split_off(calls.len());
    assert_eq!(made_up.len(), calls.len());
    assert!(made_up.iter().all(is_made_up));
    assert!(is_made_up(&told(&output("call_1", "10 degrees"))));
    let made = [user("Late output of the function call."), output("call_1", "ok"), user(SILENCE)];
    assert!(!made.iter().chain(&calls).any(is_made_up));
}

#[test]
fn reports_say_what_became_of_it() {
    assert_eq!(
        [LateOutput::Replaces, LateOutput::Told].map(LateOutput::action),
        ["replaces", "told"]
    );
    assert!(LateOutput::Told.message().contains("cannot be deleted"));
}
