//! Operations on a list of items.

use antiphon_surface::{self as surface, Finding, InvalidArgument, RepairError, RepairedItems};
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::case::{Expected, Outcome, bytes, read};
use crate::json::{Comparison, Ids};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Given<'a> {
    #[serde(borrow)]
    items: &'a RawValue,
    #[serde(borrow)]
    held: Option<&'a RawValue>,
    policy: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Gives<'a> {
    #[serde(borrow)]
    items: &'a RawValue,
    #[serde(borrow, rename = "mends")]
    repairs: &'a RawValue,
}

pub(crate) fn check(given: &RawValue, expected: Expected<'_>) -> Outcome {
    let given: Given<'_> = read(given)?;
    refuse(given.policy.is_some(), "policy")?;
    match surface::check(&bytes(given.items), given.held.map(bytes).as_ref()) {
        Ok(found) => is(expected, &json(&found), Comparison::Named),
        Err(unreadable) => expect_unreadable(expected, &unreadable),
    }
}

pub(crate) fn repair(given: &RawValue, expected: Expected<'_>) -> Outcome {
    let given: Given<'_> = read(given)?;
    let held = given.held.map(bytes);
    let policy = given.policy.as_deref().unwrap_or_default();
    match surface::repair(&bytes(given.items), held.as_ref(), policy) {
        Ok(mended) => expect_repaired(expected, &mended),
        Err(RepairError::InvalidArgument(unreadable)) => expect_unreadable(expected, &unreadable),
        Err(RepairError::Refused(finding)) => expect_refused(expected, &finding),
        Err(RepairError::Policy(unknown)) => fails(
            expected,
            &json(&serde_json::json!({ "policy": unknown.word })),
            Comparison::Whole,
        ),
    }
}

pub(crate) fn filter_orphaned_reasoning(given: &RawValue, expected: Expected<'_>) -> Outcome {
    mend(given, expected, surface::filter_orphaned_reasoning)
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Stripped<'a> {
    #[serde(borrow)]
    items: &'a RawValue,
    #[serde(borrow)]
    conversation: Option<&'a RawValue>,
    previous_response_id: Option<String>,
    policy: Option<String>,
}

pub(crate) fn strip(given: &RawValue, expected: Expected<'_>) -> Outcome {
    let Stripped { items, conversation, previous_response_id, policy } = read(given)?;
    let request = json(&serde_json::json!({
        "conversation": conversation, "previous_response_id": previous_response_id,
    }));
    let marker = surface::marker(&request.into()).map_err(|error| error.to_string())?;
    if marker.is_none() {
        let items: Vec<&RawValue> = read(items)?;
        let unchanged = (0..items.len()).collect::<Vec<_>>();
        return compare(expected, &json(&unchanged), "[]");
    }
    match surface::strip(&bytes(items), policy.as_deref().unwrap_or_default()) {
        Ok(stripped) => expect_repaired(expected, &stripped),
        Err(RepairError::InvalidArgument(unreadable)) => expect_unreadable(expected, &unreadable),
        Err(error) => Err(error.to_string()),
    }
}

pub(crate) fn reconcile(given: &RawValue, expected: Expected<'_>) -> Outcome {
    let given: Given<'_> = read(given)?;
    refuse(given.policy.is_some(), "policy")?;
    let held = given.held.ok_or("reconcile needs 'held'")?;
    match surface::reconcile(&bytes(held), &bytes(given.items)) {
        Ok(judged) => is(expected, &json(&judged), Comparison::Whole),
        Err(unreadable) => expect_unreadable(expected, &unreadable),
    }
}

fn mend(
    given: &RawValue,
    expected: Expected<'_>,
    mend: impl Fn(&bytes::Bytes) -> Result<RepairedItems, InvalidArgument>,
) -> Outcome {
    let given: Given<'_> = read(given)?;
    refuse(given.policy.is_some() || given.held.is_some(), "policy' or 'held")?;
    match mend(&bytes(given.items)) {
        Ok(mended) => expect_repaired(expected, &mended),
        Err(unreadable) => expect_unreadable(expected, &unreadable),
    }
}

/// Rejects a field that the operation does not use.
fn refuse(is_given: bool, field: &str) -> Outcome {
    if is_given { Err(format!("the operation does not use '{field}'")) } else { Ok(()) }
}

fn expect_repaired(expected: Expected<'_>, mended: &RepairedItems) -> Outcome {
    compare(expected, &json(&mended.items), &json(&mended.repairs))
}

fn compare(expected: Expected<'_>, actual: &str, actual_repairs: &str) -> Outcome {
    let Expected::Gives(gives) = expected else {
        return Err(format!("expected an error, but got {actual}"));
    };
    let Gives { items, repairs } = read(gives)?;
    let mut ids = Ids::default();
    ids.compare(items.get(), actual, Comparison::Whole)?;
    ids.compare(repairs.get(), actual_repairs, Comparison::Named)
}

fn expect_refused(expected: Expected<'_>, finding: &Finding) -> Outcome {
    fails(expected, &json(finding), Comparison::Named)
}

fn expect_unreadable(expected: Expected<'_>, unreadable: &InvalidArgument) -> Outcome {
    let sentence = serde_json::json!({ "unreadable": unreadable.to_string() });
    fails(expected, &json(&sentence), Comparison::Whole)
}

fn is(expected: Expected<'_>, actual: &str, comparison: Comparison) -> Outcome {
    match expected {
        Expected::Gives(gives) => Ids::default().compare(gives.get(), actual, comparison),
        _ => Err(format!("expected an error, but got {actual}")),
    }
}

fn fails(expected: Expected<'_>, actual: &str, comparison: Comparison) -> Outcome {
    match expected {
        Expected::Fails(fails) => Ids::default().compare(fails.get(), actual, comparison),
        _ => Err(format!("expected success, but got the error {actual}")),
    }
}

fn json(value: &impl serde::Serialize) -> String {
    serde_json::to_string(value).unwrap()
}
