//! The upstreams: whether each can be reached, accepts its key, and has the models of the settings.

use std::time::Duration;

use antiphon_gateway::entropy::unix_now;
use antiphon_gateway::settings::{ModelPattern, Retries, Settings, UpstreamSettings};
use antiphon_gateway::{ModelList, UpstreamClient};
use http::StatusCode;
use tokio::task::JoinSet;

use super::clock::Dates;
use super::finding::Finding;
use crate::state_owners::host;

/// The maximum size of a list of models.
const MAX_LIST: usize = 4 << 20;

/// The findings about all upstreams, and their times.
#[derive(Default)]
pub(super) struct Examination {
    pub(super) findings: Vec<Finding>,
    pub(super) dates: Vec<Dates>,
}

impl Examination {
    /// Asks all upstreams at the same time. `models` are looked for in addition to the settings.
    pub(super) async fn run(settings: &Settings, models: &[String], timeout: Duration) -> Self {
        let mut examination = Self::default();
        if settings.upstreams.is_empty() {
            let detail = "none; the gateway answers only with its built-in model sim";
            let next = "Give --upstream URL for other models.";
            examination.findings.push(Finding::ok("upstream", detail).next(next));
        }
        let mut answers = JoinSet::new();
        for (position, upstream) in settings.upstreams.iter().cloned().enumerate() {
            answers.spawn(async move { (position, ask(upstream, timeout).await) });
        }
        let mut answers = answers.join_all().await;
        answers.sort_by_key(|(position, _)| *position);
        for (position, answer) in answers {
            let wanted = wanted(position, settings, models);
            examination.add(&settings.upstreams[position], &answer, &wanted);
        }
        examination.check_served(settings, models);
        examination
    }

    fn add(&mut self, upstream: &UpstreamSettings, answer: &Answer, wanted: &[&str]) {
        let check = format!("upstream {}", label(upstream));
        let list = match &answer.list {
            Ok(list) => list,
            Err(reason) => return self.findings.push(unreachable(check, upstream, reason)),
        };
        if let Some(theirs) = list.date {
            self.dates.push(Dates { server: label(upstream), theirs, ours: answer.received_at });
        }
        self.findings.push(answered(check, upstream, list));
        match list.status {
            StatusCode::OK => self.findings.extend(missing_models(upstream, list, wanted)),
            status if is_rejection(status) && upstream.key.is_none() => {
                self.findings.push(unlisted_models(upstream, wanted));
            }
            _ => {}
        }
    }

    /// Reports the models that no upstream serves.
    fn check_served(&mut self, settings: &Settings, models: &[String]) {
        let is_served = |model: &String| first_to_serve(model, settings).is_some();
        let missing = models.iter().filter(|model| *model != antiphon_sim::NAME);
        for model in missing.filter(|model| !is_served(model)) {
            self.findings.push(
                Finding::failed("model", format!("no upstream serves the model '{model}'"))
                    .next("Give --upstream URL, or add its name to `models` of an upstream."),
            );
        }
    }
}

/// The answer of an upstream, and its time in Unix seconds.
struct Answer {
    list: Result<ModelList, String>,
    received_at: i64,
}

/// Asks an upstream for its models, once and within `timeout`.
async fn ask(upstream: UpstreamSettings, timeout: Duration) -> Answer {
    let limits = UpstreamSettings {
        connect_timeout: timeout,
        first_byte_timeout: timeout,
        idle_timeout: timeout,
        total_timeout: timeout,
        retries: Retries::none(),
        max_answer: MAX_LIST,
        ..upstream
    };
    let list = UpstreamClient::new(limits).list_models().await;
    Answer { list, received_at: unix_now() }
}

fn unreachable(check: String, upstream: &UpstreamSettings, reason: &str) -> Finding {
    let is_tls = TLS_ERRORS.iter().any(|words| reason.contains(words));
    let next = match (is_tls, &upstream.authorities) {
        (true, Some(_)) => {
            "Check the server's certificate, and whether the file has its authority; use http:// \
             for a server without TLS."
        }
        (true, None) => {
            "Give --upstream-ca-file, or `ca-file` of this upstream, if the server's authority is \
             private; use http:// for a server without TLS."
        }
        (false, _) => "Check the URL, the network and the firewall.",
    };
    let reason = reason.trim_end_matches('.');
    Finding::failed(check, format!("{reason}; its URL is {}", upstream.url)).next(next)
}

/// Words of errors about TLS. A server without TLS sends a corrupt message.
const TLS_ERRORS: [&str; 2] = ["certificate", "corrupt message"];

/// The finding about an answer with any status.
fn answered(check: String, upstream: &UpstreamSettings, list: &ModelList) -> Finding {
    let (status, error, has_key) = (list.status, &list.error, upstream.key.is_some());
    match status {
        StatusCode::OK => Finding::ok(check, listed(upstream, list)),
        status if is_rejection(status) && has_key => {
            Finding::failed(check, format!("it rejects the key with status {status}: {error}"))
                .next("Correct --upstream-key, or `key` or `key-env` of this upstream.")
        }
        status if is_rejection(status) => {
            let detail = format!("reachable{}; callers' own tokens are forwarded", tls(upstream));
            Finding::ok(check, detail)
        }
        StatusCode::NOT_FOUND | StatusCode::METHOD_NOT_ALLOWED => {
            let detail = format!("reachable{}, but it has no list of models", tls(upstream));
            let next = "Check that the URL ends with the version of the API, such as /v1.";
            Finding::warning(check, detail).next(next)
        }
        _ => {
            let detail = format!("it answers the list of models with status {status}: {error}");
            Finding::failed(check, detail).next("Ask the operator of this upstream.")
        }
    }
}

/// Whether the upstream rejects the credentials.
fn is_rejection(status: StatusCode) -> bool {
    matches!(status, StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN)
}

/// The models of an upstream that shows its list only to callers with a key.
fn unlisted_models(upstream: &UpstreamSettings, wanted: &[&str]) -> Finding {
    let names = match wanted {
        [] => String::new(),
        names => format!(" for {}", names.join(", ")),
    };
    let detail = format!(
        "its list was not searched{names}: the upstream shows it only to callers with a key"
    );
    Finding::ok(format!("models of {}", label(upstream)), detail)
        .next("Give --upstream-key to check the models of a key.")
}

fn listed(upstream: &UpstreamSettings, list: &ModelList) -> String {
    let key = match upstream.key {
        Some(_) => "with the key",
        None => "without a key",
    };
    let (tls, api, count) = (tls(upstream), upstream.api, list.models.len());
    let models = match (count, list.has_more) {
        (1, false) => "1 model".to_owned(),
        (_, false) => format!("{count} models"),
        (_, true) => format!("{count} or more models"),
    };
    format!("reachable{tls}, API {api}; lists {models} {key}")
}

fn tls(upstream: &UpstreamSettings) -> &'static str {
    match upstream.url.scheme_str() {
        Some("https") => " over TLS",
        _ => "",
    }
}

/// The models that the settings or the command line name, and the upstream does not list.
fn missing_models(
    upstream: &UpstreamSettings,
    list: &ModelList,
    wanted: &[&str],
) -> Option<Finding> {
    let is_listed = |wanted: &str| {
        let pattern = ModelPattern::new(wanted);
        list.models.iter().any(|model| pattern.takes(model))
    };
    let missing: Vec<&str> = wanted.iter().copied().filter(|name| !is_listed(name)).collect();
    let check = format!("models of {}", label(upstream));
    match (wanted.is_empty(), missing.is_empty()) {
        (true, _) => None,
        (_, true) => Some(Finding::ok(check, format!("it lists {}", wanted.join(", ")))),
        _ if list.has_more => {
            let detail = format!("the start of its list does not name {}", missing.join(", "));
            Some(Finding::ok(check, detail))
        }
        _ => Some(
            Finding::warning(check, format!("it does not list {}", missing.join(", ")))
                .next("Check the names, and whether the key may use these models."),
        ),
    }
}

/// The position of the first upstream that serves a model.
fn first_to_serve(model: &str, settings: &Settings) -> Option<usize> {
    let serves = |upstream: &UpstreamSettings| upstream.models.iter().any(|it| it.takes(model));
    settings.upstreams.iter().position(serves)
}

/// The names to look for in the list of the upstream at this position.
fn wanted<'a>(position: usize, settings: &'a Settings, models: &'a [String]) -> Vec<&'a str> {
    let patterns = settings.upstreams[position].models.iter().map(ModelPattern::as_str);
    let given = models.iter().map(String::as_str);
    let given = given.filter(|model| first_to_serve(model, settings) == Some(position));
    patterns.filter(|pattern| *pattern != "*").chain(given).collect()
}

fn label(upstream: &UpstreamSettings) -> String {
    upstream.name.clone().unwrap_or_else(|| host(upstream))
}
