//! The rules, and the steps that lead to them. Both are data: see the files in `rules/`.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::{Map, Value};

/// A rule of the provider: a request, and the expected answer.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Rule {
    /// The name of the rule.
    pub(super) id: String,
    /// The rule as a sentence.
    pub(super) rule: String,
    /// The names of the steps before the request.
    #[serde(default)]
    pub(super) given: Vec<String>,
    /// A request of a response: its fields besides the usual ones.
    turn: Option<Map<String, Value>>,
    /// Any other request: its method and path.
    request: Option<String>,
    body: Option<Value>,
    /// A body that is not JSON.
    text: Option<String>,
    /// A key in place of the user's; `none` for no key.
    key: Option<String>,
    /// The name of the expected refusal in the catalogue of the strict provider, and its values.
    error: Option<String>,
    #[serde(default)]
    values: BTreeMap<String, String>,
    /// The `param` of the refusal, if it is not the one of the catalogue.
    param: Option<String>,
    /// The expected status and fields of an answer that is no refusal.
    status: Option<u16>,
    #[serde(default)]
    answer: Map<String, Value>,
}

/// A request whose answer later requests use under the name of the step. A step runs once.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Step {
    pub(super) name: String,
    /// The names of the steps before this one.
    #[serde(default)]
    pub(super) given: Vec<String>,
    turn: Option<Map<String, Value>>,
    request: Option<String>,
    body: Option<Value>,
}

/// A request with placeholders: `{name.path}` stands for a value of an earlier answer.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct RequestTemplate {
    pub(super) method: String,
    pub(super) path: String,
    pub(super) body: BodyTemplate,
    pub(super) key: Key,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum BodyTemplate {
    Empty,
    Json(Value),
    /// Sent as it is.
    Text(String),
}

/// The key of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Key {
    Own,
    None,
    Other(String),
}

/// An expected answer with placeholders.
#[derive(Debug)]
pub(super) enum Expectation<'a> {
    Refusal { error: &'a str, values: &'a BTreeMap<String, String>, param: Option<&'a str> },
    Answer { status: u16, fields: &'a Map<String, Value> },
}

/// All rules, in the order in which they are tried.
pub(super) fn rules() -> Vec<Rule> {
    let files = [
        include_str!("rules/requests.json"),
        include_str!("rules/items.json"),
        include_str!("rules/responses.json"),
        include_str!("rules/conversations.json"),
    ];
    let rules = |text| serde_json::from_str::<Vec<Rule>>(text);
    files.into_iter().flat_map(|text| rules(text).expect("an array of rules")).collect()
}

/// All steps.
pub(super) fn steps() -> Vec<Step> {
    serde_json::from_str(include_str!("rules/steps.json")).expect("an array of steps")
}

impl Rule {
    pub(super) fn request(&self) -> RequestTemplate {
        let mut template =
            template(self.turn.as_ref(), self.request.as_deref(), self.body.as_ref());
        if let Some(text) = &self.text {
            template.body = BodyTemplate::Text(text.clone());
        }
        template.key = match self.key.as_deref() {
            None => Key::Own,
            Some("none") => Key::None,
            Some(other) => Key::Other(other.to_owned()),
        };
        template
    }

    pub(super) fn expectation(&self) -> Expectation<'_> {
        match &self.error {
            Some(error) => {
                Expectation::Refusal { error, values: &self.values, param: self.param.as_deref() }
            }
            None => Expectation::Answer {
                status: self.status.expect("a rule expects an error or a status"),
                fields: &self.answer,
            },
        }
    }

    /// The name of the expected refusal.
    pub(super) fn error(&self) -> Option<&str> {
        self.error.as_deref()
    }
}

impl Step {
    pub(super) fn request(&self) -> RequestTemplate {
        template(self.turn.as_ref(), self.request.as_deref(), self.body.as_ref())
    }
}

/// The fields of every request for a response. It is cheap, and not stored by default.
fn usual_fields() -> Map<String, Value> {
    let fields = [
        ("model", Value::from("{model}")),
        ("max_output_tokens", 16.into()),
        ("store", false.into()),
    ];
    fields.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

fn template(
    turn: Option<&Map<String, Value>>,
    request: Option<&str>,
    body: Option<&Value>,
) -> RequestTemplate {
    let (line, body) = match turn {
        Some(fields) => {
            let mut body = usual_fields();
            body.extend(fields.clone());
            ("POST /responses", Some(Value::Object(body)))
        }
        None => (request.expect("a rule and a step have a request"), body.cloned()),
    };
    let (method, path) = line.split_once(' ').expect("a request has a method and a path");
    RequestTemplate {
        method: method.to_owned(),
        path: path.to_owned(),
        body: body.map_or(BodyTemplate::Empty, BodyTemplate::Json),
        key: Key::Own,
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use antiphon_mock::Refusal;

    use super::*;

    /// The refusals that one request after another with one model cannot lead to.
    const UNTRIED: [&str; 4] = [
        // Needs two turns at once.
        "conversation_locked",
        // Need a model that does not reason, or a list of models.
        "encrypted_reasoning_unsupported",
        "model_not_served",
        // Another text for encrypted content that cannot be read, which has a rule.
        "foreign_content",
    ];

    #[test]
    fn every_refusal_of_the_mock_has_a_rule() {
        let rules = rules();
        let tried: BTreeSet<&str> = rules.iter().filter_map(Rule::error).collect();
        let names: BTreeSet<&str> = Refusal::names().collect();
        let untried: BTreeSet<&str> = names.difference(&tried).copied().collect();
        assert_eq!(untried, BTreeSet::from(UNTRIED));
        assert!(tried.is_subset(&names));
    }

    #[test]
    fn rules_and_steps_are_well_formed() {
        let (rules, steps) = (rules(), steps());
        let ids: BTreeSet<&str> = rules.iter().map(|rule| &*rule.id).collect();
        assert_eq!(ids.len(), rules.len(), "a rule has an id of its own");
        let names: Vec<&str> = steps.iter().map(|step| &*step.name).collect();
        for (index, step) in steps.iter().enumerate() {
            step.request();
            for given in &step.given {
                assert!(names[..index].contains(&&**given), "{given} comes before {}", step.name);
            }
        }
        for rule in &rules {
            rule.request();
            assert!(rule.given.iter().all(|given| names.contains(&&**given)), "{}", rule.id);
            if let Expectation::Refusal { error, values, .. } = rule.expectation() {
                let values: Vec<_> = values.iter().map(|(name, it)| (&**name, &**it)).collect();
                assert!(Refusal::named(error, &values).is_some(), "{}", rule.id);
            }
        }
    }
}
