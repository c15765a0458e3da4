//! A gateway that is told secrets, and what it may not tell of them.

use std::sync::atomic::{AtomicUsize, Ordering};

use antiphon_mock::{Reply, encrypted_content};
use antiphon_testkit::FakeUpstream;
use serde_json::{Value, json};
use tokio::runtime::Runtime;

use crate::world::{Serving, World};

/// In every secret, and in nothing else.
const SECRET: &str = "sesame";

/// The key of the one caller.
pub(super) const KEY: &str = "sk-sesame-of-the-caller";

/// A gateway and its upstream.
pub(super) struct Discreet {
    pub(super) serving: Serving,
    requests: AtomicUsize,
    upstream: FakeUpstream,
    /// The upstream's work is done here.
    _runtime: Runtime,
}

impl Discreet {
    /// A gateway that keeps its callers' keys from an upstream that speaks this API.
    pub(super) fn keyed(api: &str, format: &str) -> Self {
        let keys = [format!("--api-key={KEY}=acme")];
        Self::started(
            World::serve,
            &format!("api = '{api}'\nkey = 'sesame-upstream'"),
            format,
            &keys,
        )
    }

    /// A gateway that forwards its callers' tokens.
    pub(super) fn forwarding(api: &str) -> Self {
        Self::started(World::serve, &format!("api = '{api}'"), "text", &[])
    }

    /// A gateway that refuses what a provider would.
    pub(super) fn rejecting() -> Self {
        Self::started(World::serve, "api = 'responses'", "text", &["--faults=reject".to_owned()])
    }

    /// A gateway whose store cannot grow.
    pub(super) fn on_a_full_disk() -> Self {
        Self::started(World::serve_on_a_full_disk, "api = 'responses'", "text", &[])
    }

    /// A gateway whose upstream has these settings in its file.
    fn started(world: fn(&[&str]) -> World, settings: &str, format: &str, more: &[String]) -> Self {
        let runtime = Runtime::new().unwrap();
        let upstream = runtime.block_on(FakeUpstream::start());
        // What fails is told at once.
        let file = format!(
            "[[upstreams]]\nmodels = ['*']\nmax-retries = 0\nurl = '{}'\n{settings}\n",
            upstream.base_url()
        );
        let mut args = vec!["--listen=127.0.0.1:0", "--store=sqlite:antiphon.db"];
        args.extend(more.iter().map(String::as_str));
        let world = world(&args).file("antiphon.toml", &file).variable("ANTIPHON_LOG", "trace");
        let serving = world.variable("ANTIPHON_LOG_FORMAT", format).ready();
        Self { serving, requests: AtomicUsize::new(0), upstream, _runtime: runtime }
    }

    /// What the upstream replies next.
    pub(super) fn script(&self, reply: Reply) {
        self.upstream.script(reply);
    }

    /// The answer to a request of the caller's.
    pub(super) fn ask(&self, method: &str, path: &str, body: impl AsRef<[u8]>) -> String {
        self.ask_with(KEY, method, path, body)
    }

    /// The answer to a request with this token.
    pub(super) fn ask_with(
        &self,
        token: &str,
        method: &str,
        path: &str,
        body: impl AsRef<[u8]>,
    ) -> String {
        let body = body.as_ref();
        let number = self.requests.fetch_add(1, Ordering::Relaxed);
        let head = format!(
            "{method} {path} HTTP/1.1\r\n\
             host: localhost\r\n\
             connection: close\r\n\
             content-type: application/json\r\n\
             authorization: Bearer {token}\r\n\
             idempotency-key: sesame-{number}\r\n\
             openai-organization: sesame-org\r\n\
             cookie: sesame\r\n\
             content-length: {length}\r\n\
             \r\n",
            length = body.len(),
        );
        self.serving.exchange(&[head.as_bytes(), body].concat())
    }

    /// The answer to a turn, whole or streamed.
    pub(super) fn turn(&self, ask: &Value, streamed: bool) -> String {
        let mut ask = ask.clone();
        ask["stream"] = streamed.into();
        self.ask("POST", "/v1/responses", ask.to_string())
    }

    /// Ends the gateway. No line of its log tells a secret, but one tells of each of these.
    pub(super) fn ends_having_told(self, of: &[&str]) {
        self.serving.signal("TERM");
        let (_, _, log) = self.serving.ended();
        for what in of {
            assert!(log.contains(what), "'{what}' is logged: {log}");
        }
        for line in log.lines() {
            assert!(!line.contains(SECRET) && !line.contains(&sealed()), "{line}");
        }
    }
}

/// A refusal of this status that tells no secret.
#[track_caller]
pub(super) fn assert_refused(answer: &str, status: u16) {
    assert!(answer.starts_with(&format!("HTTP/1.1 {status} ")), "{answer}");
    assert!(!answer.contains(SECRET), "{answer}");
}

/// Reasoning as a model encrypts it.
fn sealed() -> String {
    encrypted_content("fake-model", "rs_1")
}

/// A request whose every field that says something says a secret.
pub(super) fn telling() -> Value {
    json!({
        "model": "fake-model",
        "instructions": "sesame-instructions",
        "metadata": {"key": "sesame-metadata"},
        "user": "sesame-user",
        "prompt_cache_key": "sesame-cache",
        "include": ["reasoning.encrypted_content"],
        "tools": [{
            "type": "function",
            "name": "echo",
            "description": "sesame-description",
            "parameters": {"type": "object", "properties": {"text": {"enum": ["sesame-enum"]}}},
        }],
        "input": [
            {"role": "developer", "content": "sesame-developer"},
            {"role": "user", "content": [{"type": "input_text", "text": "sesame-text"}]},
            {"type": "reasoning", "id": "rs_1", "encrypted_content": sealed(),
             "summary": [{"type": "summary_text", "text": "sesame-summary"}]},
            {"type": "function_call", "call_id": "call_1", "name": "echo",
             "arguments": "{\"text\":\"sesame-arguments\"}"},
            {"type": "function_call_output", "call_id": "call_1", "output": "sesame-output"},
            {"type": "function_call", "call_id": "call_2", "name": "echo",
             "arguments": "{\"text\":\"sesame-unanswered\"}"},
            {"role": "user", "content": "sesame-question"},
        ],
    })
}
