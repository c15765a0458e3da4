//! What was found, as it is told.

use antiphon::Item;
use antiphon::faults::{Fault, Refusal};
use serde::Serialize;

/// A fault, in a provider's words; and what was done about it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// Null for an item that the server holds.
    pub position: Option<usize>,
    /// The item's id, where it has one.
    pub id: Option<String>,
    /// The fault's name.
    pub fault: &'static str,
    /// What was done.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub action: Option<&'static str>,
    /// The provider's words.
    pub message: String,
    /// `error.code`
    pub code: Option<&'static str>,
    /// `error.param`
    pub param: Option<String>,
}

impl Finding {
    pub(crate) fn of_fault(items: &[Item], position: usize, fault: &Fault) -> Self {
        let Refusal { code, param, message, .. } = fault.refusal(position);
        let id = items[position].head().id.as_ref().map(ToString::to_string);
        let fault = fault.name();
        Self { position: Some(position), id, fault, action: None, message, code, param }
    }
}
