//! `instructions`, system and developer messages.

use serde_json::json;

use super::{given, refused, send, text};
use crate::item::given::{bare_assistant, developer, system, user};

#[test]
fn instructions_and_leading_messages_become_system_prompt() {
    let items = [system("You are Ada."), developer("Be brief."), user("hi")];
    let sent = send(&json!({"instructions": "Speak \"English\"."}), &items);
    let expected = json!([text("Speak \"English\"."), text("You are Ada."), text("Be brief.")]);
    assert_eq!(sent.body["system"], expected);
    assert_eq!(sent.messages(), &json!([{"role": "user", "content": [text("hi")]}]));
    assert_eq!(sent.reported, [""; 0]);
}

#[test]
fn later_instructions_join_system_prompt_and_are_reported() {
    let items = [system("Be brief."), user("hi"), developer("Be kind."), user("bye")];
    let sent = send(&json!({}), &items);
    assert_eq!(sent.body["system"], json!([text("Be brief."), text("Be kind.")]));
    assert_eq!(sent.messages(), &json!([{"role": "user", "content": [text("hi"), text("bye")]}]));
    assert_eq!(sent.reported, ["input[2]"]);
}

#[test]
fn request_without_instructions_has_no_system_prompt() {
    let sent = send(&json!({"instructions": null}), &[system(""), user("hi")]);
    assert_eq!(sent.body.get("system"), None);
}

#[test]
fn image_in_instructions_is_rejected() {
    let image = json!({"type": "input_image", "image_url": "https://example.com/a.png"});
    let items = [given(&json!({"role": "developer", "content": [image]})), user("hi")];
    assert_eq!(refused(&json!({}), &items).0, "input[0].content[0]");
}

#[test]
fn request_with_only_instructions_is_rejected() {
    let (place, _) = refused(&json!({"instructions": "Be brief."}), &[system("Now.")]);
    assert_eq!(place, "input");
    let items = [user(" \n"), bare_assistant("")];
    assert_eq!(refused(&json!({}), &items).0, "input");
}
