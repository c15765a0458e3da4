//! The tools that a text calls, with their inputs.

use serde_json::{Value, json};

use super::{add, ask, echo, get_weather};

/// The calls that `text` asks for, of three tools.
fn calls(text: &str) -> Vec<(String, Value)> {
    ask(json!({ "input": text, "tools": [echo(), get_weather(), add()] })).calls()
}

fn echoed(message: &str) -> (String, Value) {
    ("echo".to_owned(), json!({ "message": message }))
}

fn weather_of(city: &str) -> (String, Value) {
    ("get_weather".to_owned(), json!({ "city": city }))
}

#[test]
fn tool_is_found_under_any_spelling_of_its_name() {
    for text in [
        "Call the echo tool with hello",
        "echo hello",
        "Echo: hello",
        "Please use ECHO to say 'hello'.",
        "use the `echo` function with the message \"hello\"",
        "Use the echo tool to echo hello",
        "Echo hello using the echo tool.",
        "echo {\"message\": \"hello\"}",
    ] {
        assert_eq!(calls(text), [echoed("hello")], "{text}");
    }
}

#[test]
fn words_of_a_name_may_be_separated() {
    for text in ["get_weather for Paris", "Get weather in Paris", "getWeather(\"Paris\")"] {
        assert_eq!(calls(text), [weather_of("Paris")], "{text}");
    }
}

#[test]
fn part_of_another_word_names_no_tool() {
    for text in ["The echoes fade", "my_echo is fine", "Additional notes"] {
        assert_eq!(calls(text), [], "{text}");
    }
}

#[test]
fn weather_question_calls_the_weather_tool() {
    assert_eq!(calls("What's the weather in Paris?"), [weather_of("Paris")]);
    assert_eq!(calls("What is the weather like in New York today?"), [weather_of("New York")]);
    assert_eq!(calls("How is the weather in Paris, France?"), [weather_of("Paris, France")]);

    let described =
        json!({ "type": "custom", "name": "oracle", "description": "Knows the WEATHER" });
    let answered = ask(json!({ "input": "Will the weather hold?", "tools": [echo(), described] }));
    assert_eq!(answered.calls(), [("oracle".to_owned(), json!("Will the weather hold?"))]);
}

#[test]
fn several_tools_are_called_in_parallel_in_order_of_mention() {
    let expected = [
        ("get_weather".to_owned(), json!({ "city": "Oslo" })),
        ("echo".to_owned(), json!({ "message": "hello there" })),
        ("add".to_owned(), json!({ "a": 2, "b": 3.5 })),
    ];
    let text = "Get weather for Oslo, then echo hello there, and use the add tool with 2 and 3.5.";
    assert_eq!(calls(text), expected);
}

#[test]
fn tool_can_be_called_several_times() {
    assert_eq!(calls("echo one and then echo two"), [echoed("one"), echoed("two")]);
    assert_eq!(calls("Call echo twice with hi"), [echoed("hi"), echoed("hi")]);
    assert_eq!(
        calls("What's the weather in Rome and what's the weather in Bern?"),
        [weather_of("Rome"), weather_of("Bern")]
    );
    assert_eq!(
        calls("get_weather for Rome, get_weather for Bern"),
        [weather_of("Rome"), weather_of("Bern")]
    );
}

#[test]
fn weather_of_each_place_is_a_call() {
    let expected = [weather_of("Paris"), weather_of("New York")];
    assert_eq!(calls("What is the weather in Paris and New York?"), expected);
    assert_eq!(calls("Use get_weather for Paris and New York"), expected);
    assert_eq!(calls("Is the weather in Paris and around it nice?"), [weather_of("Paris")]);
}

#[test]
fn names_within_quotes_are_arguments() {
    assert_eq!(calls("echo 'add 1 and 2'"), [echoed("add 1 and 2")]);
    assert_eq!(calls("echo \"add\""), [echoed("add")]);
}

#[test]
fn tool_without_an_argument_gets_the_whole_text() {
    assert_eq!(calls("Please run echo"), [echoed("Please run echo")]);
}

#[test]
fn json_object_is_used_as_arguments() {
    let given = json!({ "anything": [1, null] });
    assert_eq!(calls(&format!("echo with {given}")), [("echo".to_owned(), given)]);
}

#[test]
fn custom_tool_gets_text() {
    let tool = json!({ "type": "custom", "name": "run_sql" });
    let answered = ask(json!({ "input": "run_sql with `select 1`", "tools": [tool] }));
    assert_eq!(answered.calls(), [("run_sql".to_owned(), json!("select 1"))]);
    let item = &answered.items()[1];
    assert_eq!(item["type"], "custom_tool_call");
    assert!(item["id"].as_str().unwrap().starts_with("ctc_"));
}

#[test]
fn function_without_parameters_gets_an_empty_object() {
    let tool = json!({ "type": "function", "name": "ping", "parameters": null });
    let answered = ask(json!({ "input": "ping", "tools": [tool] }));
    assert_eq!(answered.calls(), [("ping".to_owned(), json!({}))]);
}

#[test]
fn reasoning_goes_before_the_calls_and_is_encrypted_on_demand() {
    let request =
        |include: Value| json!({ "input": "echo a", "tools": [echo()], "include": include });
    let plain = ask(request(json!([])));
    assert_eq!(plain.items()[0]["type"], "reasoning");
    assert_eq!(
        plain.items()[0]["summary"],
        json!([{ "type": "summary_text", "text": "Calling echo." }])
    );
    assert_eq!(plain.items()[0].get("encrypted_content"), None);

    let encrypted = ask(request(json!(["reasoning.encrypted_content"])));
    assert!(encrypted.items()[0]["encrypted_content"].is_string());
}

#[test]
fn hosted_tools_are_not_called() {
    let answered = ask(json!({ "input": "web_search cats", "tools": [{ "type": "web_search" }] }));
    assert_eq!(answered.text(), "Noted: web_search cats.");
}

#[test]
fn answer_has_at_most_32_calls() {
    assert_eq!(calls(&"echo a, ".repeat(40)).len(), 32);
}

#[test]
fn tool_of_a_namespace_is_named_with_or_without_it() {
    let within = json!([echo(), { "type": "custom", "name": "oracle" }]);
    let namespace = json!({ "type": "namespace", "name": "mcp__parrot", "tools": within });
    for (text, name) in
        [("mcp__parrot__echo: hello", "echo"), ("echo: hello", "echo"), ("oracle hello", "oracle")]
    {
        let answer = ask(json!({ "input": text, "tools": [get_weather(), namespace] }));
        let output = answer.items().iter();
        let calls: Vec<&Value> = output.filter(|item| item["call_id"].is_string()).collect();
        assert_eq!(calls.len(), 1, "{text}");
        assert_eq!(
            (&calls[0]["name"], &calls[0]["namespace"]),
            (&json!(name), &json!("mcp__parrot"))
        );
    }
}
