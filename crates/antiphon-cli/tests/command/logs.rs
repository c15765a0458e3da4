//! What an operator reads on standard error.

use antiphon_testkit::{FakeUpstream, Reply};
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

    /// Stops the gateway; its lines.
    fn lines(self) -> Vec<Value> {
        self.serving.signal("TERM");
        let (_, _, log) = self.serving.ended();
        let lines = log.lines().filter(|line| line.starts_with('{'));
        lines.map(|line| serde_json::from_str(line).unwrap()).collect()
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
