//! `docs/tracing.md` against the spans that are exported.

use std::collections::{BTreeMap, BTreeSet};

use antiphon_gateway::settings::Telemetry;
use antiphon_testkit::otlp::{Kind, Span};

const DOCUMENT: &str = include_str!("../../../../../docs/tracing.md");
const NAMES: &str = include_str!("../../../src/span/attribute.rs");

/// The attributes that the document lists, each with its spans.
fn documented() -> BTreeMap<&'static str, BTreeSet<&'static str>> {
    let (_, section) = DOCUMENT.split_once("## Attributes").expect("there is a section");
    let section = section.split("\n## ").next().unwrap_or_default();
    let rows = section.lines().filter_map(|line| line.strip_prefix("| `"));
    rows.map(|row| {
        let (name, rest) = row.split_once("` | ").expect("a row has an attribute");
        let (spans, _) = rest.split_once(" | ").expect("a row has spans");
        (name, spans.split(", ").collect())
    })
    .collect()
}

/// The spans of the document that this one is.
fn roles(span: &Span) -> &'static [&'static str] {
    match (span.kind, &*span.name) {
        (Kind::Server, "POST /v1/responses" | "response.create" | "POST /v1/responses/compact") => {
            &["request", "turn"]
        }
        (Kind::Server, _) => &["request"],
        (Kind::Internal, "background turn") => &["turn"],
        (_, name) if name.starts_with("chat ") => &["chat"],
        (Kind::Client, _) => &["attempt"],
        _ => &["stage"],
    }
}

/// The attributes of these spans that the document does not list for them.
pub(crate) fn undocumented(spans: &[Span]) -> Vec<String> {
    let documented = documented();
    let mut faults = Vec::new();
    for span in spans {
        let roles = roles(span);
        for name in span.attributes.keys() {
            let spans = documented.get(&**name);
            if !spans.is_some_and(|spans| roles.iter().any(|role| spans.contains(role))) {
                faults.push(format!("{name} of {}", span.name));
            }
        }
    }
    faults
}

#[test]
fn document_lists_the_attributes_of_the_code() {
    let names = NAMES.lines().filter_map(|line| line.strip_prefix("pub(crate) const "));
    let names = names.filter_map(|line| line.split('"').nth(1));
    let events = ["antiphon.wait_ms"];
    let names: BTreeSet<_> = names.filter(|name| !events.contains(name)).collect();
    let listed: BTreeSet<_> = documented().into_keys().collect();
    assert_eq!(listed, names);
}

#[test]
fn document_lists_the_variables_of_the_code() {
    let (_, section) = DOCUMENT.split_once("## Variables").expect("there is a section");
    let section = section.split("\n## ").next().unwrap_or_default();
    let rows = section.lines().filter(|line| line.starts_with("| `OTEL_"));
    let names = rows.filter_map(|row| row.split(" | ").next());
    let names = names.flat_map(|cell| cell.split('`')).filter(|name| name.starts_with("OTEL_"));
    let listed: BTreeSet<_> = names.collect();
    let read: BTreeSet<_> = Telemetry::VARIABLES.iter().copied().collect();
    assert_eq!(listed, read);
}
