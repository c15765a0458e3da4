//! The expected answer of a rule, the answer that was seen, and their differences.

use antiphon_mock::Refusal;
use http::StatusCode;
use serde_json::{Map, Value, json};

use super::rule::Expectation;
use super::variables::{Missing, Variables};

/// Stands for any text in an expected text.
const ANY: &str = "{*}";

/// The maximum number of characters of a body that is shown because it has no error object.
const SHOWN: usize = 300;

/// Fields of an answer: its `status`, and those of its error or of its body.
pub(super) type Fields = Map<String, Value>;

/// The answer of the server.
#[derive(Debug)]
pub(super) struct Answer {
    pub(super) status: StatusCode,
    /// Null if the body is not JSON.
    pub(super) body: Value,
    pub(super) text: String,
}

/// The expected and the seen fields.
#[derive(Debug)]
pub(super) struct Comparison {
    pub(super) expected: Fields,
    pub(super) seen: Fields,
    /// The names of the fields that differ.
    pub(super) differs: Vec<String>,
    /// The seen error in the form of the catalogue: its values replaced by their placeholders.
    pub(super) correction: Option<Value>,
}

impl Expectation<'_> {
    /// Compares the answer with this expectation.
    pub(super) fn compare(
        &self,
        variables: &Variables,
        answer: &Answer,
    ) -> Result<Comparison, Missing> {
        let (expected, values) = match self {
            Self::Answer { status, fields } => {
                (with_status(*status, variables.fill_fields(fields)?), Vec::new())
            }
            Self::Refusal { error, values, param } => {
                let values =
                    values.iter().map(|(name, value)| Ok((&**name, variables.fill_text(value)?)));
                let values: Vec<(&str, String)> = values.collect::<Result<_, Missing>>()?;
                (refusal_fields(error, &values, *param), values)
            }
        };
        let seen = seen_fields(&expected, answer);
        let differs = differences(&expected, &seen);
        let correction = match self {
            Self::Refusal { error, .. } if !differs.is_empty() && seen.contains_key("message") => {
                Some(correction(error, &values, &seen))
            }
            _ => None,
        };
        Ok(Comparison { expected, seen, differs, correction })
    }
}

fn refusal_fields(error: &str, values: &[(&str, String)], param: Option<&str>) -> Fields {
    let values: Vec<(&str, &str)> = values.iter().map(|(name, it)| (*name, &**it)).collect();
    let refusal = Refusal::named(error, &values).expect("a rule expects a known refusal");
    let mut error = refusal.body()["error"].as_object().cloned().unwrap_or_default();
    if let Some(param) = param {
        error.insert("param".to_owned(), param.into());
    }
    with_status(refusal.status.as_u16(), error)
}

fn with_status(status: u16, mut fields: Fields) -> Fields {
    fields.insert("status".to_owned(), status.into());
    fields
}

/// The fields of the answer's error. Without an error, the expected fields of the body, or its
/// start if the status is no success.
fn seen_fields(expected: &Fields, answer: &Answer) -> Fields {
    let fields = match answer.body["error"].as_object() {
        Some(error) => {
            let names = ["type", "code", "param", "message"];
            let field =
                |name: &&str| ((*name).to_owned(), error.get(*name).cloned().unwrap_or_default());
            names.iter().map(field).collect()
        }
        None if answer.status.is_success() => {
            let field = |name: &String| Some((name.clone(), answer.body.get(name)?.clone()));
            expected.keys().filter(|name| *name != "status").filter_map(field).collect()
        }
        None => {
            let start: String = answer.text.chars().take(SHOWN).collect();
            Map::from_iter([("body".to_owned(), start.into())])
        }
    };
    with_status(answer.status.as_u16(), fields)
}

/// The names of the expected fields that the answer does not have. An answer with another outcome
/// differs in its status alone.
fn differences(expected: &Fields, seen: &Fields) -> Vec<String> {
    let outcome = |fields: &Fields| fields["status"].as_u64().is_some_and(|status| status < 400);
    if outcome(expected) != outcome(seen) {
        return vec!["status".to_owned()];
    }
    let differs = |(name, value): &(&String, &Value)| {
        !matches(value, seen.get(*name).unwrap_or(&Value::Null))
    };
    expected.iter().filter(differs).map(|(name, _)| name.clone()).collect()
}

/// Whether a value is the expected one. An empty text equals null: some servers have the one where
/// others have the other, because of clients that need a text.
fn matches(expected: &Value, seen: &Value) -> bool {
    let is_none = |value: &Value| value.is_null() || value == "";
    match (expected, seen) {
        (expected, seen) if is_none(expected) => is_none(seen),
        (Value::String(template), Value::String(text)) => matches_text(template, text),
        (expected, seen) => expected == seen,
    }
}

/// Whether a text is the template with any text in each place of [`ANY`].
fn matches_text(template: &str, text: &str) -> bool {
    let Some((first, others)) = template.split_once(ANY) else { return template == text };
    let Some(mut rest) = text.strip_prefix(first) else { return false };
    let mut parts: Vec<&str> = others.split(ANY).collect();
    let last = parts.pop().unwrap_or_default();
    for part in parts {
        let Some((_, after)) = rest.split_once(part) else { return false };
        rest = after;
    }
    rest.ends_with(last)
}

/// The seen error as an entry of the catalogue.
fn correction(name: &str, values: &[(&str, String)], seen: &Fields) -> Value {
    let text = |field: &str| match &seen[field] {
        Value::String(text) if !text.is_empty() => Value::from(with_placeholders(text, values)),
        _ => Value::Null,
    };
    json!({
        "name": name,
        "status": seen["status"],
        "code": text("code"),
        "param": text("param"),
        "message": text("message"),
    })
}

/// Replaces whole words that are values by their placeholders, the longest first.
fn with_placeholders(text: &str, values: &[(&str, String)]) -> String {
    let mut values: Vec<&(&str, String)> = values.iter().collect();
    values.retain(|(_, value)| !value.is_empty() && !value.contains(ANY));
    values.sort_by_key(|(_, value)| std::cmp::Reverse(value.len()));
    let in_word = |c: char| c.is_alphanumeric() || c == '_';
    let mut template = String::new();
    let mut rest = text;
    while let Some(next) = rest.chars().next() {
        let found = values.iter().find(|(_, value)| {
            let after = rest.strip_prefix(value.as_str());
            after.is_some_and(|after| !after.starts_with(in_word)) && !template.ends_with(in_word)
        });
        let length = if let Some((name, value)) = found {
            template.extend(["{", name, "}"]);
            value.len()
        } else {
            template.push(next);
            next.len_utf8()
        };
        rest = &rest[length..];
    }
    template
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    fn answer(status: u16, body: Value) -> Answer {
        let status = StatusCode::from_u16(status).unwrap();
        Answer { status, text: body.to_string(), body }
    }

    fn compare(error: &str, values: &[(&str, &str)], answer: &Answer) -> Comparison {
        let owned = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
        let values: BTreeMap<_, _> = values.iter().map(owned).collect();
        let expected = Expectation::Refusal { error, values: &values, param: None };
        expected.compare(&Variables::default(), answer).unwrap()
    }

    fn not_found(message: &str, code: Option<&str>) -> Answer {
        let error = json!({
            "message": message, "type": "invalid_request_error", "param": "", "code": code,
        });
        answer(404, json!({"error": error}))
    }

    #[test]
    fn equal_refusal_has_no_difference() {
        let seen = not_found("Response with id 'resp_1' not found.", None);
        let compared = compare("response_not_found", &[("id", "resp_1")], &seen);
        assert_eq!((compared.differs, compared.correction), (Vec::new(), None));
    }

    #[test]
    fn different_fields_are_named_and_corrected() {
        let seen = not_found("No response 'resp_1' (resp_12).", Some("not_found"));
        let compared = compare("response_not_found", &[("id", "resp_1")], &seen);
        assert_eq!(compared.differs, ["code", "message"]);
        let correction = json!({
            "name": "response_not_found", "status": 404, "code": "not_found", "param": null,
            "message": "No response '{id}' (resp_12).",
        });
        assert_eq!(compared.correction, Some(correction));
    }

    #[test]
    fn any_text_may_stand_in_place_of_a_wildcard() {
        let seen = |message: &str| {
            let error = json!({
                "message": message, "type": "invalid_request_error", "param": null,
                "code": "invalid_api_key",
            });
            answer(401, json!({"error": error}))
        };
        let rest = ". You can find your API key at https://platform.openai.com/account/api-keys.";
        let text = format!("Incorrect API key provided: sk-***{rest}");
        assert!(compare("wrong_key", &[("key", ANY)], &seen(&text)).differs.is_empty());
        let differs = compare("wrong_key", &[("key", ANY)], &seen("Wrong.")).differs;
        assert_eq!(differs, ["message"]);
    }

    #[test]
    fn accepted_request_differs_in_its_status() {
        let seen = answer(200, json!({"id": "resp_1", "object": "response"}));
        let compared = compare("response_not_found", &[("id", "resp_1")], &seen);
        assert_eq!(compared.differs, ["status"]);
        assert_eq!(compared.correction, None);
    }

    #[test]
    fn body_without_an_error_is_shown() {
        let seen = answer(404, json!({"detail": "Not Found"}));
        let compared = compare("response_not_found", &[("id", "resp_1")], &seen);
        assert_eq!(compared.seen["body"], r#"{"detail":"Not Found"}"#);
        assert_eq!(compared.differs, ["message", "type"]);
    }

    #[test]
    fn expected_fields_of_an_answer_are_compared() {
        let fields = json!({"object": "list", "has_more": false});
        let expected = Expectation::Answer { status: 200, fields: fields.as_object().unwrap() };
        let seen = answer(200, json!({"object": "list", "has_more": true, "data": []}));
        let compared = expected.compare(&Variables::default(), &seen).unwrap();
        assert_eq!(compared.differs, ["has_more"]);
        let seen = not_found("Gone.", None);
        let compared = expected.compare(&Variables::default(), &seen).unwrap();
        assert_eq!(compared.differs, ["status"]);
    }
}
