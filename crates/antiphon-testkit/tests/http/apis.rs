//! The other APIs: the same model, each with a strict judge.

use antiphon_mock::{Answer, Api, Reply};
use antiphon_testkit::FakeUpstream;
use serde_json::{Value, json};

use crate::peer::{fetch, post};

const TURNS: [(&str, &str); 3] = [
    ("My color is purple, dog is Biscuit.", "Noted."),
    ("Echo hello twice", "echo said: done; done"),
    ("What is my color and dog name?", "purple, Biscuit"),
];

/// A client that sends the whole conversation, in the form of each API.
struct Client {
    api: Api,
    messages: Vec<Value>,
}

impl Client {
    fn new(api: Api) -> Self {
        Self { api, messages: Vec::new() }
    }

    fn request(&self) -> Value {
        let properties = json!({"text": {"type": "string"}});
        let schema = json!({"type": "object", "properties": properties, "required": ["text"]});
        let mut request = json!({"model": "fake-model", "messages": self.messages});
        if self.api == Api::Chat {
            let function = json!({"name": "echo", "parameters": schema});
            request["tools"] = json!([{"type": "function", "function": function}]);
        } else {
            request["tools"] = json!([{"name": "echo", "input_schema": schema}]);
            request["max_tokens"] = json!(4096);
            request["thinking"] = json!({"type": "enabled", "budget_tokens": 1024});
        }
        request
    }

    /// Sends a user message, runs the tool loop, and returns the final text.
    async fn send(&mut self, upstream: &FakeUpstream, text: &str) -> String {
        self.messages.push(json!({"role": "user", "content": text}));
        loop {
            let path = self.api.path().strip_prefix("/v1").expect("the path begins with /v1");
            let reply = post(upstream, path, self.request().to_string()).await;
            assert_eq!(upstream.refusals(), []);
            assert_eq!(reply.status(), 200);
            let answer = reply.json().await;
            if let Some(text) = self.handle_answer(&answer) {
                return text;
            }
        }
    }

    /// Adds an answer and the results of its calls to the conversation. Returns the text of an
    /// answer without calls.
    fn handle_answer(&mut self, answer: &Value) -> Option<String> {
        if self.api == Api::Chat {
            let message = &answer["choices"][0]["message"];
            self.messages.push(without_nulls(message));
            let calls = message["tool_calls"].as_array().into_iter().flatten();
            let results = calls
                .map(|call| json!({"role": "tool", "tool_call_id": call["id"], "content": "done"}));
            self.messages.extend(results);
            return message["content"].as_str().map(str::to_owned);
        }
        self.messages.push(json!({"role": "assistant", "content": answer["content"]}));
        let blocks = answer["content"].as_array().expect("content is an array");
        let results: Vec<Value> = blocks
            .iter()
            .filter(|block| block["type"] == "tool_use")
            .map(
                |call| json!({"type": "tool_result", "tool_use_id": call["id"], "content": "done"}),
            )
            .collect();
        if results.is_empty() {
            return blocks.last().and_then(|block| block["text"].as_str()).map(str::to_owned);
        }
        self.messages.push(json!({"role": "user", "content": results}));
        None
    }
}

/// A message as clients store it: without null fields.
fn without_nulls(message: &Value) -> Value {
    let mut message = message.clone();
    message.as_object_mut().expect("it is an object").retain(|_, value| !value.is_null());
    message
}

#[tokio::test]
async fn model_knows_only_its_messages() {
    for api in [Api::Chat, Api::Anthropic] {
        let upstream = FakeUpstream::start().await;
        let mut client = Client::new(api);
        for (said, answered) in TURNS {
            assert_eq!(client.send(&upstream, said).await, answered, "{api:?}");
        }
        assert_eq!(upstream.requests().len(), 4);

        let mut forgetful = Client::new(api);
        assert_eq!(forgetful.send(&upstream, TURNS[2].0).await, "I do not know.");
    }
}

#[tokio::test]
async fn log_shows_model_input_as_items() {
    for api in [Api::Chat, Api::Anthropic] {
        let upstream = FakeUpstream::start().await;
        let mut client = Client::new(api);
        client.send(&upstream, "Hi").await;
        client.send(&upstream, "Echo hello twice").await;
        client.send(&upstream, "Bye").await;
        let log = fetch(format!("{}?token=key-1", upstream.base_url().replace("/v1", "/log")));
        let log = log.await.json().await;
        let input = log[3]["body"]["input"].as_array().expect("the input is items");
        let kinds: Vec<&str> = input
            .iter()
            .filter_map(|item| item["type"].as_str().or(item["role"].as_str()))
            .collect();
        let expected = [
            "user",
            "assistant",
            "user",
            "reasoning",
            "function_call",
            "function_call",
            "function_call_output",
            "function_call_output",
            "assistant",
            "user",
        ];
        assert_eq!(kinds, expected, "{api:?}");
        assert_eq!(input[4]["call_id"], input[6]["call_id"]);
        assert_eq!(input[4]["arguments"], r#"{"text":"hello twice"}"#);
        assert_eq!(upstream.request(3).await.items(), *input);
        assert_eq!(upstream.request(0).await.messages().len(), 1);
    }
}

#[tokio::test]
async fn instructions_are_not_items() {
    let upstream = FakeUpstream::start().await;
    let system = json!({"role": "system", "content": "Be kind."});
    let user = json!({"role": "user", "content": "hi"});
    let chat = json!({"model": "plain-model", "messages": [system, user]});
    post(&upstream, "/chat/completions", chat.to_string()).await;
    let message =
        json!({"model": "plain-model", "max_tokens": 9, "system": "Be kind.", "messages": [user]});
    post(&upstream, "/messages", message.to_string()).await;
    for request in upstream.requests() {
        assert_eq!(request.verdict, Ok(()));
        assert_eq!(request.items(), std::slice::from_ref(&user));
    }
}

#[tokio::test]
async fn each_api_streams_in_its_own_form() {
    let upstream = FakeUpstream::start().await;
    for (api, first, last) in [
        (Api::Chat, "data: {", "data: [DONE]\n\n"),
        (Api::Anthropic, "event: message_start\ndata: {", "{\"type\":\"message_stop\"}\n\n"),
    ] {
        let mut client = Client::new(api);
        client.messages.push(json!({"role": "user", "content": "hi"}));
        let mut request = client.request();
        request["stream"] = json!(true);
        let path = api.path().strip_prefix("/v1").expect("the path begins with /v1");
        let reply = post(&upstream, path, request.to_string()).await;
        assert_eq!(reply.header("content-type"), Some("text/event-stream; charset=utf-8"));
        let (chunks, whole) = reply.chunks().await;
        assert!(whole);
        assert!(chunks[0].starts_with(first.as_bytes()), "{:?}", chunks[0]);
        assert!(chunks.last().is_some_and(|chunk| chunk.ends_with(last.as_bytes())));
    }
}

#[tokio::test]
async fn each_api_refuses_in_its_own_form() {
    let upstream = FakeUpstream::start().await;
    let error = post(&upstream, "/chat/completions", "{}").await.json().await;
    assert_eq!(error["error"]["message"], "you must provide a model parameter");
    let error = post(&upstream, "/chat/completions", "{not json").await.json().await;
    let message = error["error"]["message"].as_str().expect("it has a message");
    assert!(message.starts_with("We could not parse the JSON body of your request."));
    let error = post(&upstream, "/messages", "{}").await.json().await;
    assert_eq!(error["error"]["message"], "model: Field required");
    assert_eq!(error["type"], "error");
    let error = post(&upstream, "/messages", "{not json").await.json().await;
    assert_eq!(error["error"]["message"], "The request body is not valid JSON");
    assert_eq!(upstream.refusals().len(), 4);
}

#[tokio::test]
async fn answers_can_be_scripted_for_each_api() {
    let upstream = FakeUpstream::start().await;
    let answer = Answer::new("fake-model").message("Scripted");
    for api in Api::ALL {
        let frames = answer.frames_for(api);
        upstream.script(Reply::sse(frames.clone()).rechunk(7));
        let path = api.path().strip_prefix("/v1").expect("the path begins with /v1");
        let (chunks, whole) = post(&upstream, path, "{}").await.chunks().await;
        let expected: Vec<_> = frames.iter().map(|frame| frame.bytes().clone()).collect();
        assert!(whole);
        assert_eq!(chunks.concat(), expected.concat());
    }
}
