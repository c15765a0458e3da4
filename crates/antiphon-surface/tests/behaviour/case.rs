//! One test case.

use bytes::Bytes;
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::{conversion, lists, stateful, tracker};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Case<'a> {
    pub(crate) name: String,
    does: String,
    #[serde(borrow)]
    given: &'a RawValue,
    #[serde(borrow)]
    gives: Option<&'a RawValue>,
    #[serde(borrow)]
    fails: Option<&'a RawValue>,
}

/// The result of a case: success, or a description of the difference.
pub(crate) type Outcome = Result<(), String>;

/// The expected result or error.
#[derive(Clone, Copy)]
pub(crate) enum Expected<'a> {
    Gives(&'a RawValue),
    Fails(&'a RawValue),
    Success,
}

impl Case<'_> {
    pub(crate) fn run(&self) -> Outcome {
        let expected = Expected::of(self.gives, self.fails)?;
        match self.does.as_str() {
            "check" => lists::check(self.given, expected),
            "repair" => lists::repair(self.given, expected),
            "filter_orphaned_reasoning" => lists::filter_orphaned_reasoning(self.given, expected),
            "strip" => lists::strip(self.given, expected),
            "reconcile" => lists::reconcile(self.given, expected),
            "tracker" => tracker::run(self.given, expected),
            "companion" => stateful::run(self.given, expected),
            "convert" => conversion::run(self.given, expected),
            unknown => Err(format!("unknown operation: {unknown}")),
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

/// Parses an object of a case. Unknown fields are an error.
pub(crate) fn read<'a, T: Deserialize<'a>>(raw: &'a RawValue) -> Result<T, String> {
    serde_json::from_str(raw.get()).map_err(|error| format!("{error}: {}", raw.get()))
}

/// The exact text in the file.
pub(crate) fn bytes(raw: &RawValue) -> Bytes {
    Bytes::copy_from_slice(raw.get().as_bytes())
}
