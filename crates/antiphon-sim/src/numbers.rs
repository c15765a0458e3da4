//! Numbers in a text, and numbers that a schema allows.

use serde_json::{Map, Number, Value};

/// The numbers of `text` in order: an optional sign, digits, an optional fraction.
pub(super) fn numbers(text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut rest = 0;
    while let Some(digit) = text[rest..].find(|c: char| c.is_ascii_digit()).map(|at| rest + at) {
        let end = number_end(text, digit);
        let before = &text[..digit];
        let signed = before.strip_suffix('-').filter(|before| !before.ends_with(is_name_char));
        if !before.ends_with(is_name_char) {
            found.push(&text[digit - usize::from(signed.is_some())..end]);
        }
        rest = end;
    }
    found
}

fn number_end(text: &str, start: usize) -> usize {
    let digits = |from: usize| {
        let past = text[from..].find(|c: char| !c.is_ascii_digit());
        past.map_or(text.len(), |at| from + at)
    };
    let whole = digits(start);
    match text[whole..].strip_prefix('.') {
        Some(fraction) if fraction.starts_with(|c: char| c.is_ascii_digit()) => digits(whole + 1),
        _ => whole,
    }
}

fn is_name_char(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// The integer nearest to `said` that `schema` allows. The default for `said` is 1.
pub(super) fn integer(said: Option<&str>, schema: &Map<String, Value>) -> Value {
    let limits = Limits::from_schema(schema, 1.0).whole();
    let said = said.map_or("1", |said| said.split('.').next().unwrap_or(said));
    match said.parse::<i64>() {
        Ok(exact) if limits.allow(approximate(exact)) => exact.into(),
        _ => truncate(limits.nearest(said)).into(),
    }
}

/// The number nearest to `said` that `schema` allows. The default for `said` is 1.
pub(super) fn number(said: Option<&str>, schema: &Map<String, Value>) -> Value {
    let limits = Limits::from_schema(schema, gap_between_exclusive_limits(schema));
    let said = said.unwrap_or("1");
    let exact = said.parse::<Number>().ok();
    let allowed = |number: &Number| number.as_f64().is_some_and(|value| limits.allow(value));
    match exact.filter(allowed) {
        Some(exact) => exact.into(),
        None => whole_if_whole(limits.nearest(said)),
    }
}

/// A limit well within the integers that an `f64` represents: multiples up to this value are exact.
const PRECISE: f64 = 4_503_599_627_370_496.0;

/// The limits of a schema on a number.
struct Limits {
    least: f64,
    most: f64,
    multiple_of: Option<f64>,
}

impl Limits {
    /// `gap` is the distance between an exclusive limit and the nearest permitted value.
    fn from_schema(schema: &Map<String, Value>, gap: f64) -> Self {
        let limit = |key: &str| schema.get(key).and_then(Value::as_f64);
        let multiple_of = limit("multipleOf").filter(|step| *step > 0.0);
        let precise = multiple_of.map_or(f64::MAX, |_| PRECISE);
        let least = [limit("minimum"), limit("exclusiveMinimum").map(|below| below + gap)];
        let most = [limit("maximum"), limit("exclusiveMaximum").map(|above| above - gap)];
        Self {
            least: least.into_iter().flatten().fold(-precise, f64::max),
            most: most.into_iter().flatten().fold(precise, f64::min),
            multiple_of,
        }
    }

    /// The same limits for integers.
    fn whole(self) -> Self {
        Self { least: self.least.ceil(), most: self.most.floor(), ..self }
    }

    fn allow(&self, value: f64) -> bool {
        let multiple = self.multiple_of.is_none_or(|step| value % step == 0.0);
        multiple && self.least <= value && value <= self.most
    }

    fn nearest(&self, said: &str) -> f64 {
        let value = said.parse::<f64>().unwrap_or(1.0).min(self.most).max(self.least);
        match self.multiple_of {
            None => value,
            Some(step) if (value / step).ceil() * step <= self.most => (value / step).ceil() * step,
            Some(step) => (value / step).floor() * step,
        }
    }
}

/// Half of the distance between two exclusive limits, since there may be no integer between them.
fn gap_between_exclusive_limits(schema: &Map<String, Value>) -> f64 {
    let limit = |key: &str| schema.get(key).and_then(Value::as_f64);
    match (limit("exclusiveMinimum"), limit("exclusiveMaximum")) {
        (Some(below), Some(above)) => (above - below) / 2.0,
        _ => 1.0,
    }
}

/// Writes 5.0 as `5`, as people do.
fn whole_if_whole(value: f64) -> Value {
    let whole = truncate(value);
    if (approximate(whole) - value).abs() < f64::EPSILON { whole.into() } else { value.into() }
}

#[expect(clippy::cast_possible_truncation, reason = "saturates, which is what is wanted")]
fn truncate(value: f64) -> i64 {
    value as i64
}

#[expect(clippy::cast_precision_loss, reason = "only compared with limits")]
fn approximate(integer: i64) -> f64 {
    integer as f64
}
