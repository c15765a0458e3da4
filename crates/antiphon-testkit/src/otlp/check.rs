//! The rules that every trace of a gateway follows.

use std::collections::{BTreeMap, HashMap};

use super::span::{Kind, Span, Value};

/// The names of the stages of a turn.
const STAGES: [&str; 8] =
    ["open", "load", "sync", "reconcile", "compact", "send", "stream", "commit"];

/// The faults of these spans, each as a sentence. The spans of each trace must be complete.
pub fn faults(spans: &[Span]) -> Vec<String> {
    let by_id: HashMap<(&str, &str), &Span> =
        spans.iter().map(|span| ((&*span.trace, &*span.id), span)).collect();
    let mut faults: Vec<String> = Vec::new();
    if by_id.len() != spans.len() {
        faults.push("two spans have the same id".to_owned());
    }
    for span in spans {
        let parent = by_id.get(&(&*span.trace, &*span.parent)).copied();
        let of_span = own_faults(span).into_iter().chain(place_faults(span, parent));
        faults.extend(of_span.map(|fault| format!("{} ({}): {fault}", span.name, span.id)));
    }
    faults
}

/// The faults of a span by itself.
fn own_faults(span: &Span) -> Vec<String> {
    let mut faults = Vec::new();
    let is_id = |text: &str, length| text.len() == length && text.bytes().any(|it| it != b'0');
    if !is_id(&span.trace, 32) || !is_id(&span.id, 16) {
        faults.push(format!("its ids are '{}' and '{}'", span.trace, span.id));
    }
    if span.start == 0 || span.end < span.start {
        faults.push(format!("it lasts from {} to {}", span.start, span.end));
    }
    if span.repeated_attributes > 0 {
        faults.push("it has an attribute twice".to_owned());
    }
    if span.is_error && span.text("error.type").is_empty() {
        faults.push("it has failed without an error.type".to_owned());
    }
    if !span.resource.contains_key("service.name") {
        faults.push("its resource has no service.name".to_owned());
    }
    faults.extend(missing(span).map(|key| format!("it has no {key}")));
    faults
}

/// The attributes that a span of its kind and name needs.
fn missing(span: &Span) -> impl Iterator<Item = &'static str> {
    let needed: &[&str] = match span.kind {
        Kind::Server if span.name == "response.create" => {
            &["network.protocol.name", "antiphon.request.id", "antiphon.connection"]
        }
        Kind::Server => &["http.request.method", "url.path", "antiphon.request.id"],
        Kind::Client | Kind::Internal if span.name.starts_with("chat ") => {
            &["gen_ai.operation.name", "gen_ai.provider.name", "gen_ai.request.model"]
        }
        Kind::Client => &["http.request.method", "server.address", "server.port", "url.full"],
        Kind::Internal | Kind::Other => &[],
    };
    needed.iter().copied().filter(|key| !span.attributes.contains_key(*key))
}

/// The faults of a span's place in its trace.
fn place_faults(span: &Span, parent: Option<&Span>) -> Vec<String> {
    let mut faults = Vec::new();
    match (parent, span.kind) {
        (None, Kind::Server) => {}
        (None, _) if span.name == "background turn" && span.has_remote_parent => {}
        (None, _) => faults.push("its parent is not exported".to_owned()),
        (Some(parent), _) => {
            if span.start < parent.start {
                faults.push(format!("it begins before its parent {}", parent.name));
            }
            if span.name != "background turn" && span.end > parent.end {
                faults.push(format!("it ends after its parent {}", parent.name));
            }
            let is_request = parent.kind == Kind::Server || parent.name == "background turn";
            if STAGES.contains(&&*span.name) && !is_request {
                faults.push(format!("it is a stage below {}", parent.name));
            }
        }
    }
    faults
}

/// Whether any text in these spans contains this one.
pub fn contain(spans: &[Span], text: &str) -> bool {
    let has = |value: &Value| format!("{value:?}").contains(text);
    let any = |attributes: &BTreeMap<String, Value>| attributes.values().any(has);
    spans.iter().any(|span| {
        span.name.contains(text)
            || any(&span.attributes)
            || any(&span.resource)
            || span.events.iter().any(|(name, attributes)| name.contains(text) || any(attributes))
    })
}
