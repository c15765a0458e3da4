//! `antiphon conformance` against the strict provider, alone and behind the gateway.

mod behind_gateways;
mod failures;

use std::collections::BTreeSet;
use std::fs;

use antiphon_mock::{Options, Profile, StrictProvider};
use http::Method;
use serde_json::Value;
use tempfile::TempDir;
use tokio::runtime::Runtime;

use crate::world::{Ended, World};

/// In no output and in no report.
const KEY: &str = "sk-sesame-of-the-user";

/// A strict provider.
struct Provider {
    strict: StrictProvider,
    runtime: Runtime,
}

/// A run that has ended, and its report.
struct Run {
    ended: Ended,
    report: Value,
}

impl Provider {
    fn start() -> Self {
        Self::with_profile(Profile::OpenAi)
    }

    fn with_profile(profile: Profile) -> Self {
        let runtime = Runtime::new().unwrap();
        let options = Options { profile, ..Options::default() };
        let strict = runtime.block_on(StrictProvider::with_options(options).start());
        Self { strict, runtime }
    }

    /// The paths of all conversations and responses that requests have created.
    fn created(&self) -> BTreeSet<String> {
        let requests = self.strict.requests();
        let deleted = requests.iter().filter(|it| it.method == Method::DELETE && it.status == 200);
        deleted.map(|it| it.path.clone()).filter(|path| path.matches('/').count() == 3).collect()
    }

    /// Nothing that a request has created exists.
    fn assert_empty(&self) {
        assert_eq!(self.strict.response_ids(), Vec::<String>::new());
        let requests = self.strict.requests();
        let conversations =
            requests.iter().filter(|it| it.path == "/v1/conversations" && it.status == 200).count();
        let ids: Vec<String> = self.created().into_iter().collect();
        let deleted: Vec<&str> =
            ids.iter().filter_map(|path| path.strip_prefix("/v1/conversations/")).collect();
        assert_eq!(deleted.len(), conversations);
        assert!(deleted.iter().all(|id| self.strict.conversation_items(id).is_none()));
    }
}

/// A run that will ask the server at this base URL.
fn conformance(base_url: &str, more: &[&str]) -> World {
    let args = ["conformance", "--base-url", base_url, "--model", "any", "--key", KEY];
    World::antiphon(&[&args, more].concat())
}

fn run(base_url: &str, more: &[&str]) -> Run {
    let directory = TempDir::new().unwrap();
    let path = directory.path().join("report.json");
    let file = ["--json", path.to_str().unwrap()];
    let ended = conformance(base_url, &[&file, more].concat()).ends();
    let text = fs::read_to_string(path).unwrap();
    for text in [&ended.stdout, &ended.stderr, &text] {
        assert!(!text.contains("sesame"), "{text}");
    }
    Run { ended, report: serde_json::from_str(&text).unwrap_or_default() }
}

impl Run {
    /// The rules with this result, and the entry of each.
    fn rules(&self, result: &str) -> Vec<&Value> {
        let rules = self.report["rules"].as_array().unwrap().iter();
        rules.filter(|rule| rule["result"] == result).collect()
    }

    fn ids(&self, result: &str) -> BTreeSet<&str> {
        self.rules(result).iter().map(|rule| rule["id"].as_str().unwrap()).collect()
    }

    fn rule(&self, id: &str) -> &Value {
        let rules = self.report["rules"].as_array().unwrap();
        rules.iter().find(|rule| rule["id"] == id).unwrap()
    }
}

#[test]
fn strict_provider_follows_every_rule() {
    let provider = Provider::start();
    let run = run(&provider.strict.base_url(), &[]);
    assert_eq!(run.ids("different"), BTreeSet::new());
    assert_eq!(run.ids("not tried"), BTreeSet::new());
    assert_eq!(run.ended.code, Some(0), "{}", run.ended.stderr);
    assert!(run.ended.stdout.ends_with("all objects of this run are deleted\n"));
    provider.assert_empty();

    let asked = provider.strict.requests();
    assert_eq!(run.report["cost"]["requests"], asked.len());
    let answers = asked.iter().filter(|it| it.model_input.is_some()).count();
    assert_eq!((&run.report["cost"]["answers"], answers), (&answers.into(), 3));
}

#[test]
fn report_names_expected_and_seen_fields() {
    let provider = Provider::start();
    let run = run(&provider.strict.base_url(), &[]);
    let rule = run.rule("previous-unknown");
    assert_eq!(rule["expected"], rule["seen"]);
    assert_eq!(rule["error"], "previous_response_not_found");
    let seen = serde_json::json!({
        "status": 400,
        "type": "invalid_request_error",
        "param": "previous_response_id",
        "code": "previous_response_not_found",
        "message": "Previous response with id \
            'resp_0123456789abcdef0123456789abcdef0123456789abcdef' not found.",
    });
    assert_eq!(rule["seen"], seen);
    assert!(run.ended.stdout.contains("\nequal     previous-unknown: "));
}

#[test]
fn azure_is_reached_with_its_path_and_header() {
    let provider = Provider::with_profile(Profile::Azure);
    let root = provider.strict.base_url();
    let url = format!("{}/openai?api-version=preview", root.trim_end_matches("/v1"));
    let run = run(&url, &["--api-key-header", "api-key"]);

    let requests = provider.strict.requests();
    assert!(requests.iter().all(|it| it.path.starts_with("/openai/")));
    let is_versioned = |query: &str| query.ends_with("api-version=preview");
    assert!(requests.iter().all(|it| it.query.as_deref().is_some_and(is_versioned)));
    assert_eq!(run.report["base_url"], url.split('?').next().unwrap());

    assert_eq!(run.ended.code, Some(1));
    assert!(run.ids("equal").contains("previous-output-missing"));
    assert!(run.ids("different").contains("field-unknown"));
    let missing = "POST /conversations was answered with 404: Resource not found";
    assert!(run.rules("not tried").iter().all(|rule| rule["reason"] == missing));
    assert_eq!(run.rule("list-order")["reason"], missing);
}
