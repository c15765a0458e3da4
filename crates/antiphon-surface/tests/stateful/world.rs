//! A stateful client and a strict, stateful provider.

use std::sync::Mutex;
use std::time::Duration;

use antiphon::FingerprintKey;
use antiphon::reconcile::ReplayStyle;
use antiphon::stateful::{Report, StatefulClient, Step, Turn};
use antiphon_mock::{Answer, Exchange, Options, Recorded, StrictProvider};
use bytes::Bytes;
use http::{Method, Request, Response};
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use hyper_util::client::legacy::Client as Http;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use serde_json::{Value, json};

pub(crate) const MODEL: &str = "fake-model";

/// The form of the answers to turns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    Whole,
    Streamed,
}

pub(crate) const MODES: [Mode; 2] = [Mode::Whole, Mode::Streamed];

/// A provider and a stateful client. When dropped, it checks that no model input had duplicates.
pub(crate) struct World {
    pub(crate) provider: StrictProvider,
    pub(crate) client: StatefulClient,
    http: Http<HttpConnector, Full<Bytes>>,
    /// Whether a user repeats a text, so that a model input may contain it twice.
    pub(crate) repeats: bool,
    /// The answer to release when a turn waits.
    pub(crate) awaited: Mutex<Option<Exchange>>,
}

/// The result of a turn.
#[derive(Debug)]
pub(crate) struct Answered {
    pub(crate) status: u16,
    /// The response or the error.
    pub(crate) body: Value,
    pub(crate) report: Report,
}

/// A turn whose answer has started.
pub(crate) struct Begun {
    pub(crate) turn: Turn,
    response: Response<Incoming>,
    text: String,
}

/// The time of all answers, in Unix seconds.
pub(crate) const NOW: i64 = 1_770_000_060;
const ACCOUNT: &str = "account";
const SOON: Duration = Duration::from_secs(30);

impl World {
    pub(crate) async fn new() -> Self {
        Self::with(Options::default()).await
    }

    pub(crate) async fn with(options: Options) -> Self {
        let provider = StrictProvider::with_options(options).start().await;
        let http = Http::builder(TokioExecutor::new()).build_http();
        Self { provider, client: anew(), http, repeats: false, awaited: Mutex::default() }
    }

    /// Starts the client in another process, without its ledger.
    pub(crate) fn forget(&mut self) {
        self.client = anew();
    }

    /// Runs a turn and reads its answer to the end.
    pub(crate) async fn turn(&self, mode: Mode, body: Value) -> Answered {
        let answered = self.attempt(mode, body).await;
        assert_eq!(answered.status, 200, "{}", answered.body);
        answered
    }

    /// Like [`Self::turn`], for a turn that may be refused.
    pub(crate) async fn attempt(&self, mode: Mode, body: Value) -> Answered {
        match self.begin(mode, body).await {
            Ok(begun) => begun.heard(mode).await,
            Err(refused) => refused,
        }
    }

    /// Runs a turn until its answer starts.
    pub(crate) async fn begin(&self, mode: Mode, mut body: Value) -> Result<Begun, Answered> {
        body["model"] = MODEL.into();
        body["stream"] = (mode == Mode::Streamed).into();
        let body = Bytes::from(body.to_string());
        // Most of these tests replay user messages only.
        let style = ReplayStyle::UsersOnly;
        let turn = self.client.open_as(ACCOUNT, style, body).expect("the body is a request");
        self.run(turn, "/responses").await.map(|begun| begun.expect("a turn is sent"))
    }

    /// Runs an opened turn and reads its answer to the end.
    pub(crate) async fn run_opened(&self, turn: Turn) -> Answered {
        match self.run(turn, "/responses").await {
            Ok(begun) => begun.expect("a turn is sent").heard(Mode::Whole).await,
            Err(refused) => refused,
        }
    }

    /// Delivers these items to a conversation; `None` if nothing had to be posted.
    pub(crate) async fn deliver(&self, conversation: &str, items: &[Value]) -> Option<Answered> {
        let items = Bytes::from(json!(items).to_string());
        let turn =
            self.client.deliver(ACCOUNT, conversation, &items).expect("the list has items only");
        let path = format!("/conversations/{conversation}/items");
        match self.run(turn, &path).await {
            Ok(None) => None,
            Ok(Some(begun)) => Some(begun.heard(Mode::Whole).await),
            Err(refused) => Some(refused),
        }
    }

    /// Runs the steps of a turn until its answer starts.
    async fn run(&self, mut turn: Turn, path: &str) -> Result<Option<Begun>, Answered> {
        let mut last = (0, Bytes::new());
        let mut is_refused = false;
        loop {
            if turn.wait().is_some() {
                self.release_awaited().await;
            }
            match turn.step() {
                Step::Ask { method, path } => {
                    let received = self.whole(method.as_str(), &path, None).await;
                    if !is_refused {
                        last = received.clone();
                    }
                    turn.record_answer(received.0, received.1);
                }
                Step::Send { body } => {
                    let response = self.ask("POST", path, Some(body)).await;
                    if response.status().is_success() {
                        turn.start(is_stream(&response), NOW);
                        return Ok(Some(Begun { turn, response, text: String::new() }));
                    }
                    (last, is_refused) = (whole(response).await, true);
                    turn.record_rejection(last.0, last.1.clone());
                }
                Step::GiveUp => {
                    let body = serde_json::from_slice(&last.1).unwrap_or_default();
                    return Err(Answered { status: last.0, body, report: turn.report() });
                }
                Step::Nothing => return Ok(None),
            }
        }
    }

    /// Polls a background response until its end.
    pub(crate) async fn over(&self, id: &str) -> Value {
        let over = async {
            loop {
                let response = self
                    .request_of_other_client("GET", &format!("/responses/{id}"), Value::Null)
                    .await;
                if !["queued", "in_progress"]
                    .contains(&response["status"].as_str().unwrap_or_default())
                {
                    return response;
                }
            }
        };
        soon(over).await
    }

    /// Releases the answer that the turn waits for.
    async fn release_awaited(&self) {
        let awaited = self.awaited.lock().expect("no holder panics").take();
        if let Some(exchange) = awaited {
            exchange.release_all();
            self.wait_until_idle().await;
        }
        tokio::task::yield_now().await;
    }

    /// Sends a request of another client, which bypasses the stateful client.
    pub(crate) async fn request_of_other_client(
        &self,
        method: &str,
        path: &str,
        body: Value,
    ) -> Value {
        let body = (!body.is_null()).then(|| body.to_string().into());
        let (status, body) = self.whole(method, path, body).await;
        assert_eq!(status, 200, "{}", String::from_utf8_lossy(&body));
        serde_json::from_slice(&body).expect("the body is JSON")
    }

    /// Runs a turn of another client.
    pub(crate) async fn turn_of_other_client(&self, mut body: Value) -> Value {
        body["model"] = MODEL.into();
        self.request_of_other_client("POST", "/responses", body).await
    }

    /// Creates a conversation that the stateful client does not know.
    pub(crate) async fn conversation(&self) -> String {
        let created = self.request_of_other_client("POST", "/conversations", json!({})).await;
        created["id"].as_str().expect("the object has an id").to_owned()
    }

    async fn whole(&self, method: &str, path: &str, body: Option<Bytes>) -> (u16, Bytes) {
        whole(self.ask(method, path, body).await).await
    }

    async fn ask(&self, method: &str, path: &str, body: Option<Bytes>) -> Response<Incoming> {
        let request = Request::builder()
            .method(Method::from_bytes(method.as_bytes()).expect("the method is valid"))
            .uri(format!("{}{path}", self.provider.base_url()))
            .header("authorization", "Bearer sk-one")
            .body(Full::new(body.unwrap_or_default()))
            .expect("the request is well-formed");
        soon(self.http.request(request)).await.expect("the provider answers")
    }
}

/// Inspection of the provider.
impl World {
    /// The latest turn at the provider, which must have accepted it.
    pub(crate) fn last_turn(&self) -> Recorded {
        let turn = self.provider.turns().pop().expect("the provider was asked");
        assert_eq!(turn.verdict, Ok(()), "the provider accepts {}", turn.body);
        turn
    }

    /// The input of the latest turn, as lines of text.
    pub(crate) fn sent(&self) -> Vec<String> {
        match &self.last_turn().body["input"] {
            Value::String(text) => vec![format!("text: {text}")],
            _ => lines(self.last_turn().input()),
        }
    }

    /// The model's input in the latest turn, as lines of text.
    pub(crate) fn given(&self) -> Vec<String> {
        lines(&self.last_turn().model_input.expect("a model was asked"))
    }

    /// The stored items of a conversation, as lines of text.
    pub(crate) fn stored_items(&self, conversation: &str) -> Vec<String> {
        lines(&self.provider.conversation_items(conversation).expect("it is there"))
    }

    /// The number of list requests at the provider.
    pub(crate) fn list_requests(&self) -> usize {
        self.provider.requests().iter().filter(|it| it.method == Method::GET).count()
    }

    /// Waits until the provider has no open turn.
    pub(crate) async fn wait_until_idle(&self) {
        soon(self.provider.wait_until_idle()).await;
    }
}

impl Drop for World {
    fn drop(&mut self) {
        if !std::thread::panicking() && !self.repeats {
            assert_eq!(self.provider.duplicates(), [], "no model was given anything twice");
        }
    }
}

impl Begun {
    /// Reads the answer to its end.
    pub(crate) async fn heard(mut self, mode: Mode) -> Answered {
        while self.more().await {}
        let last = self.turn.finish(NOW);
        self.text.push_str(&String::from_utf8_lossy(&last));
        let body = match mode {
            Mode::Whole => serde_json::from_str(&self.text).expect("the body is JSON"),
            Mode::Streamed => last_response(&self.text),
        };
        Answered { status: 200, body, report: self.turn.report() }
    }

    /// Reads until an event of this type and returns the announced response.
    pub(crate) async fn until(&mut self, event: &str) -> Value {
        let is_there = |text: &str| text.contains(&format!("\"type\":\"{event}\""));
        while !is_there(&self.text) {
            assert!(self.more().await, "no {event} came");
        }
        let created = self.text.lines().find_map(|line| line.strip_prefix("data: "));
        let created = serde_json::from_str::<Value>(created.expect("there is an event"));
        created.expect("the body is JSON")["response"].clone()
    }

    /// The latest event of this type.
    pub(crate) fn event(&self, kind: &str) -> Value {
        let data = self.text.lines().filter_map(|line| line.strip_prefix("data: "));
        let mut events = data.filter_map(|data| serde_json::from_str::<Value>(data).ok());
        events.rfind(|event| event["type"] == kind).expect("it has come")
    }

    /// Reads until this many events have arrived.
    pub(crate) async fn events(&mut self, count: usize) {
        while self.text.matches("data: ").count() < count {
            assert!(self.more().await, "{count} events came");
        }
    }

    /// Reads more of the answer. Returns false at its end.
    pub(crate) async fn more(&mut self) -> bool {
        let Some(Ok(frame)) = soon(self.response.body_mut().frame()).await else { return false };
        let bytes = frame.into_data().unwrap_or_default();
        let shown = self.turn.push(&bytes, NOW);
        self.text.push_str(&String::from_utf8_lossy(&shown));
        true
    }
}

impl Answered {
    pub(crate) fn output(&self) -> Vec<Value> {
        self.body["output"].as_array().cloned().unwrap_or_default()
    }

    pub(crate) fn id(&self) -> &str {
        self.body["id"].as_str().unwrap_or_default()
    }

    /// The repairs, as fault and action.
    pub(crate) fn repairs(&self) -> Vec<(&str, &str)> {
        self.report.repairs.iter().map(|mend| (mend.fault, mend.action)).collect()
    }
}

fn anew() -> StatefulClient {
    StatefulClient::new(FingerprintKey::new([7; 16]))
}

async fn whole(response: Response<Incoming>) -> (u16, Bytes) {
    let status = response.status().as_u16();
    let body = soon(response.into_body().collect()).await.expect("the body is whole");
    (status, body.to_bytes())
}

fn is_stream(response: &Response<Incoming>) -> bool {
    let kind = response.headers().get("content-type").and_then(|kind| kind.to_str().ok());
    kind.is_some_and(|kind| kind.starts_with("text/event-stream"))
}

fn last_response(text: &str) -> Value {
    let data = text.lines().filter_map(|line| line.strip_prefix("data: "));
    let mut events = data.filter_map(|data| serde_json::from_str::<Value>(data).ok());
    let last = events.rfind(|event| event["response"].is_object());
    last.expect("it has a terminal event")["response"].clone()
}

/// Waits for something that should come at once.
pub(crate) async fn soon<T>(what: impl Future<Output = T>) -> T {
    tokio::time::timeout(SOON, what).await.expect("it comes soon")
}

pub(crate) fn user(text: &str) -> Value {
    json!({"type": "message", "role": "user", "content": text})
}

pub(crate) fn output(call_id: &str, text: &str) -> Value {
    json!({"type": "function_call_output", "call_id": call_id, "output": text})
}

/// Reasoning and a tool call.
pub(crate) fn thinking_and_calling() -> Answer {
    let answer = Answer::new(MODEL).reasoning("The user wants an echo.");
    answer.call("call_1", "echo", r#"{"text":"hi"}"#)
}

/// Items as lines of text.
pub(crate) fn lines(items: &[Value]) -> Vec<String> {
    items.iter().map(line).collect()
}

fn line(item: &Value) -> String {
    let text = |value: &Value| match value {
        Value::String(text) => text.clone(),
        Value::Array(parts) => parts.iter().filter_map(|part| part["text"].as_str()).collect(),
        other => other.to_string(),
    };
    match item["type"].as_str().unwrap_or("message") {
        "message" => format!("{}: {}", text(&item["role"]), text(&item["content"])),
        "function_call" => format!("call {} {}", text(&item["name"]), text(&item["arguments"])),
        "function_call_output" => format!("output: {}", text(&item["output"])),
        "item_reference" => format!("reference {}", text(&item["id"])),
        other => other.to_owned(),
    }
}
