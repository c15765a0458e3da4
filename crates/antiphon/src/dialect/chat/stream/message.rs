//! The message of an answer, with its annotations and log probabilities.

use super::item_emitter::ItemEmitter;
use crate::dialect::chat::fields::{Fields, array};
use crate::json::{Object, objects};
use crate::stream::DeltaKind;

/// The message of an answer. Its parts are numbered in the order in which they begin: one for text,
/// one for refusal.
///
/// ```text
///   Empty ── text, refusal or annotation ──> Open, until the end of the answer
/// ```
#[derive(Debug, Default)]
pub(super) struct Message {
    index: Option<u64>,
    output: Option<u64>,
    refusal: Option<u64>,
    annotations: u64,
    /// Log probabilities of the text that follows: raw tokens, separated by commas.
    logprobs: String,
}

impl Message {
    /// Appends a piece of the text or of the refusal.
    pub(super) fn append(&mut self, spoken: DeltaKind, raw: &str, emitter: &mut ItemEmitter<'_>) {
        let (index, part) = (self.index(emitter), self.part(spoken));
        if spoken == DeltaKind::Output && !self.logprobs.is_empty() {
            let logprobs = format!("[{}]", std::mem::take(&mut self.logprobs));
            emitter.delta_with_logprobs(index, part, raw, &logprobs);
        } else {
            emitter.delta(index, spoken, part, raw);
        }
    }

    /// Adds log probabilities of the text that follows. Some servers send them ahead of the text,
    /// with an empty delta.
    pub(super) fn apply_logprobs(&mut self, logprobs: &Object<'_>) {
        let tokens = convert_logprobs(logprobs);
        if !tokens.is_empty() && !self.logprobs.is_empty() {
            self.logprobs.push(',');
        }
        self.logprobs.push_str(&tokens);
    }

    /// Adds an annotation of the text.
    pub(super) fn annotate(&mut self, annotation: &str, emitter: &mut ItemEmitter<'_>) {
        let (index, part) = (self.index(emitter), self.part(DeltaKind::Output));
        emitter.annotation(index, part, self.annotations, annotation);
        self.annotations += 1;
    }

    fn index(&mut self, emitter: &mut ItemEmitter<'_>) -> u64 {
        let message = || [("type", r#""message""#), ("role", r#""assistant""#)];
        let begin = || emitter.announce(&message().into_iter().collect::<Object<'_>>());
        *self.index.get_or_insert_with(begin)
    }

    fn part(&mut self, spoken: DeltaKind) -> u64 {
        let begun = u64::from(self.output.is_some()) + u64::from(self.refusal.is_some());
        let part = if spoken == DeltaKind::Refusal { &mut self.refusal } else { &mut self.output };
        *part.get_or_insert(begun)
    }
}

/// Converts an annotation of Chat Completions into raw JSON for the Responses API. The error is the
/// type of an unsupported annotation.
///
/// Sources: OpenAI's search models and OpenRouter nest the fields of a citation under its type:
/// `{"type":"url_citation","url_citation":{"url","title",…}}`. The Responses API has the fields
/// next to the type, and requires all four: a missing index becomes 0, a missing title an empty
/// string.
pub(super) fn convert_annotation(annotation: &Object<'_>) -> Result<String, String> {
    let kind = annotation.string("type").unwrap_or_default();
    if kind != "url_citation" {
        return Err(kind.into_owned());
    }
    let nested = annotation.object("url_citation");
    let source = nested.as_ref().unwrap_or(annotation);
    let mut citation = Object::default();
    citation.set("type", r#""url_citation""#);
    for key in ["start_index", "end_index"] {
        let given = source.get(key).filter(|raw| raw.parse::<u64>().is_ok());
        citation.set(key, given.unwrap_or("0").to_owned());
    }
    for key in ["url", "title"] {
        let given = source.get(key).filter(|raw| raw.starts_with('"'));
        citation.set(key, given.unwrap_or("\"\"").to_owned());
    }
    Ok(citation.to_text())
}

/// Converts the tokens of a choice's `logprobs.content` into a raw list for the Responses API,
/// without its brackets. Empty if there are no tokens.
///
/// Source: the references of both APIs. A token has the same fields in both. The Responses API
/// requires all of them, but Chat Completions servers may omit `bytes` or send null.
fn convert_logprobs(logprobs: &Object<'_>) -> String {
    let tokens = objects(logprobs.get("content").unwrap_or_default());
    let tokens: Vec<String> = tokens.iter().filter_map(token).collect();
    tokens.join(",")
}

fn token(token: &Object<'_>) -> Option<String> {
    let others = objects(token.get("top_logprobs").unwrap_or_default());
    let others: Vec<String> =
        others.iter().filter_map(|other| Some(common_fields(other)?.json())).collect();
    Some(common_fields(token)?.raw("top_logprobs", &array(&others)).json())
}

fn common_fields(token: &Object<'_>) -> Option<Fields> {
    let text = token.string("token")?;
    let bytes =
        token.present("bytes").map_or_else(|| format!("{:?}", text.as_bytes()), str::to_owned);
    let mut fields = Fields::new();
    fields.raw("token", token.get("token")?).raw("bytes", &bytes);
    fields.raw("logprob", token.present("logprob")?);
    Some(fields)
}
