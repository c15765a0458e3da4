//! Lists of items, as JSON texts.

use antiphon_surface::{Finding, RepairError, Unreadable};
use napi_derive::napi;
use serde::Serialize;

use crate::text::{Error, Text, bytes_for_now, error, json_of};

/// The findings in a list.
#[napi]
pub fn check(items: Text, held: Option<Text>) -> Result<String, Error> {
    let held = held.map(bytes_for_now);
    let findings = antiphon_surface::check(&bytes_for_now(items), held.as_ref());
    Ok(json_of(&findings.map_err(unreadable)?))
}

/// The mended list, or `refused`, what the policy rejects.
#[napi]
pub fn repair(items: Text, held: Option<Text>, policy: String) -> Result<String, Error> {
    let held = held.map(bytes_for_now);
    match antiphon_surface::repair(&bytes_for_now(items), held.as_ref(), &policy) {
        Ok(mended) => Ok(json_of(&mended)),
        Err(RepairError::Refused(refused)) => Ok(json_of(&Refused { refused })),
        Err(RepairError::Unreadable(reason)) => Err(unreadable(reason)),
        Err(RepairError::Policy(reason)) => Err(error("policy", &reason)),
    }
}

/// The list without orphaned reasoning.
#[napi]
pub fn filter_orphaned_reasoning(items: Text) -> Result<String, Error> {
    let mended = antiphon_surface::filter_orphaned_reasoning(&bytes_for_now(items));
    Ok(json_of(&mended.map_err(unreadable)?))
}

/// The list without what a server that holds the conversation holds.
#[napi]
pub fn strip(items: Text) -> Result<String, Error> {
    Ok(json_of(&antiphon_surface::strip(&bytes_for_now(items)).map_err(unreadable)?))
}

/// The verdict on each item.
#[napi]
pub fn reconcile(held: Text, items: Text) -> Result<String, Error> {
    let verdicts = antiphon_surface::reconcile(&bytes_for_now(held), &bytes_for_now(items));
    Ok(json_of(&verdicts.map_err(unreadable)?))
}

#[derive(Serialize)]
struct Refused {
    refused: Box<Finding>,
}

fn unreadable(reason: Unreadable) -> Error {
    error("unreadable", &reason)
}
