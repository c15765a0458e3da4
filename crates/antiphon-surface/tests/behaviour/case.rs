//! One case.

use bytes::Bytes;
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::{companion, conversion, lists, tracker};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Case<'a> {
    pub(crate) name: String,
    does: String,
    only: Option<Vec<Language>>,
    #[serde(borrow)]
    given: &'a RawValue,
    #[serde(borrow)]
    gives: Option<&'a RawValue>,
    #[serde(borrow)]
    fails: Option<&'a RawValue>,
}

#[derive(Deserialize, PartialEq)]
#[serde(rename_all = "snake_case")]
enum Language {
    Rust,
    Python,
    Node,
}

/// What comes of a case: JSON that is as expected, or what is different.
pub(crate) type Outcome = Result<(), String>;

/// What is expected: a result or an error.
#[derive(Clone, Copy)]
pub(crate) enum Expected<'a> {
    Gives(&'a RawValue),
    Fails(&'a RawValue),
    Success,
}

impl Case<'_> {
    pub(crate) fn run(&self) -> Outcome {
        if self.only.as_ref().is_some_and(|only| !only.contains(&Language::Rust)) {
            return Ok(());
        }
        let expected = Expected::of(self.gives, self.fails)?;
        match self.does.as_str() {
            "check" => lists::check(self.given, expected),
            "repair" => lists::repair(self.given, expected),
            "filter_orphaned_reasoning" => lists::filter_orphaned_reasoning(self.given, expected),
            "strip" => lists::strip(self.given, expected),
            "reconcile" => lists::reconcile(self.given, expected),
            "tracker" => tracker::run(self.given, expected),
            "companion" => companion::run(self.given, expected),
            "convert" => conversion::run(self.given, expected),
            unknown => Err(format!("does what nobody knows: {unknown}")),
        }
    }
}

impl<'a> Expected<'a> {
    pub(crate) fn of(
        gives: Option<&'a RawValue>,
        fails: Option<&'a RawValue>,
    ) -> Result<Self, String> {
        match (gives, fails) {
            (Some(gives), None) => Ok(Self::Gives(gives)),
            (None, Some(fails)) => Ok(Self::Fails(fails)),
            (None, None) => Ok(Self::Success),
            (Some(_), Some(_)) => Err("both gives and fails".into()),
        }
    }
}

/// The fields of an object of a case, and no others.
pub(crate) fn read<'a, T: Deserialize<'a>>(raw: &'a RawValue) -> Result<T, String> {
    serde_json::from_str(raw.get()).map_err(|error| format!("{error}: {}", raw.get()))
}

/// The very text that stands in the file.
pub(crate) fn bytes(raw: &RawValue) -> Bytes {
    Bytes::copy_from_slice(raw.get().as_bytes())
}
