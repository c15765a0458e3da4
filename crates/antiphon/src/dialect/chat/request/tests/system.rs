//! Instructions and roles.

use super::*;

#[test]
fn instructions_become_first_system_message() {
    let (body, _) =
        encoded(&json!({"model": "m", "instructions": "Be brief."}), &json!([user("hi")]));
    let expected =
        json!([{"role": "system", "content": "Be brief."}, {"role": "user", "content": "hi"}]);
    assert_eq!(body["messages"], expected);
}

#[test]
fn developer_message_becomes_system_message() {
    let input = json!([{"role": "developer", "content": "Be kind."}, user("hi")]);
    let expected =
        json!([{"role": "system", "content": "Be kind."}, {"role": "user", "content": "hi"}]);
    assert_eq!(messages(&input), expected);
}

#[test]
fn adjacent_instructions_become_one_message() {
    let fields = json!({"model": "m", "instructions": "One."});
    let input = json!([{"role": "developer", "content": "Two."}, {"role": "system",
        "content": [{"type": "input_text", "text": "Three."}]}, user("hi")]);
    let (body, _) = encoded(&fields, &input);
    assert_eq!(body["messages"][0]["content"], "One.\n\nTwo.\n\nThree.");
    assert_eq!(body["messages"][1]["role"], "user");
}

#[test]
fn later_instructions_keep_their_position() {
    let input = json!([user("hi"), {"role": "system", "content": "Now in French."}, user("go")]);
    let roles: Vec<Value> =
        messages(&input).as_array().unwrap().iter().map(|m| m["role"].clone()).collect();
    assert_eq!(roles, ["user", "system", "user"]);
}

#[test]
fn instructions_of_wrong_type_are_rejected() {
    assert_eq!(refused_field(&json!({"model": "m", "instructions": [user("hi")]})), "instructions");
}

#[test]
fn unknown_role_is_rejected() {
    assert_eq!(
        refused_at(&json!([user("a"), {"role": "critic", "content": "b"}])),
        "input[1].role"
    );
}

#[test]
fn unsupported_message_field_is_reported() {
    let input = json!([{"role": "assistant", "content": "Wait.", "phase": "commentary"}]);
    let (messages, omitted) = reported(&input);
    assert_eq!(messages, json!([{"role": "assistant", "content": "Wait."}]));
    assert_eq!(omitted, ["input[0].phase"]);
}

#[test]
fn ids_status_and_nulls_are_not_reported() {
    let input = json!([{"type": "message", "id": "msg_1", "role": "user", "content": "hi",
        "status": "completed", "phase": null}]);
    assert_eq!(messages(&input), json!([{"role": "user", "content": "hi"}]));
}
