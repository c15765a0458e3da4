//! The model knows exactly its input, and its answer contains a duplicate twice.

use serde_json::{Value, json};

use super::{ask, echo, user};

const NOTHING: &str = "I have nothing about that in my context.";

fn said(input: Value) -> String {
    ask(json!({ "input": input })).text().to_owned()
}

#[test]
fn three_turns_of_fact_tool_and_recall() {
    let tools = json!([echo()]);
    let mut context = vec![user("My color is purple, dog is Biscuit")];
    let first = ask(json!({ "input": context, "tools": tools }));
    assert_eq!(first.text(), "Noted: My color is purple, dog is Biscuit.");

    context.extend(first.items().iter().cloned());
    context.push(user("Call the echo tool with hello"));
    let second = ask(json!({ "input": context, "tools": tools }));
    assert_eq!(second.calls(), [("echo".to_owned(), json!({ "message": "hello" }))]);

    context.extend(second.items().iter().cloned());
    let call_id = &second.items()[1]["call_id"];
    context.push(json!({ "type": "function_call_output", "call_id": call_id, "output": "hello" }));
    let third = ask(json!({ "input": context, "tools": tools }));
    assert_eq!(third.text(), "echo returned: hello");

    context.extend(third.items().iter().cloned());
    context.push(user("What is my color and dog name?"));
    let fourth = ask(json!({ "input": context, "tools": tools }));
    assert_eq!(fourth.text(), "You told me: color is purple; dog is Biscuit.");
}

#[test]
fn fact_missing_from_the_context_is_not_recalled() {
    assert_eq!(said(json!([user("What is my color?")])), NOTHING);
    assert_eq!(said(json!("What is my color?")), NOTHING);
}

#[test]
fn duplicate_fact_is_recalled_twice() {
    let input = json!([user("My color is red"), user("My color is red"), user("What's my color?")]);
    assert_eq!(said(input), "You told me: color is red; color is red.");
}

#[test]
fn duplicate_output_is_repeated_twice() {
    let call =
        json!({ "type": "function_call", "call_id": "c1", "name": "echo", "arguments": "{}" });
    let output = json!({ "type": "function_call_output", "call_id": "c1", "output": "hi" });
    let input = json!([user("echo hi"), call, output, output]);
    assert_eq!(said(input), "echo returned: hi; echo returned: hi");
}

#[test]
fn answers_of_the_model_itself_are_no_facts() {
    let assistant = json!({ "role": "assistant", "content": "Your color is green" });
    assert_eq!(said(json!([assistant, user("What is my color?")])), NOTHING);
}

#[test]
fn facts_sharing_a_word_with_the_question_are_quoted() {
    let told = user("My name is Ada and my cats are called Tom and Kit. I am from Lyon");
    let input = json!([told, user("Do you remember my cat")]);
    assert_eq!(said(input), "You told me: cats are called Tom and Kit.");
}

#[test]
fn statement_without_a_verb_of_being_is_quoted_whole() {
    let input = json!([user("I live in Paris."), user("Where do I live?")]);
    assert_eq!(said(input), "You told me: I live in Paris.");
}

#[test]
fn facts_without_a_shared_word_are_quoted_whole() {
    let input = json!([user("Hi! I'm Ada, nice to meet you."), user("Who is it then?")]);
    assert_eq!(said(input), "You told me: I'm Ada, nice to meet you.");
}

#[test]
fn earlier_questions_are_no_facts() {
    let input = json!([user("What is my color?"), user("What is my color?")]);
    assert_eq!(said(input), NOTHING);
}

#[test]
fn fact_and_question_can_share_a_message() {
    let input = json!("Remember this: my favourite colour is teal. What is my favorite color?");
    assert_eq!(said(input), "You told me: favourite colour is teal.");
}

#[test]
fn facts_in_instructions_are_attributed_to_them() {
    let answered = ask(json!({
        "instructions": "The codeword is heron.",
        "input": [
            { "role": "developer", "content": "The second codeword is stork" },
            user("Which codeword is it?"),
        ],
    }));
    let expected = "My instructions say: codeword is heron; second codeword is stork.";
    assert_eq!(answered.text(), expected);
}

#[test]
fn question_about_a_tool_recalls_its_output_without_a_call() {
    let answered = ask(json!({
        "tools": [echo()],
        "input": [
            user("Please run it"),
            { "type": "function_call", "call_id": "c1", "name": "echo", "arguments": "{}" },
            { "type": "function_call_output", "call_id": "c1", "output": "hello" },
            { "role": "assistant", "content": "echo returned: hello" },
            user("What did the echo tool return?"),
        ],
    }));
    assert_eq!(answered.text(), "echo returned: hello.");
}

#[test]
fn outputs_name_the_tool_of_the_call_they_answer() {
    let input = json!([
        user("Both, please"),
        { "type": "function_call", "call_id": "c1", "name": "echo", "arguments": "{}" },
        { "type": "custom_tool_call", "call_id": "c2", "name": "shout", "input": "hey" },
        { "type": "function_call_output", "call_id": "c1",
          "output": [{ "type": "input_text", "text": "hello" }] },
        { "type": "custom_tool_call_output", "call_id": "c2", "output": "HEY" },
        { "role": "developer", "content": "Be brief." },
    ]);
    assert_eq!(said(input), "echo returned: hello; shout returned: HEY");
}

#[test]
fn outputs_before_a_newer_user_message_are_not_repeated() {
    let input = json!([
        user("echo"),
        { "type": "function_call", "call_id": "c1", "name": "echo", "arguments": "{}" },
        { "type": "function_call_output", "call_id": "c1", "output": "aborted" },
        user("Never mind"),
    ]);
    assert_eq!(said(input), "Noted: Never mind.");
}

#[test]
fn outputs_of_an_earlier_step_are_not_repeated() {
    let input = json!([
        user("go"),
        { "type": "function_call", "call_id": "c1", "name": "a", "arguments": "{}" },
        { "type": "function_call_output", "call_id": "c1", "output": "one" },
        { "type": "reasoning", "id": "rs_1", "summary": [] },
        { "type": "function_call", "call_id": "c2", "name": "b", "arguments": "{}" },
        { "type": "function_call_output", "call_id": "c2", "output": "two" },
    ]);
    assert_eq!(said(input), "b returned: two");
}

#[test]
fn output_without_its_call_is_named_by_call_id() {
    let output = json!({ "type": "function_call_output", "call_id": "c9", "output": "lost" });
    assert_eq!(said(json!([user("go"), output])), "c9 returned: lost");
}
