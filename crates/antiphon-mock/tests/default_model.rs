//! The default model answers from its input alone.

use antiphon_mock::judge::validate;
use antiphon_mock::{Answer, default_model};
use serde_json::{Value, json};

fn request(input: &Value) -> Value {
    json!({
        "model": "fake-model",
        "input": input,
        "store": false,
        "include": ["reasoning.encrypted_content"],
        "tools": [tool("echo"), tool("search")],
    })
}

fn tool(name: &str) -> Value {
    let properties = json!({"count": {"type": "integer"}, "text": {"type": "string"}});
    let parameters =
        json!({"type": "object", "properties": properties, "required": ["count", "text"]});
    json!({"type": "function", "name": name, "parameters": parameters})
}

fn user(text: &str) -> Value {
    json!({"role": "user", "content": text})
}

fn message_text(answer: &Answer) -> String {
    let message = answer.output().pop().expect("the answer ends with a message");
    message["content"][0]["text"].as_str().expect("a message has a text").to_owned()
}

fn reply_to(input: &Value) -> String {
    message_text(&default_model::answer(&request(input)))
}

/// Name and arguments of every call.
fn calls(answer: &Answer) -> Vec<(String, Value)> {
    let calls = answer.output().into_iter().filter(|item| item["type"] == "function_call");
    calls
        .map(|call| {
            let arguments = call["arguments"].as_str().expect("arguments are a string");
            let arguments = serde_json::from_str(arguments).expect("arguments are JSON");
            (call["name"].as_str().expect("a call has a name").to_owned(), arguments)
        })
        .collect()
}

#[test]
fn model_knows_only_its_input() {
    let facts = user("My color is purple, dog is Biscuit");
    let question = user("What is my color and dog name?");
    let noted = json!({"role": "assistant", "content": "Noted."});
    assert_eq!(reply_to(&json!([facts])), "Noted.");
    assert_eq!(reply_to(&json!([facts, noted, question])), "purple, Biscuit");
    assert_eq!(reply_to(&json!([noted, question])), "I do not know.");
    assert_eq!(reply_to(&json!([question])), "I do not know.");
}

#[test]
fn latest_fact_of_any_message_counts() {
    let color = user("My COLOR is light blue and I like it.");
    let dog =
        json!({"role": "user", "content": [{"type": "input_text", "text": "The dog is Rex!"}]});
    let corrected = user("Sorry, the dog is Max.");
    let question = user("So, which color and which dog?");
    assert_eq!(reply_to(&json!([color, dog, question])), "light blue, Rex");
    assert_eq!(reply_to(&json!([color, dog, corrected, question])), "light blue, Max");
    assert_eq!(reply_to(&json!([color, question])), "light blue");
    assert_eq!(reply_to(&json!([color, dog, user("Which dog?")])), "Rex");
}

#[test]
fn only_user_statements_count() {
    let claim = json!({"role": "assistant", "content": "Your color is red."});
    assert_eq!(reply_to(&json!([claim, user("What is my color?")])), "I do not know.");
    assert_eq!(reply_to(&json!("My color is red. What is my color?")), "red");
    assert_eq!(
        reply_to(&json!("You think my color is red? What is it, the color?")),
        "I do not know."
    );
}

#[test]
fn named_tool_is_called_after_reasoning() {
    let answer = default_model::answer(&request(&json!("Please Echo: hello there")));
    let kinds: Vec<Value> = answer.output().iter().map(|item| item["type"].clone()).collect();
    assert_eq!(kinds, ["reasoning", "function_call"]);
    assert!(answer.output()[0]["encrypted_content"].is_string());
    assert_eq!(calls(&answer), [("echo".to_owned(), json!({"text": "hello there"}))]);
}

#[test]
fn every_named_tool_is_called() {
    let both = default_model::answer(&request(&json!("search cats, then echo")));
    let expected = [
        ("echo".to_owned(), json!({"text": ""})),
        ("search".to_owned(), json!({"text": "cats, then echo"})),
    ];
    assert_eq!(calls(&both), expected);
    let twice = default_model::answer(&request(&json!("echo hi twice")));
    assert_eq!(calls(&twice).len(), 2);
    assert_ne!(twice.output()[1]["call_id"], twice.output()[2]["call_id"]);
    assert_ne!(twice.output()[1]["id"], twice.output()[2]["id"]);
}

#[test]
fn tool_call_needs_whole_word_and_permission() {
    assert_eq!(reply_to(&json!("The echoes of re_echo")), "Noted.");
    let mut forbidden = request(&json!("echo hello"));
    forbidden["tool_choice"] = json!("none");
    assert_eq!(message_text(&default_model::answer(&forbidden)), "Noted.");
}

#[test]
fn plain_model_calls_without_reasoning() {
    let mut plain = request(&json!("echo hello"));
    plain["model"] = json!("plain-model");
    plain["include"] = Value::Null;
    let answer = default_model::answer(&plain);
    assert_eq!(answer.output().len(), 1);
    assert_eq!(calls(&answer).len(), 1);
}

#[test]
fn effort_none_disables_reasoning() {
    let mut effortless = request(&json!("echo hello"));
    effortless["reasoning"] = json!({"effort": "none"});
    let answer = default_model::answer(&effortless);
    assert_eq!((answer.output().len(), calls(&answer).len()), (1, 1));
}

#[test]
fn few_output_tokens_end_in_reasoning() {
    let mut short = request(&json!("echo hello"));
    short["max_output_tokens"] = json!(63);
    let answer = default_model::answer(&short);
    let kinds: Vec<Value> = answer.output().iter().map(|item| item["type"].clone()).collect();
    assert_eq!(kinds, ["reasoning"]);
    let details = json!({"reason": "max_output_tokens"});
    assert_eq!(answer.json()["incomplete_details"], details);
    short["max_output_tokens"] = json!(64);
    assert_eq!(calls(&default_model::answer(&short)).len(), 1);
}

#[test]
fn tool_outputs_are_repeated() {
    let output = |text: &str| json!({"type": "function_call_output", "output": text});
    let parts = json!([{"type": "input_text", "text": "b"}]);
    let of_parts = json!({"type": "function_call_output", "output": parts});
    let input = json!([user("echo a"), output("a")]);
    assert_eq!(reply_to(&input), "echo said: a");
    assert_eq!(
        reply_to(&json!([output("old"), user("x"), output("a"), of_parts])),
        "echo said: a; b"
    );
}

#[test]
fn whole_conversation_stays_valid() {
    let mut input = Vec::new();
    for text in ["echo one", "echo two twice", "echo one", "bye"] {
        input.push(user(text));
        loop {
            let body = request(&json!(input));
            assert_eq!(validate(&body), Ok(()), "at {text}");
            let output = default_model::answer(&body).output();
            let calls: Vec<Value> =
                output.iter().filter_map(|item| item.get("call_id").cloned()).collect();
            input.extend(output);
            if calls.is_empty() {
                break;
            }
            input.extend(calls.iter().map(|call_id| {
                json!({"type": "function_call_output", "call_id": call_id, "output": "done"})
            }));
        }
    }
    assert_eq!(validate(&request(&json!(input))), Ok(()));
}

#[test]
fn tool_of_a_namespace_is_named_by_both_names() {
    let namespace = json!({"type": "namespace", "name": "crm", "tools": [tool("echo")]});
    let input = json!([user("Use crm__echo: hello")]);
    let request = json!({"model": "plain-1", "input": input, "tools": [namespace]});
    let call = default_model::answer(&request).output()[0].clone();
    assert_eq!((&call["name"], &call["namespace"]), (&json!("echo"), &json!("crm")));
}
