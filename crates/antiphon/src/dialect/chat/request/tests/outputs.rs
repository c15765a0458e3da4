//! Outputs and their positions.

use super::*;

fn calling(calls: &[Value]) -> Value {
    json!({"role": "assistant", "content": null, "tool_calls": calls})
}

#[test]
fn parallel_outputs_follow_order_of_calls() {
    let input = json!([
        call("call_1", "{}"),
        call("call_2", "{}"),
        output("call_2", "2"),
        output("call_1", "1")
    ]);
    let calls = [called("call_1", "{}"), called("call_2", "{}")];
    assert_eq!(
        messages(&input),
        json!([calling(&calls), tool("call_1", "1"), tool("call_2", "2")])
    );
}

#[test]
fn late_output_follows_its_calls() {
    let input = json!([
        call("call_1", "{}"),
        call("call_2", "{}"),
        output("call_2", "2"),
        user("and?"),
        assistant("Wait."),
        output("call_1", "1"),
        user("go on")
    ]);
    let calls = [called("call_1", "{}"), called("call_2", "{}")];
    let expected = json!([calling(&calls), tool("call_1", "1"), tool("call_2", "2"),
        user("and?"), {"role": "assistant", "content": "Wait."}, user("go on")]);
    assert_eq!(messages(&input), expected);
}

#[test]
fn late_output_does_not_split_later_turn() {
    let input = json!([
        call("call_1", "{}"),
        user("and?"),
        assistant("One."),
        output("call_1", "1"),
        call("call_2", "{}"),
        output("call_2", "2")
    ]);
    let expected = json!([calling(&[called("call_1", "{}")]), tool("call_1", "1"), user("and?"),
        {"role": "assistant", "content": "One.", "tool_calls": [called("call_2", "{}")]},
        tool("call_2", "2")]);
    assert_eq!(messages(&input), expected);
}

/// Calls of different kinds may share a `call_id`; a `tool` message identifies its call only by id.
#[test]
fn calls_of_a_message_have_unique_ids() {
    let input = json!([
        {"type": "custom_tool_call", "call_id": "call_1", "name": "shell", "input": "ls"},
        call("call_1", "{}"),
        output("call_1", "of the function"),
        {"type": "custom_tool_call_output", "call_id": "call_1", "output": "of the tool"}
    ]);
    let custom = json!({"id": "call_1", "type": "custom",
        "custom": {"name": "shell", "input": "ls"}});
    let calls = [custom, called("call_1_2", "{}")];
    assert_eq!(
        messages(&input),
        json!([
            calling(&calls),
            tool("call_1", "of the tool"),
            tool("call_1_2", "of the function")
        ])
    );
}

#[test]
fn outputs_match_calls_when_ids_restart() {
    let input = json!([
        call("call_0", "{\"n\":1}"),
        output("call_0", "1"),
        call("call_0", "{\"n\":2}"),
        call("call_1", "{}"),
        output("call_1", "3"),
        output("call_0", "2")
    ]);
    let expected = json!([
        calling(&[called("call_0", "{\"n\":1}")]),
        tool("call_0", "1"),
        calling(&[called("call_0", "{\"n\":2}"), called("call_1", "{}")]),
        tool("call_0", "2"),
        tool("call_1", "3")
    ]);
    assert_eq!(messages(&input), expected);
}

#[test]
fn outputs_match_calls_in_order_with_constant_id() {
    let input =
        json!([call("c", "{\"n\":1}"), call("c", "{\"n\":2}"), output("c", "1"), output("c", "2")]);
    let calls = [called("c", "{\"n\":1}"), called("c_2", "{\"n\":2}")];
    assert_eq!(messages(&input), json!([calling(&calls), tool("c", "1"), tool("c_2", "2")]));
}

#[test]
fn output_texts_are_joined() {
    let parts = json!([{"type": "input_text", "text": "a"}, {"type": "input_text", "text": "b"}]);
    let input = json!([call("call_1", "{}"), output("call_1", parts)]);
    assert_eq!(messages(&input)[1], tool("call_1", "a\n\nb"));
}

#[test]
fn output_images_follow_in_user_message() {
    let image = |url: &str| json!({"type": "input_image", "image_url": url});
    let chart = json!([{"type": "input_text", "text": "A chart."}, image("data:1")]);
    let input = json!([
        call("call_1", "{}"),
        call("call_2", "{}"),
        call("call_3", "{}"),
        output("call_1", chart),
        output("call_2", "2"),
        output("call_3", json!([image("data:3")])),
        assistant("I see.")
    ]);
    let (messages, omitted) = reported(&input);
    let shown = |url: &str| json!({"type": "image_url", "image_url": {"url": url}});
    let label = |text: &str| json!({"type": "text", "text": text});
    assert_eq!(messages[1], tool("call_1", "A chart."));
    assert_eq!(messages[2], tool("call_2", "2"));
    assert_eq!(messages[3], tool("call_3", "The output follows in the next message."));
    assert_eq!(
        messages[4],
        json!({"role": "user", "content": [label("Output of call_1:"),
        shown("data:1"), label("Output of call_3:"), shown("data:3")]})
    );
    assert_eq!(messages[5], json!({"role": "assistant", "content": "I see."}));
    assert_eq!(omitted, ["input[3].output", "input[5].output"]);
}

#[test]
fn output_without_call_is_rejected() {
    assert_eq!(refused_at(&json!([user("hi"), output("call_1", "1")])), "input[1].call_id");
    let nameless = json!([call("call_1", "{}"), {"type": "function_call_output", "output": "1"}]);
    assert_eq!(refused_at(&nameless), "input[1].call_id");
    let twice = json!([call("call_1", "{}"), output("call_1", "1"), output("call_1", "2")]);
    assert_eq!(refused_at(&twice), "input[2].call_id");
}

#[test]
fn custom_output_for_function_call_is_rejected() {
    let input = json!([call("call_1", "{}"), {"type": "custom_tool_call_output",
        "call_id": "call_1", "output": "1"}]);
    assert_eq!(refused_at(&input), "input[1].call_id");
}

#[test]
fn call_without_output_is_sent() {
    let input = json!([call("call_1", "{}")]);
    assert_eq!(messages(&input), json!([calling(&[called("call_1", "{}")])]));
}
