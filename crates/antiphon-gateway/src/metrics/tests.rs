//! Every metric is documented, and every use of a metric is of one that exists.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::PathBuf;

use super::*;

/// The labels that Prometheus adds, and that of buckets.
const ADDED: [&str; 3] = ["instance", "job", "le"];

/// The type and the labels of each metric.
type Exported = BTreeMap<String, (String, BTreeSet<String>)>;

fn file(path: &str) -> String {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..").join(path);
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn exported() -> Exported {
    let families = Families::default();
    Metrics::register(&families, true);
    let described = families.described().into_iter();
    described
        .map(|(it, family)| {
            let kind = format!("{:?}", family.get_field_type()).to_lowercase();
            (it.fq_name.clone(), (kind, it.variable_labels.iter().cloned().collect()))
        })
        .collect()
}

/// The words in backquotes.
fn quoted(cell: &str) -> BTreeSet<String> {
    cell.split('`').skip(1).step_by(2).map(str::to_owned).collect()
}

#[test]
fn every_metric_is_documented_with_its_type_and_labels() {
    let book = file("docs/metrics.md");
    let (_, table) = book.split_once("## All metrics").expect("the section exists");
    let rows = table.lines().filter_map(|line| line.strip_prefix("| `"));
    let documented: Exported = rows
        .map(|row| {
            let cells: Vec<&str> = row.split('|').collect();
            let name = cells[0].trim().trim_end_matches('`').to_owned();
            (name, (cells[1].trim().to_owned(), quoted(cells[2])))
        })
        .collect();
    assert_eq!(documented, exported());
}

/// The metrics in an expression, with the labels of their matchers.
fn uses(text: &str) -> Vec<(String, BTreeSet<String>)> {
    let is_word = |char: char| char.is_ascii_alphanumeric() || char == '_';
    let mut uses = Vec::new();
    for prefix in ["antiphon_", "process_"] {
        for (start, _) in text.match_indices(prefix) {
            if text[..start].ends_with(is_word) {
                continue;
            }
            let rest = &text[start..];
            let end = rest.find(|char| !is_word(char)).unwrap_or(rest.len());
            let matchers = rest[end..].strip_prefix('{').and_then(|it| it.split_once('}'));
            let matchers = matchers.map_or("", |(matchers, _)| matchers);
            let names = matchers.split(',').filter_map(|it| it.split_once(['=', '!']));
            let labels = names.map(|(name, _)| name.trim().to_owned()).collect();
            uses.push((rest[..end].to_owned(), labels));
        }
    }
    uses
}

/// The labels of `by (…)` and of `{{…}}` in legends and annotations.
fn grouping_labels(text: &str) -> BTreeSet<String> {
    let groups = text.split("by (").skip(1).filter_map(|it| Some(it.split_once(')')?.0));
    let groups = groups.flat_map(|it| it.split(',')).map(str::trim);
    let shown = text.split("{{").skip(1).filter_map(|it| Some(it.split_once("}}")?.0.trim()));
    let shown = shown.filter(|it| !it.starts_with("$value"));
    let shown = shown.map(|it| it.trim_start_matches("$labels."));
    groups.chain(shown).filter(|it| !it.is_empty()).map(str::to_owned).collect()
}

/// The labels of a series. Those of a histogram have a suffix.
fn labels_of_series<'a>(name: &str, exported: &'a Exported) -> Option<&'a BTreeSet<String>> {
    let of_histogram = ["_bucket", "_sum", "_count"].iter().find_map(|it| name.strip_suffix(it));
    let histogram =
        of_histogram.and_then(|base| exported.get(base)).filter(|it| it.0 == "histogram");
    let plain = || exported.get(name).filter(|it| it.0 != "histogram");
    Some(&histogram.or_else(plain)?.1)
}

/// The use of a metric or label that does not exist, in an expression with its legend.
fn flaw(text: &str, exported: &Exported) -> Option<String> {
    let mut known: BTreeSet<String> = ADDED.map(str::to_owned).into();
    for (name, labels) in uses(text) {
        let Some(own) = labels_of_series(&name, exported) else {
            return Some(format!("no series {name}"));
        };
        known.extend(own.iter().cloned());
        let is_unknown = |label: &&String| !own.contains(*label) && !ADDED.contains(&&***label);
        if let Some(label) = labels.iter().find(is_unknown) {
            return Some(format!("{name} has no label {label}"));
        }
    }
    let grouping = grouping_labels(text);
    let label = grouping.iter().find(|label| !known.contains(*label))?;
    Some(format!("no metric has the label {label}"))
}

#[test]
fn dashboard_uses_only_metrics_that_exist() {
    let exported = exported();
    let dashboard: serde_json::Value =
        serde_json::from_str(&file("deploy/grafana/antiphon.json")).expect("it is JSON");
    let panels = dashboard["panels"].as_array().expect("it has panels");
    let mut used = BTreeSet::new();
    for target in panels.iter().filter_map(|panel| panel["targets"].as_array()).flatten() {
        let text = format!("{} {}", target["expr"], target["legendFormat"]).replace("\\\"", "\"");
        assert_eq!(flaw(&text, &exported), None, "{text}");
        used.extend(uses(&text).into_iter().map(|(name, _)| name));
    }
    for name in exported.keys() {
        let is_shown = used.iter().any(|used| used.starts_with(name.as_str()));
        let is_minor = ["process_virtual_memory_bytes", "process_threads"].contains(&name.as_str());
        assert!(is_shown || is_minor, "no panel shows {name}");
    }
}

#[test]
fn alerts_use_only_metrics_that_exist() {
    let (exported, book) = (exported(), file("docs/operations.md"));
    let rules = file("deploy/prometheus/alerts.yaml");
    let mut count = 0;
    for rule in rules.split("- alert: ").skip(1) {
        assert_eq!(flaw(rule, &exported), None, "{rule}");
        let section = rule.split_once("docs/operations.md#").expect("it names a section").1;
        let section = section.split_once(['.', '"']).expect("the name ends").0;
        assert!(has_section(&book, section), "docs/operations.md has no section {section}");
        count += 1;
    }
    assert!(count > 5, "the rules are read");
}

/// Whether a document has a heading with this anchor.
fn has_section(book: &str, anchor: &str) -> bool {
    let headings = book.lines().filter(|line| line.starts_with('#'));
    let anchor_of = |heading: &str| {
        let words = heading.trim_start_matches('#').trim().to_lowercase().replace(' ', "-");
        words.replace(|char: char| !(char.is_ascii_alphanumeric() || char == '-'), "")
    };
    headings.map(anchor_of).any(|it| it == anchor)
}

#[test]
fn misspelt_metric_or_label_is_found() {
    let exported = exported();
    for wrong in [
        "rate(antiphon_turn_total[5m])",
        "antiphon_turns_total{result=\"failed\"}",
        "sum by (code) (antiphon_turns_total)",
        "antiphon_turns_open {{upstream}}",
        "antiphon_turns_total_bucket",
        "antiphon_turn_seconds",
    ] {
        assert!(flaw(wrong, &exported).is_some(), "{wrong}");
    }
    let right = "sum by (outcome, le) (antiphon_turns_total{upstream!~\"a\"}) {{outcome}}";
    assert_eq!(flaw(right, &exported), None);
}
