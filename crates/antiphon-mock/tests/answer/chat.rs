//! An answer in the form of Chat Completions.

use antiphon_mock::{Answer, Frame, Split};
use serde_json::{Value, json};

use crate::full_answer;

/// The choice of every chunk that has one.
fn choices(answer: &Answer) -> Vec<Value> {
    let chunks = answer.chat().frames().into_iter().filter_map(|frame| frame.json());
    chunks.filter_map(|mut chunk| Some(chunk["choices"].get_mut(0)?.take())).collect()
}

fn deltas(answer: &Answer) -> Vec<Value> {
    choices(answer).into_iter().map(|mut choice| choice["delta"].take()).collect()
}

fn finish_reason(answer: &Answer) -> Value {
    let choices = choices(answer);
    let (last, before) = choices.split_last().expect("there is a last chunk");
    assert!(before.iter().all(|choice| choice["finish_reason"].is_null()));
    assert_eq!(last["delta"], json!({}));
    last["finish_reason"].clone()
}

#[test]
fn every_frame_is_a_chunk_and_done_is_last() {
    let answer = full_answer();
    let mut frames = answer.chat().frames();
    assert_eq!(frames.pop(), Some(Frame::done()));
    for frame in &frames {
        let chunk = frame.json().expect("a frame holds JSON");
        assert_eq!(frame.bytes(), format!("data: {chunk}\n\n").as_bytes());
        assert_eq!(frame.name(), None);
        assert_eq!(chunk["object"], "chat.completion.chunk");
        assert_eq!(chunk["id"], answer.chat().json()["id"]);
        assert_eq!(chunk["model"], "fake-model");
        assert_eq!(chunk.get("usage"), None);
    }
}

#[test]
fn role_precedes_reasoning_text_and_indexed_calls() {
    let answer = Answer::new("fake-model")
        .reasoning("So so")
        .message("Hi")
        .call("call_1", "echo", r#"{"a": 1}"#)
        .custom_call("call_2", "grep", "x");
    let function = json!({"name": "echo", "arguments": ""});
    let custom = json!({"name": "grep", "input": ""});
    let expected = [
        json!({"role": "assistant", "content": ""}),
        json!({"reasoning_content": "So "}),
        json!({"reasoning_content": "so"}),
        json!({"content": "Hi"}),
        json!({"tool_calls": [
            {"index": 0, "id": "call_1", "type": "function", "function": function},
        ]}),
        json!({"tool_calls": [{"index": 0, "function": {"arguments": "{\"a\": "}}]}),
        json!({"tool_calls": [{"index": 0, "function": {"arguments": "1}"}}]}),
        json!({"tool_calls": [
            {"index": 1, "id": "call_2", "type": "custom", "custom": custom},
        ]}),
        json!({"tool_calls": [{"index": 1, "custom": {"input": "x"}}]}),
        json!({}),
    ];
    assert_eq!(deltas(&answer), expected);
}

#[test]
fn finish_reason_follows_the_ending() {
    let answer = || Answer::new("fake-model").message("Hi");
    assert_eq!(finish_reason(&answer()), "stop");
    assert_eq!(finish_reason(&answer().call("call_1", "echo", "{}")), "tool_calls");
    assert_eq!(finish_reason(&answer().incomplete()), "length");
}

#[test]
fn requested_usage_is_in_the_last_chunk() {
    let asked = json!({"stream_options": {"include_usage": true}});
    for frames in
        [full_answer().chat().with_usage().frames(), full_answer().request(&asked).chat().frames()]
    {
        let chunks: Vec<Value> = frames.iter().filter_map(Frame::json).collect();
        let (last, before) = chunks.split_last().expect("there is a last chunk");
        assert!(before.iter().all(|chunk| chunk.get("usage") == Some(&Value::Null)));
        assert_eq!(last["choices"], json!([]));
        let usage = &last["usage"];
        assert_eq!(usage["completion_tokens_details"]["reasoning_tokens"], 3);
        let total = usage["prompt_tokens"].as_u64().zip(usage["completion_tokens"].as_u64());
        assert_eq!(
            total.map(|(prompt, completion)| prompt + completion),
            usage["total_tokens"].as_u64()
        );
    }
}

#[test]
fn failed_answer_has_an_error_as_its_end() {
    let frames = Answer::new("fake-model").message("Hi").failed("server_error", "Boom.");
    let frames = frames.chat().frames();
    let error = frames[frames.len() - 2].json().expect("it is JSON");
    assert_eq!(
        error["error"],
        json!({"message": "Boom.", "type": "server_error", "param": null, "code": "server_error"})
    );
}

#[test]
fn events_and_bytes_can_be_inserted() {
    let answer = Answer::new("fake-model")
        .item(json!({"reasoning_details": [{"type": "reasoning.text"}]}))
        .raw(": keep-alive\n\n")
        .message("Hi");
    let frames = answer.chat().frames();
    let delta = &frames[1].json().expect("it is JSON")["choices"][0]["delta"];
    assert_eq!(delta["reasoning_details"][0]["type"], "reasoning.text");
    assert_eq!(frames[2].bytes(), ": keep-alive\n\n".as_bytes());
}

#[test]
fn json_form_is_one_message() {
    let completion = full_answer().chat().json();
    assert_eq!(completion["object"], "chat.completion");
    let choice = &completion["choices"][0];
    assert_eq!(choice["finish_reason"], "tool_calls");
    let function = json!({"name": "echo", "arguments": "{\"text\": \"a b\"}"});
    let message = json!({
        "role": "assistant",
        "content": "Hello my friend",
        "refusal": "I will not",
        "reasoning_content": "Two words",
        "tool_calls": [
            {"id": "call_1", "type": "function", "function": function},
            {"id": "call_2", "type": "custom", "custom": {"name": "grep", "input": "a b"}},
        ],
    });
    assert_eq!(choice["message"], message);
    let plain = Answer::new("plain-model").call("call_1", "echo", "{}").chat().json();
    assert_eq!(plain["choices"][0]["message"]["content"], Value::Null);
    assert_eq!(plain["choices"][0]["message"].get("reasoning_content"), None);
}

#[test]
fn joined_deltas_equal_the_text_for_every_split() {
    for split in [Split::Words, Split::Characters(2), Split::Whole] {
        let answer = Answer::new("fake-model").message("Größe my friend").split(split);
        let deltas = deltas(&answer);
        let texts = deltas.iter().filter_map(|delta| delta["content"].as_str());
        assert_eq!(texts.collect::<String>(), "Größe my friend");
    }
}
