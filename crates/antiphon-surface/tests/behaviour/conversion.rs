//! Conversions of an answer into another dialect.

use antiphon_surface::{Conversion, Converted, Event, convert};
use serde::Deserialize;
use serde_json::json;
use serde_json::value::RawValue;

use crate::case::{Expected, Outcome, bytes, read};
use crate::json::{Comparison, Ids};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Given<'a> {
    from: String,
    to: String,
    event_names: Option<String>,
    #[serde(borrow)]
    request: Option<&'a RawValue>,
    #[serde(borrow)]
    parts: Option<Vec<&'a RawValue>>,
    text: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Gives<'a> {
    #[serde(borrow)]
    events: &'a RawValue,
    #[serde(borrow)]
    folded: Option<&'a RawValue>,
    #[serde(borrow)]
    notes: Option<&'a RawValue>,
    error: Option<String>,
}

/// In Unix seconds.
const NOW: i64 = 1_800_000_000;

pub(crate) fn run(given: &RawValue, expected: Expected<'_>) -> Outcome {
    let Expected::Gives(gives) = expected else {
        return Err("a conversion gives events".into());
    };
    let (given, gives): (Given<'_>, Gives<'_>) = (read(given)?, read(gives)?);
    let text = given.input()?;
    is(&gives, &given.convert(text.as_bytes())?)?;
    // Chunk boundaries make no difference.
    let in_bytes = given.convert_in_bytes(text.as_bytes())?;
    is(&gives, &in_bytes).map_err(|error| format!("byte by byte: {error}"))
}

impl Given<'_> {
    fn input(&self) -> Result<String, String> {
        // A JSON string contains no line break.
        let line = |part: &&RawValue| part.get().replace('\n', " ") + "\n";
        match (&self.parts, &self.text) {
            (Some(parts), None) => Ok(parts.iter().map(line).collect()),
            (None, Some(text)) => Ok(text.clone()),
            _ => Err("either 'parts' or 'text' is converted".into()),
        }
    }

    fn convert(&self, answer: &[u8]) -> Result<Converted, String> {
        let (from, to) = (self.from.as_str(), self.to.as_str());
        let request = self.request.map(bytes);
        let names = self.event_names.as_deref();
        convert(answer, from, to, request.as_ref(), names, NOW).map_err(|error| error.to_string())
    }

    fn convert_in_bytes(&self, answer: &[u8]) -> Result<Converted, String> {
        let (from, to) = (self.from.as_str(), self.to.as_str());
        let request = self.request.map(bytes);
        let names = self.event_names.as_deref();
        let conversion = Conversion::new(from, to, request.as_ref(), names, NOW);
        let mut conversion = conversion.map_err(|error| error.to_string())?;
        let mut events: Vec<Event> =
            answer.chunks(1).flat_map(|chunk| conversion.push(chunk)).collect();
        let end = conversion.finish(NOW);
        events.extend(end.events);
        Ok(Converted { events, ..end })
    }
}

fn is(gives: &Gives<'_>, end: &Converted) -> Outcome {
    let mut ids = Ids::default();
    let data: Vec<&str> =
        end.events.iter().map(|event| std::str::from_utf8(&event.data).unwrap()).collect();
    ids.compare(gives.events.get(), &format!("[{}]", data.join(",")), Comparison::Named)?;
    if let Some(folded) = gives.folded {
        ids.compare(folded.get(), &end.folded, Comparison::Named)?;
    }
    if let Some(notes) = gives.notes {
        ids.compare(notes.get(), &json!(end.notes).to_string(), Comparison::Whole)?;
    }
    if gives.error != end.error {
        return Err(format!("expected the error {:?}, but got {:?}", gives.error, end.error));
    }
    Ok(())
}
