//! Parses the compaction settings of a request.
//!
//! Source: the provider's reference and the types of its clients. `context_management` is a list of
//! `{type: "compaction", compact_threshold}`, with a threshold of at least 1,000 tokens. An input
//! item `compaction_trigger` compacts at once, and must be the last item.

use antiphon::json::{Object, type_name};
use antiphon::{Item, Kind};
use serde_json::value::RawValue;

use super::wrong_type;
use crate::error::{ApiError, NumberSort};

/// The minimum threshold in tokens.
const LEAST: u32 = 1_000;

/// The default threshold in tokens, for compaction by the gateway.
const USUAL: u64 = 200_000;

/// The condition for compacting the history.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CompactionTrigger {
    /// Never.
    None,
    /// If the history has more tokens than this number.
    Above(u64),
    /// At once; the request returns only the compaction.
    Now,
}

impl CompactionTrigger {
    /// Parses the trigger of a request with these fields and this input.
    pub(super) fn parse(
        fields: &Object<'_>,
        input: &[Item],
    ) -> Result<CompactionTrigger, ApiError> {
        let above = context_management(fields)?;
        match is_triggered(input)? {
            true => Ok(CompactionTrigger::Now),
            false => Ok(above.map_or(CompactionTrigger::None, CompactionTrigger::Above)),
        }
    }
}

/// The lowest threshold of the list.
fn context_management(fields: &Object<'_>) -> Result<Option<u64>, ApiError> {
    let Some(raw) = fields.present("context_management") else { return Ok(None) };
    let path = "context_management";
    let entries: Vec<&RawValue> =
        serde_json::from_str(raw).map_err(|_| wrong_type(path, "an array", raw))?;
    let entries = entries.iter().enumerate();
    let thresholds = entries.map(|(at, entry)| threshold(&format!("{path}[{at}]"), entry.get()));
    Ok(thresholds.collect::<Result<Vec<u64>, ApiError>>()?.into_iter().min())
}

fn threshold(path: &str, raw: &str) -> Result<u64, ApiError> {
    let entry = Object::parse_str(raw).map_err(|_| wrong_type(path, "an object", raw))?;
    let (kind, at) = (format!("{path}.type"), format!("{path}.compact_threshold"));
    match entry.string("type").as_deref() {
        Some("compaction") => {}
        Some(other) => {
            return Err(ApiError::InvalidValue {
                path: kind,
                value: other.into(),
                supported: &["compaction"],
            });
        }
        None => {
            let raw = entry.present("type");
            let missing = || ApiError::MissingParameter { name: kind.clone() };
            return Err(raw.map_or_else(missing, |raw| wrong_type(&kind, "a string", raw)));
        }
    }
    let Some(raw) = entry.present("compact_threshold") else { return Ok(USUAL) };
    match raw.parse::<u64>() {
        Ok(threshold) if threshold >= LEAST.into() => Ok(threshold),
        _ if type_name(raw) != "an integer" => Err(wrong_type(&at, "an integer", raw)),
        Err(_) if !raw.starts_with('-') => Ok(u64::MAX),
        _ => Err(ApiError::NumberBelowMinimum {
            path: at,
            sort: NumberSort::Integer,
            minimum: LEAST.into(),
            got: raw.into(),
        }),
    }
}

/// Whether the input ends with a trigger. A trigger before a compaction was resent together with
/// its result, and is ignored.
fn is_triggered(input: &[Item]) -> Result<bool, ApiError> {
    let kind = |at: usize| input.get(at).map(|item| &item.head().kind);
    for at in (0..input.len()).filter(|at| kind(*at) == Some(&Kind::CompactionTrigger)) {
        match kind(at + 1) {
            None => return Ok(true),
            Some(Kind::Compaction) => {}
            Some(_) => {
                return Err(ApiError::CompactionTriggerNotLast { path: format!("input[{at}]") });
            }
        }
    }
    Ok(false)
}
