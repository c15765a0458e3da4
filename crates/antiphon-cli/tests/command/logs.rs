//! What an operator reads on standard error.

use antiphon_mock::{Answer, Reply, StrictProvider};
use antiphon_testkit::FakeUpstream;
use http::StatusCode;
use serde_json::{Value, json};
use tokio::runtime::Runtime;

use crate::world::{Serving, World};

/// A gateway that logs JSON, and its upstream.
struct Logging {
    serving: Serving,
    upstream: FakeUpstream,
    _runtime: Runtime,
}

impl Logging {
    /// A gateway with these lines in the file, after the table of its one upstream.
    fn start(level: &str, settings: &str, args: &[&str]) -> Self {
        let runtime = Runtime::new().unwrap();
        let upstream = runtime.block_on(FakeUpstream::start());
        let url = upstream.base_url();
        let file = format!("[[upstreams]]\nmodels = ['*']\nurl = '{url}'\n{settings}\n");
        let args = [&["--listen=127.0.0.1:0", "--store=sqlite:antiphon.db"], args].concat();
        let world = World::serve(&args).file("antiphon.toml", &file);
        let world = world.variable("ANTIPHON_LOG", level);
        let serving = world.variable("ANTIPHON_LOG_FORMAT", "json").ready();
        Self { serving, upstream, _runtime: runtime }
    }

    /// Asks for a response under a request id; the whole answer.
    fn ask(&self, id: &str, body: &Value) -> String {
        let header = format!("x-request-id: {id}");
        self.serving.ask_with("POST", "/v1/responses", &header, &body.to_string())
    }

    /// Stops the gateway; its lines, each of which is a JSON object.
    fn lines(self) -> Vec<Value> {
        self.serving.signal("TERM");
        let (_, _, log) = self.serving.ended();
        let object = |line| -> Value { serde_json::from_str(line).expect("a line is JSON") };
        log.lines().map(object).collect()
    }
}

/// The lines with this request id.
fn of_request<'a>(lines: &'a [Value], id: &str) -> Vec<&'a Value> {
    lines.iter().filter(|line| line["span"]["request_id"] == id).collect()
}

/// The one line of a request that says this.
#[track_caller]
fn line<'a>(lines: &'a [Value], id: &str, message: &str) -> &'a Value {
    let of_request = of_request(lines, id);
    let mut found = of_request.iter().filter(|line| line["fields"]["message"] == message);
    let line = found.next().unwrap_or_else(|| panic!("{id} '{message}': {of_request:#?}"));
    assert!(found.next().is_none(), "one line says '{message}': {of_request:#?}");
    line
}

fn unavailable() -> Reply {
    let error =
        json!({"error": {"message": "Try again.", "type": "x", "param": null, "code": null}});
    Reply::json(StatusCode::SERVICE_UNAVAILABLE, &error).header("retry-after-ms", "1")
}

#[test]
fn each_line_of_a_turn_names_its_request() {
    let gateway = Logging::start("info", "", &[]);
    let created = gateway.serving.answer("POST", "/v1/conversations", &json!({})).1;
    gateway.upstream.script(unavailable());
    let body = json!({"model": "fake-model", "input": "Hello", "conversation": created["id"]});
    assert!(gateway.ask("mine-1", &body).starts_with("HTTP/1.1 200 "));

    let lines = gateway.lines();
    for message in ["the upstream is asked again", "turn"] {
        let span = &line(&lines, "mine-1", message)["span"];
        assert_eq!(span["model"], "fake-model");
        assert_eq!(span["conversation"], created["id"]);
        assert_eq!(span["tenant"], "everyone");
        assert!(span["upstream"].is_string(), "{span}");
    }
}

fn refusal(message: &str, code: &str) -> Reply {
    let error = json!({"message": message, "type": "invalid_request_error",
        "param": "tools[0].name", "code": code});
    Reply::json(StatusCode::BAD_REQUEST, &json!({"error": error}))
}

#[test]
fn refusal_is_logged_with_the_upstreams_reason() {
    let gateway = Logging::start("info", "", &[]);
    let body = json!({"model": "fake-model", "input": "My name is Sesame."});
    let reply = "Unsupported parameter: 'temperature' is not supported with this model.";
    gateway.upstream.script(refusal(reply, "unsupported_parameter"));
    gateway.ask("mine-1", &body);
    gateway.upstream.script(refusal("Invalid name: 'Sesame'.", "sesame"));
    gateway.ask("mine-2", &body);

    let lines = gateway.lines();
    let received = &line(&lines, "mine-1", "upstream refused a request")["fields"];
    assert_eq!(
        (&received["status"], &received["code"]),
        (&json!(400), &json!("unsupported_parameter"))
    );
    assert_eq!(
        (&received["param"], &received["upstream_message"]),
        (&json!("tools[0].name"), &json!(reply))
    );
    let refused = line(&lines, "mine-1", "turn refused");
    assert_eq!(refused["level"], "INFO");
    assert!(refused["span"]["upstream"].is_string(), "{refused}");
    let withheld = &line(&lines, "mine-2", "upstream refused a request")["fields"];
    assert_eq!(withheld["withheld"], "message");
    assert!(!json!(lines).to_string().to_lowercase().contains("sesame"));
}

#[test]
fn refusal_of_a_passed_request_is_logged_with_its_reason() {
    let gateway = Logging::start("info", "", &[]);
    let pass = |id: &str, header: &str| {
        let header = format!("x-request-id: {id}\r\nauthorization: Bearer {header}");
        let body = json!({"model": "fake-model", "input": "My name is Sesame."}).to_string();
        gateway.serving.ask_with("POST", "/v1/embeddings?user=poppy", &header, &body)
    };
    let known = "Unsupported parameter: 'temperature' is not supported with this model.";
    for (id, message) in [
        ("mine-1", known),
        ("mine-2", "Invalid name: 'Sesame'."),
        ("mine-3", "Incorrect API key provided: token-of-sunflower."),
        ("mine-4", "Invalid user: 'poppy'."),
    ] {
        gateway.upstream.script(refusal(message, "unsupported_parameter"));
        assert!(pass(id, "token-of-sunflower").starts_with("HTTP/1.1 400 "));
    }
    gateway.upstream.script(unavailable());
    pass("mine-5", "token");
    let html = "<html>".repeat(50_000);
    gateway.upstream.script(Reply::json(StatusCode::BAD_GATEWAY, &json!({"error": html})));
    pass("mine-6", "token");

    let lines = gateway.lines();
    let fields = |id| &line(&lines, id, "upstream refused a request")["fields"];
    assert_eq!(
        (&fields("mine-1")["status"], &fields("mine-1")["code"]),
        (&json!(400), &json!("unsupported_parameter"))
    );
    assert_eq!(fields("mine-1")["upstream_message"], known);
    assert!(fields("mine-1")["upstream"].is_string());
    for id in ["mine-2", "mine-3", "mine-4"] {
        assert_eq!(fields(id)["withheld"], "message", "{id}");
    }
    assert_eq!(
        (&fields("mine-5")["status"], &fields("mine-5")["upstream_message"]),
        (&json!(503), &json!("Try again."))
    );
    assert_eq!(line(&lines, "mine-5", "upstream refused a request")["level"], "WARN");
    assert_eq!(fields("mine-6")["status"], 502);
    let log = json!(lines).to_string().to_lowercase();
    assert!(!["sesame", "sunflower", "poppy", "html"].iter().any(|word| log.contains(word)));
}

#[test]
fn passed_request_without_an_answer_is_logged_with_its_reason() {
    let closed = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/v1", closed.local_addr().unwrap());
    drop(closed);
    let world = World::serve(&["--listen=127.0.0.1:0", "--upstream", &url]);
    let serving = world.variable("ANTIPHON_LOG_FORMAT", "json").ready();
    let answer = serving.ask("POST", "/v1/embeddings", r#"{"model":"m","input":"Sesame"}"#);
    assert!(answer.starts_with("HTTP/1.1 502 "), "{answer}");
    serving.signal("TERM");
    let (_, _, log) = serving.ended();
    let lines = log.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let mut lines =
        lines.filter(|line| line["fields"]["message"] == "the upstream did not answer a request");
    let fields = lines.next().expect("the failure is logged")["fields"].clone();
    let error = fields["error"].as_str().unwrap();
    assert!(error.starts_with("The upstream could not be reached: "), "{error}");
    assert!(lines.next().is_none());
}

#[test]
fn failure_of_the_upstream_is_a_warning() {
    let gateway = Logging::start("info", "max-retries = 0", &[]);
    for id in ["mine-1", "mine-2"] {
        gateway.upstream.script(unavailable());
        let stream = id == "mine-2";
        gateway.ask(id, &json!({"model": "fake-model", "input": "Hello", "stream": stream}));
    }
    let lines = gateway.lines();
    for id in ["mine-1", "mine-2"] {
        assert_eq!(line(&lines, id, "turn refused")["level"], "WARN");
        assert_eq!(line(&lines, id, "upstream refused a request")["level"], "WARN");
    }
}

#[test]
fn logged_response_can_be_read() {
    let gateway = Logging::start("info", "max-retries = 0", &[]);
    let body =
        |stream, store| json!({"model": "sim", "input": "Hello", "stream": stream, "store": store});
    for (id, stream, store) in [("a", false, true), ("b", true, true), ("c", true, false)] {
        gateway.ask(id, &body(stream, store));
    }
    let answer = Answer::new("fake-model").message("Once upon a time");
    for (id, stream) in [("d", true), ("e", false)] {
        gateway.upstream.script(Reply::sse(answer.frames()).break_after(4));
        gateway.ask(id, &json!({"model": "fake-model", "input": "Hello", "stream": stream}));
    }
    let mut readable = Vec::new();
    let mut reply = Vec::new();
    // The line is written before the last event is sent.
    while reply.len() < 5 {
        let line: Value = serde_json::from_str(&gateway.serving.next_line()).unwrap();
        if line["fields"]["message"] == "turn" {
            reply.push(line);
        }
    }
    for line in &reply {
        if let Some(response) = line["fields"]["response"].as_str() {
            for path in ["", "/report"] {
                let (status, _) = gateway.serving.answer(
                    "GET",
                    &format!("/v1/responses/{response}{path}"),
                    &json!({}),
                );
                assert_eq!(status, 200, "{line}");
            }
            readable.push(line["span"]["request_id"].as_str().unwrap());
        }
    }
    assert_eq!(readable, ["a", "b", "d"]);
}

#[test]
fn rejected_callers_are_counted() {
    let gateway = Logging::start("info", "key = 'sk-upstream'", &["--api-key=key-of-acme=acme"]);
    for _ in 0..5 {
        gateway.serving.status_of_with("/v1/models", "authorization: Bearer guessed");
    }
    let lines = gateway.lines();
    let received = |line: &&Value| {
        line["fields"]["message"] == "refused callers without a valid API key (status 401)"
    };
    let [line] = lines.iter().filter(received).collect::<Vec<_>>()[..] else {
        panic!("{lines:#?}")
    };
    assert_eq!((&line["level"], &line["fields"]["total"]), (&json!("WARN"), &json!(1)));
    assert!(!json!(lines).to_string().contains("guessed"));
}

/// A history of so many messages, each of which a replaying client sends again.
fn history(messages: usize) -> Vec<Value> {
    let mut history: Vec<Value> = (0..messages)
        .map(|index| {
            let role = if index % 2 == 0 { "user" } else { "assistant" };
            json!({"type": "message", "role": role, "content": format!("Message {index}")})
        })
        .collect();
    history.push(json!({"role": "user", "content": "And now?"}));
    history
}

#[test]
fn log_line_of_a_long_history_is_short() {
    let prices = "[prices.'*']\ninput = 1.2345678\noutput = 1";
    let gateway = Logging::start("info", prices, &[]);
    let created = gateway.serving.answer("POST", "/v1/conversations", &json!({})).1;
    let model = format!("fake-{}", "m".repeat(200));
    for turns in 1..=20_usize {
        let mut input = history(10 * turns);
        input.extend((0..turns).map(|call| {
            json!({"type": "function_call", "call_id": format!("call_{turns}_{call}"),
                "name": "echo", "arguments": "{}"})
        }));
        let model = if turns == 20 { &*model } else { "fake-model" };
        let body = json!({"model": model, "input": input, "conversation": created["id"],
            "stream": true});
        gateway.ask(&format!("req_{turns:032}"), &body);
    }
    gateway.serving.signal("TERM");
    let (_, _, log) = gateway.serving.ended();
    let turns: Vec<&str> =
        log.lines().filter(|line| line.contains(r#""message":"turn""#)).collect();
    assert_eq!(turns.len(), 20);
    for line in &turns {
        assert!(line.contains("(call_"), "a repaired item is named: {line}");
        assert!(line.contains(r#""first_event_ms":"#) && line.contains(r#""cost":"#), "{line}");
    }
    for line in log.lines() {
        let long = "m".repeat(90);
        assert!(line.replace(&long, "").len() < 600, "{} bytes: {line}", line.len());
    }
}

#[test]
fn list_of_repairs_is_at_debug() {
    let gateway = Logging::start("antiphon_gateway=debug", "", &[]);
    let call = |id: u8| {
        json!({"type": "function_call", "call_id": format!("call_{id}"), "name": "echo",
            "arguments": "{}"})
    };
    let input: Vec<Value> =
        (0..9).map(call).chain([json!({"role": "user", "content": "Hello"})]).collect();
    gateway.ask("mine", &json!({"model": "fake-model", "input": input}));

    let lines = gateway.lines();
    let turn = &line(&lines, "mine", "turn")["fields"];
    assert_eq!(turn["repairs"], "unanswered_call=9 (call_0)");
    let list = line(&lines, "mine", "turn report");
    assert_eq!(list["level"], "DEBUG");
    let report: Value = serde_json::from_str(list["fields"]["report"].as_str().unwrap()).unwrap();
    assert_eq!(report["repairs"].as_array().unwrap().len(), 9);
}

#[test]
fn background_turn_of_an_upstream_logs_its_end() {
    let runtime = Runtime::new().unwrap();
    let provider = runtime.block_on(StrictProvider::start());
    let url = provider.base_url();
    let file = format!("[[upstreams]]\nmodels = ['*']\nurl = '{url}'\nkey = 'sk-operator'\n");
    let world = World::serve(&["--listen=127.0.0.1:0", "--state=upstream"]);
    let world = world.file("antiphon.toml", &file).variable("ANTIPHON_LOG", "info");
    let serving = world.variable("ANTIPHON_LOG_FORMAT", "json").ready();
    let body = json!({"model": "fake-model", "input": "My dog is Rex.", "background": true});
    let answer = serving.ask_with("POST", "/v1/responses", "x-request-id: mine", &body.to_string());
    assert!(answer.starts_with("HTTP/1.1 200 "), "{answer}");

    let mut lines: Vec<Value> = Vec::new();
    while lines.last().is_none_or(|line| line["fields"]["message"] != "turn") {
        lines.push(serde_json::from_str(&serving.next_line()).expect("a line is JSON"));
    }

    let queued = line(&lines, "mine", "turn is in the upstream's background");
    assert_eq!(queued["fields"]["status"], "queued");
    let ended = line(&lines, "mine", "turn");
    assert_eq!(ended["fields"]["response"], queued["fields"]["response"]);
    assert_eq!(
        (&ended["level"], &ended["fields"]["status"]),
        (&json!("INFO"), &json!("completed"))
    );
    assert_eq!(ended["fields"]["input_items"], 1);
    for tokens in ["input_tokens", "output_tokens"] {
        assert!(ended["fields"][tokens].is_u64(), "{ended}");
    }
    for field in ["model", "tenant", "upstream"] {
        assert_eq!(ended["span"][field], queued["span"][field]);
        assert!(ended["span"][field].is_string(), "{ended}");
    }
    assert!(!json!(lines).to_string().contains("Rex"));
}

#[test]
fn json_log_is_json_alone() {
    let gateway = Logging::start("info", "", &["--state=upstream"]);
    let readiness = gateway.serving.readiness.clone();
    let lines = gateway.lines();
    let listening = lines.iter().find(|line| line["fields"]["message"] == "listening").unwrap();
    let url = listening["fields"]["base_url"].as_str().unwrap();
    assert_eq!(readiness, format!("antiphon listening on {url}\n"));
}

#[test]
fn json_log_has_the_reason_of_a_failed_start() {
    let ended = World::serve(&["--listen=nowhere"]).variable("ANTIPHON_LOG_FORMAT", "json").ends();
    assert_eq!(ended.code, Some(2));
    let line: Value = serde_json::from_str(&ended.stderr).unwrap();
    assert!(line["fields"]["error"].as_str().unwrap().contains("nowhere"), "{line}");
}
