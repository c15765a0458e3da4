//! A caller of the gateway.

use bytes::Bytes;
use http::{Method, Request, Response, header};
use http_body_util::Full;
use hyper::body::Incoming;
use hyper_util::client::legacy::Client as HttpClient;
use hyper_util::rt::TokioExecutor;
use serde_json::{Value, json};

use super::answer::{Answer, Turn};
use super::ask::Ask;
use super::error::Refused;
use super::events::Events;
use super::roots::Roots;
use super::socket::Socket;
use super::view::{list, text};
use super::watchdog::soon;

/// A caller with a token, or without. Every request has a connection of its own.
#[derive(Clone, Debug)]
pub(crate) struct Client {
    roots: Roots,
    token: Option<String>,
    headers: Vec<(&'static str, String)>,
    /// How often it makes a request again that is not answered, or with an error of the server's.
    retries: usize,
}

/// How an answer is wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    /// As one JSON object.
    Whole,
    /// As a stream of events.
    Streamed,
}

/// Both ways.
pub(crate) const MODES: [Mode; 2] = [Mode::Whole, Mode::Streamed];

const RESPONSES: &str = "/v1/responses";

impl Client {
    pub(crate) fn new(roots: Roots, token: Option<String>) -> Self {
        Self { roots, token, headers: Vec::new(), retries: 0 }
    }

    /// A caller of one gateway.
    pub(crate) fn at(root: &str) -> Self {
        Self::new(Roots::one(root), Some("token-of-alice".to_owned()))
    }

    /// The same caller, making a request again, as the official clients do, where it is not
    /// answered, or with an error of the server's.
    pub(crate) fn with_retries(mut self) -> Self {
        self.retries = 2;
        self
    }

    /// The same caller under the name of the AI SDK, which resends user messages only.
    pub(crate) fn named_ai_sdk(self) -> Self {
        self.with_header("user-agent", "ai/7.0.173 ai-sdk-provider-utils/5.0.81 node.js/24")
    }

    /// The same caller, sending a header more.
    pub(crate) fn with_header(mut self, name: &'static str, value: &str) -> Self {
        self.headers.push((name, value.to_owned()));
        self
    }

    /// Opens a WebSocket, which must be let in.
    pub(crate) async fn socket(&self) -> Socket {
        Socket::open(&self.roots.next(), self.token.as_deref()).await
    }

    /// Sends a request and waits for the head of its answer.
    pub(crate) async fn send(
        &self,
        method: Method,
        path: &str,
        body: impl Into<Bytes>,
    ) -> Response<Incoming> {
        let body = body.into();
        let mut retry = 0;
        loop {
            match self.try_send(method.clone(), path, body.clone(), retry).await {
                Ok(answer) if answer.status().is_server_error() && retry < self.retries => {}
                Ok(answer) => return answer,
                Err(_) if retry < self.retries => {}
                Err(error) => panic!("the gateway answers {path}: {error:?}"),
            }
            retry += 1;
        }
    }

    async fn try_send(
        &self,
        method: Method,
        path: &str,
        body: impl Into<Bytes>,
        retry: usize,
    ) -> Result<Response<Incoming>, hyper_util::client::legacy::Error> {
        let mut request = Request::builder()
            .method(method)
            .uri(format!("{}{path}", self.roots.next()))
            .header(header::CONTENT_TYPE, "application/json");
        if let Some(token) = &self.token {
            request = request.header(header::AUTHORIZATION, format!("Bearer {token}"));
        }
        if self.retries > 0 {
            request = request.header("x-stainless-retry-count", retry);
        }
        for (name, value) in &self.headers {
            request = request.header(*name, value);
        }
        let request = request.body(Full::new(body.into()));
        let http = HttpClient::builder(TokioExecutor::new()).build_http();
        let answer = http.request(request.expect("the request is well-formed"));
        soon("the gateway answers", answer).await
    }

    pub(crate) async fn get(&self, path: &str) -> Answer {
        Answer::read(self.send(Method::GET, path, "").await).await
    }

    pub(crate) async fn delete(&self, path: &str) -> Answer {
        Answer::read(self.send(Method::DELETE, path, "").await).await
    }

    /// Posts bytes as they are.
    pub(crate) async fn post_raw(&self, path: &str, body: impl Into<Bytes>) -> Answer {
        Answer::read(self.send(Method::POST, path, body).await).await
    }

    pub(crate) async fn post(&self, path: &str, body: &Value) -> Answer {
        self.post_raw(path, body.to_string()).await
    }
}

/// Turns.
impl Client {
    /// Asks, and reads the answer to its end; it must be well-formed.
    pub(crate) async fn turn(&self, mode: Mode, ask: &Ask) -> Turn {
        match mode {
            Mode::Whole => Turn::whole(self.create(mode, ask).await),
            Mode::Streamed => Turn::streamed(self.stream(ask).await).await,
        }
    }

    /// Asks for a whole answer.
    pub(crate) async fn respond(&self, ask: &Ask) -> Turn {
        self.turn(Mode::Whole, ask).await
    }

    /// Asks for a stream, which must begin.
    pub(crate) async fn stream(&self, ask: &Ask) -> Events {
        let body = with_mode(Mode::Streamed, ask).to_string();
        Events::from_answer(self.send(Method::POST, RESPONSES, body).await).await
    }

    /// Asks for the events of a background response behind a number, or for all; they must begin.
    pub(crate) async fn stream_again(&self, response: &str, after: Option<usize>) -> Events {
        let after = after.map(|after| format!("&starting_after={after}")).unwrap_or_default();
        let path = format!("{RESPONSES}/{response}?stream=true{after}");
        Events::from_answer(self.send(Method::GET, &path, "").await).await
    }

    /// Cancels a background response; the response then.
    pub(crate) async fn cancel(&self, response: &str) -> Value {
        self.post(&format!("{RESPONSES}/{response}/cancel"), &json!({})).await.json()
    }

    /// Waits until a background response has ended; the response then.
    pub(crate) async fn wait_until_ended(&self, response: &str) -> Value {
        let ended = async {
            loop {
                let response = self.stored_response(response).await;
                if !["queued", "in_progress"].contains(&text(&response["status"])) {
                    break response;
                }
            }
        };
        soon("the response ends", ended).await
    }

    /// Waits until a background response is in progress.
    pub(crate) async fn wait_until_in_progress(&self, response: &str) {
        let begun =
            async { while self.stored_response(response).await["status"] != "in_progress" {} };
        soon("the response is in progress", begun).await;
    }

    /// Asks for what may be had: the turn, well-formed to its end, or the refusal.
    pub(crate) async fn attempt(&self, mode: Mode, ask: &Ask) -> Result<Turn, Answer> {
        let body = with_mode(mode, ask).to_string();
        let answer = self.send(Method::POST, RESPONSES, body).await;
        match (answer.status().as_u16(), mode) {
            (200, Mode::Streamed) => Ok(Turn::streamed(Events::from_answer(answer).await).await),
            (200, Mode::Whole) => Ok(Turn::whole(Answer::read(answer).await)),
            _ => Err(Answer::read(answer).await),
        }
    }

    /// Asks for what is not to be had.
    pub(crate) async fn refused(&self, mode: Mode, ask: &Ask) -> Refused {
        self.create(mode, ask).await.refused()
    }

    /// Asks, and gives the answer as it came; `None` where nobody was there to give one.
    pub(crate) async fn try_create(&self, mode: Mode, ask: &Ask) -> Option<Answer> {
        let body = with_mode(mode, ask).to_string();
        let answer = self.try_send(Method::POST, RESPONSES, body, 0).await.ok()?;
        Some(Answer::read(answer).await)
    }

    /// Asks, and gives the answer as it came.
    pub(crate) async fn create(&self, mode: Mode, ask: &Ask) -> Answer {
        self.post(RESPONSES, &with_mode(mode, ask)).await
    }
}

fn with_mode(mode: Mode, ask: &Ask) -> Value {
    let mut body = ask.body().clone();
    if mode == Mode::Streamed {
        body["stream"] = true.into();
    }
    body
}

/// Conversations and what is kept.
impl Client {
    /// Creates an empty conversation; its id.
    pub(crate) async fn new_conversation(&self) -> String {
        let answer = self.post("/v1/conversations", &json!({})).await.json();
        text(&answer["id"]).to_owned()
    }

    /// All items of a conversation, from the first.
    pub(crate) async fn items(&self, conversation: &str) -> Vec<Value> {
        let path = format!("/v1/conversations/{conversation}/items?order=asc&limit=100");
        items_of(&self.get(&path).await)
    }

    /// Adds items to a conversation; the items as they are held.
    pub(crate) async fn add_items(&self, conversation: &str, items: &[Value]) -> Vec<Value> {
        let path = format!("/v1/conversations/{conversation}/items");
        items_of(&self.post(&path, &json!({"items": items})).await)
    }

    /// A response as it is stored.
    pub(crate) async fn stored_response(&self, response: &str) -> Value {
        self.get(&format!("/v1/responses/{response}")).await.json()
    }

    /// What the gateway did to a turn.
    pub(crate) async fn report(&self, response: &str) -> Value {
        self.get(&format!("/v1/responses/{response}/report")).await.json()
    }

    /// Waits until the response of a disconnected caller is stored.
    pub(crate) async fn wait_until_settled(&self, response: &str) -> Value {
        self.wait_until_found(&format!("/v1/responses/{response}")).await
    }

    /// Waits until the gateway has recorded a disconnected caller's response, which an upstream
    /// owns.
    pub(crate) async fn wait_until_recorded(&self, response: &str) {
        self.wait_until_found(&format!("/v1/responses/{response}/report")).await;
    }

    async fn wait_until_found(&self, path: &str) -> Value {
        let found = async {
            loop {
                let answer = self.get(path).await;
                if answer.status() == 200 {
                    break answer.json();
                }
            }
        };
        soon("the turn is settled", found).await
    }
}

fn items_of(answer: &Answer) -> Vec<Value> {
    let page = answer.json();
    assert_eq!(page["object"], "list");
    list(&page["data"]).to_vec()
}
