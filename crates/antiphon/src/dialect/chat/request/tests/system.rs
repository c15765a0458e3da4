//! Instructions, and who says what.

use super::*;

#[test]
fn instructions_are_the_first_message_and_of_the_system() {
    let (body, _) =
        encoded(&json!({"model": "m", "instructions": "Be brief."}), &json!([user("hi")]));
    let expected =
        json!([{"role": "system", "content": "Be brief."}, {"role": "user", "content": "hi"}]);
    assert_eq!(body["messages"], expected);
}

#[test]
fn a_developer_speaks_as_the_system() {
    let input = json!([{"role": "developer", "content": "Be kind."}, user("hi")]);
    let expected =
        json!([{"role": "system", "content": "Be kind."}, {"role": "user", "content": "hi"}]);
    assert_eq!(messages(&input), expected);
}

#[test]
fn instructions_side_by_side_are_one_message() {
    let fields = json!({"model": "m", "instructions": "One."});
    let input = json!([{"role": "developer", "content": "Two."}, {"role": "system",
        "content": [{"type": "input_text", "text": "Three."}]}, user("hi")]);
    let (body, _) = encoded(&fields, &input);
    assert_eq!(body["messages"][0]["content"], "One.\n\nTwo.\n\nThree.");
    assert_eq!(body["messages"][1]["role"], "user");
}

#[test]
fn instructions_in_the_midst_stay_where_they_are() {
    let input = json!([user("hi"), {"role": "system", "content": "Now in French."}, user("go")]);
    let roles: Vec<Value> =
        messages(&input).as_array().unwrap().iter().map(|m| m["role"].clone()).collect();
    assert_eq!(roles, ["user", "system", "user"]);
}

#[test]
fn instructions_that_are_no_string_are_refused() {
    assert_eq!(refused_field(&json!({"model": "m", "instructions": [user("hi")]})), "instructions");
}

#[test]
fn an_unknown_role_is_refused() {
    assert_eq!(
        refused_at(&json!([user("a"), {"role": "critic", "content": "b"}])),
        "input[1].role"
    );
}

#[test]
fn a_field_that_messages_lack_is_reported() {
    let input = json!([{"role": "assistant", "content": "Wait.", "phase": "commentary"}]);
    let (messages, omitted) = reported(&input);
    assert_eq!(messages, json!([{"role": "assistant", "content": "Wait."}]));
    assert_eq!(omitted, ["input[0].phase"]);
}

#[test]
fn ids_status_and_fabricated_nulls_are_nothing_to_report() {
    let input = json!([{"type": "message", "id": "msg_1", "role": "user", "content": "hi",
        "status": "completed", "phase": null}]);
    assert_eq!(messages(&input), json!([{"role": "user", "content": "hi"}]));
}
