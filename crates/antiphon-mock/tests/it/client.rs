//! A client of the provider.

use std::time::Duration;

use antiphon_mock::StrictProvider;
use bytes::Bytes;
use http::{Method, Request, Response};
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use hyper_util::client::legacy::Client as Http;
use hyper_util::rt::TokioExecutor;
use serde_json::{Value, json};

/// The time limit for anything that the provider does at once.
const SOON: Duration = Duration::from_secs(30);

/// A client with an API key.
pub(crate) struct Client {
    root: String,
    token: String,
}

/// A status and a JSON body.
pub(crate) type Answer = (u16, Value);

/// A stream of events. Dropping it closes the connection.
pub(crate) struct Events {
    response: Response<Incoming>,
    buffered: String,
}

impl Client {
    pub(crate) fn connect_to(provider: &StrictProvider) -> Self {
        Self::with_token(provider, "sk-one")
    }

    pub(crate) fn with_token(provider: &StrictProvider, token: &str) -> Self {
        let root = provider.base_url().trim_end_matches("/v1").to_owned();
        Self { root, token: token.to_owned() }
    }

    pub(crate) async fn get(&self, path: &str) -> Answer {
        self.ask(Method::GET, path, Bytes::new()).await
    }

    pub(crate) async fn delete(&self, path: &str) -> Answer {
        self.ask(Method::DELETE, path, Bytes::new()).await
    }

    pub(crate) async fn post(&self, path: &str, body: Value) -> Answer {
        self.ask(Method::POST, path, body.to_string().into()).await
    }

    pub(crate) async fn post_bytes(&self, path: &str, body: &'static str) -> Answer {
        self.ask(Method::POST, path, Bytes::from_static(body.as_bytes())).await
    }

    /// Sends a turn that should be refused and returns the status and the error.
    pub(crate) async fn refused(&self, body: Value) -> Answer {
        let (status, mut body) = self.post("/v1/responses", body).await;
        (status, body["error"].take())
    }

    /// Sends a turn that should be answered with one JSON body.
    pub(crate) async fn turn(&self, mut body: Value) -> Value {
        if body["model"].is_null() {
            body["model"] = "fake-model".into();
        }
        let (status, response) = self.post("/v1/responses", body).await;
        assert_eq!(status, 200, "{response}");
        response
    }

    /// Sends a streamed turn.
    pub(crate) async fn stream(&self, mut body: Value) -> Events {
        body["stream"] = true.into();
        if body["model"].is_null() {
            body["model"] = "fake-model".into();
        }
        self.events(Method::POST, "/v1/responses", body.to_string().into()).await
    }

    pub(crate) async fn events(&self, method: Method, path: &str, body: Bytes) -> Events {
        let response = self.send(method, path, body).await;
        assert_eq!(response.status(), 200);
        Events { response, buffered: String::new() }
    }

    /// Creates a conversation and returns its id.
    pub(crate) async fn conversation(&self) -> String {
        let (status, conversation) = self.post("/v1/conversations", json!({})).await;
        assert_eq!(status, 200, "{conversation}");
        conversation["id"].as_str().unwrap_or_default().to_owned()
    }

    /// All items of a conversation, oldest first.
    pub(crate) async fn items(&self, conversation: &str) -> Vec<Value> {
        let path = format!("/v1/conversations/{conversation}/items?order=asc&limit=100");
        let (status, mut list) = self.get(&path).await;
        assert_eq!(status, 200, "{list}");
        list["data"].as_array_mut().map(std::mem::take).unwrap_or_default()
    }

    async fn ask(&self, method: Method, path: &str, body: Bytes) -> Answer {
        let response = self.send(method, path, body).await;
        let status = response.status().as_u16();
        let body = soon(response.into_body().collect()).await.expect("the body is whole");
        (status, serde_json::from_slice(&body.to_bytes()).unwrap_or_default())
    }

    async fn send(&self, method: Method, path: &str, body: Bytes) -> Response<Incoming> {
        let request = Request::builder()
            .method(method)
            .uri(format!("{}{path}", self.root))
            .header("authorization", format!("Bearer {}", self.token))
            .body(Full::new(body))
            .expect("the request is well-formed");
        let http = Http::builder(TokioExecutor::new()).build_http();
        soon(http.request(request)).await.expect("the provider answers")
    }
}

impl Events {
    /// The next event; `None` at the end of the stream or when it breaks.
    pub(crate) async fn next(&mut self) -> Option<Value> {
        loop {
            if let Some(end) = self.buffered.find("\n\n") {
                let event: String = self.buffered.drain(..end + 2).collect();
                let data = event.lines().find_map(|line| line.strip_prefix("data: "));
                return data.and_then(|data| serde_json::from_str(data).ok());
            }
            let frame = soon(self.response.body_mut().frame()).await?.ok()?;
            let data = frame.into_data().unwrap_or_default();
            self.buffered.push_str(&String::from_utf8_lossy(&data));
        }
    }

    /// Reads until an event of this type and returns it.
    pub(crate) async fn until(&mut self, kind: &str) -> Value {
        loop {
            let event = self.next().await.unwrap_or_else(|| panic!("no {kind} came"));
            if event["type"] == kind {
                return event;
            }
        }
    }

    pub(crate) async fn all(mut self) -> Vec<Value> {
        let mut events = Vec::new();
        while let Some(event) = self.next().await {
            events.push(event);
        }
        events
    }
}

/// Waits for something that should come at once.
pub(crate) async fn soon<T>(what: impl Future<Output = T>) -> T {
    tokio::time::timeout(SOON, what).await.expect("it comes soon")
}

/// A tool that repeats its argument.
pub(crate) fn echo() -> Value {
    json!([{
        "type": "function",
        "name": "echo",
        "parameters": {
            "type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"],
        },
    }])
}

pub(crate) fn user(text: &str) -> Value {
    json!({"role": "user", "content": text})
}

pub(crate) fn output(call_id: &str, text: &str) -> Value {
    json!({"type": "function_call_output", "call_id": call_id, "output": text})
}

/// The types of items or events, in order.
pub(crate) fn types(values: &[Value]) -> Vec<&str> {
    values.iter().map(|value| value["type"].as_str().unwrap_or_default()).collect()
}

/// The text of a response's message.
pub(crate) fn text(response: &Value) -> &str {
    let output = response["output"].as_array().map(Vec::as_slice).unwrap_or_default();
    let message = output.iter().find(|item| item["type"] == "message");
    message.and_then(|item| item["content"][0]["text"].as_str()).unwrap_or_default()
}

pub(crate) fn id(value: &Value) -> &str {
    value["id"].as_str().unwrap_or_default()
}
