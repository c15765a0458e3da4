//! Functions for lists of items, with JSON texts.

use antiphon_surface::{Finding, InvalidArgument, RepairError, RepairedItems};
use napi_derive::napi;
use serde::Serialize;

use crate::text::{Error, Text, borrowed_bytes, error, json_of};

/// The faults in a list.
#[napi]
pub fn check(items: Text, held: Option<Text>) -> Result<String, Error> {
    let held = held.map(borrowed_bytes);
    let findings = antiphon_surface::check(&borrowed_bytes(items), held.as_ref());
    Ok(json_of(&findings.map_err(invalid_argument_error)?))
}

/// The repaired list, or `refused`: the fault that the policy rejects.
#[napi]
pub fn repair(items: Text, held: Option<Text>, policy: String) -> Result<String, Error> {
    let held = held.map(borrowed_bytes);
    repaired(antiphon_surface::repair(&borrowed_bytes(items), held.as_ref(), &policy))
}

fn repaired(result: Result<RepairedItems, RepairError>) -> Result<String, Error> {
    match result {
        Ok(repaired) => Ok(json_of(&repaired)),
        Err(RepairError::Refused(refused)) => Ok(json_of(&Refused { refused })),
        Err(RepairError::InvalidArgument(reason)) => Err(invalid_argument_error(reason)),
        Err(RepairError::Policy(reason)) => Err(error("policy", &reason)),
    }
}

/// The list without orphaned reasoning.
#[napi]
pub fn filter_orphaned_reasoning(items: Text) -> Result<String, Error> {
    let repaired = antiphon_surface::filter_orphaned_reasoning(&borrowed_bytes(items));
    Ok(json_of(&repaired.map_err(invalid_argument_error)?))
}

/// The field of a request that makes it continue the state of a server.
#[napi]
pub fn marker(request: Text) -> Result<Option<String>, Error> {
    let marker = antiphon_surface::marker(&borrowed_bytes(request));
    Ok(marker.map_err(invalid_argument_error)?.map(str::to_owned))
}

/// The list without the items that a server holds, judged by the items alone.
#[napi]
pub fn strip(items: Text, policy: String) -> Result<String, Error> {
    repaired(antiphon_surface::strip(&borrowed_bytes(items), &policy))
}

/// The verdict on each item.
#[napi]
pub fn reconcile(held: Text, items: Text) -> Result<String, Error> {
    let verdicts = antiphon_surface::reconcile(&borrowed_bytes(held), &borrowed_bytes(items));
    Ok(json_of(&verdicts.map_err(invalid_argument_error)?))
}

#[derive(Serialize)]
struct Refused {
    refused: Box<Finding>,
}

fn invalid_argument_error(reason: InvalidArgument) -> Error {
    error("unreadable", &reason)
}
