//! The report: lines for people, and JSON for programs.

use std::fmt::Write as _;

use serde::Serialize;
use serde_json::{Value, json};

use super::comparison::{Comparison, Fields};
use super::rule::Rule;
use super::session::{Cost, NotTried};
use crate::one_line::one_line;

/// The result of each rule so far.
#[derive(Debug, Default)]
pub(super) struct Report {
    entries: Vec<Value>,
    counts: Counts,
}

#[derive(Clone, Copy, Debug, Default, Serialize)]
struct Counts {
    rules: usize,
    equal: usize,
    different: usize,
    not_tried: usize,
    /// The rules that were not tried because the server did not answer, or the user interrupted.
    #[serde(skip)]
    unanswered: usize,
}

/// The result of a run as a whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    Equal,
    Different,
    /// The rules were not tried, or not all of them for reasons that lie in the run.
    Incomplete,
}

impl Report {
    /// Adds the result of a rule and returns its lines.
    pub(super) fn add(&mut self, rule: &Rule, result: &Result<Comparison, NotTried>) -> String {
        self.counts.rules += 1;
        let request = rule.request();
        let mut entry = json!({
            "id": rule.id,
            "rule": rule.rule,
            "request": format!("{} {}", request.method, request.path),
        });
        if let Some(error) = rule.error() {
            entry["error"] = error.into();
        }
        let (title, lines) = match result {
            Ok(compared) => {
                entry["result"] =
                    if compared.differs.is_empty() { "equal" } else { "different" }.into();
                entry["expected"] = compared.expected.clone().into();
                entry["seen"] = compared.seen.clone().into();
                entry["differs"] = compared.differs.clone().into();
                if let Some(correction) = &compared.correction {
                    entry["correction"] = correction.clone();
                }
                self.count_comparison(compared)
            }
            Err(not_tried) => {
                let reason = not_tried.reason();
                entry["result"] = "not tried".into();
                entry["reason"] = reason.clone().into();
                self.counts.not_tried += 1;
                self.counts.unanswered +=
                    usize::from(!matches!(not_tried, NotTried::Precondition(_)));
                ("not tried", format!("  reason    {}\n", one_line(&reason)))
            }
        };
        self.entries.push(entry);
        format!("{title:<9} {}: {}\n{lines}", rule.id, rule.rule)
    }

    fn count_comparison(&mut self, compared: &Comparison) -> (&'static str, String) {
        let Comparison { expected, seen, differs, .. } = compared;
        if differs.is_empty() {
            self.counts.equal += 1;
            return ("equal", format!("  seen      {}\n", line(seen)));
        }
        self.counts.different += 1;
        let lines = format!(
            "  expected  {}\n  seen      {}\n  differs   {}\n",
            line(expected),
            line(seen),
            differs.join(", ")
        );
        ("DIFFERENT", lines)
    }

    /// The last lines: the counts, the cost, and the objects that could not be deleted.
    pub(super) fn summary(&self, cost: Cost, left: &[String]) -> String {
        let Counts { equal, different, not_tried, .. } = self.counts;
        let Cost { requests, answers, tokens } = cost;
        let mut text = format!(
            "\n{equal} equal, {different} different, {not_tried} not tried; {requests} requests, \
             {answers} answers of the model, {tokens} tokens\n"
        );
        text += match left {
            [] => "all objects of this run are deleted\n",
            _ => "could not delete:\n",
        };
        for path in left {
            let _ = writeln!(text, "  {path}");
        }
        text
    }

    /// The report as JSON.
    pub(super) fn to_json(&self, base: &str, model: &str, cost: Cost, left: &[String]) -> Value {
        json!({
            "version": env!("CARGO_PKG_VERSION"),
            "base_url": base,
            "model": model,
            "counts": self.counts,
            "cost": {"requests": cost.requests, "answers": cost.answers, "tokens": cost.tokens},
            "left": left,
            "rules": self.entries,
        })
    }

    pub(super) fn verdict(&self) -> Verdict {
        match self.counts {
            Counts { different: 1.., .. } => Verdict::Different,
            Counts { unanswered: 1.., .. } | Counts { equal: 0, .. } => Verdict::Incomplete,
            _ => Verdict::Equal,
        }
    }
}

impl NotTried {
    pub(super) fn reason(&self) -> String {
        match self {
            Self::Precondition(reason) | Self::NoAnswer(reason) => reason.clone(),
            Self::Interrupted => "interrupted".to_owned(),
        }
    }
}

/// The fields of an answer in one line: `400 invalid_request_error, param input: …`.
fn line(fields: &Fields) -> String {
    let mut text = fields["status"].to_string();
    if let Some(kind) = fields.get("type").and_then(Value::as_str) {
        let _ = write!(text, " {kind}");
    }
    for name in ["param", "code"] {
        match fields.get(name).and_then(Value::as_str) {
            None | Some("") => {}
            Some(value) => _ = write!(text, ", {name} {value}"),
        }
    }
    if let Some(message) = fields.get("message").and_then(Value::as_str) {
        let _ = write!(text, ": {message}");
        return one_line(&text);
    }
    let mut others = fields.clone();
    others.retain(|name, _| !["status", "type", "param", "code"].contains(&&**name));
    if !others.is_empty() {
        let _ = write!(text, " {}", Value::from(others));
    }
    one_line(&text)
}
