//! What was found, as it is told.

use antiphon::faults::{Fault, Refusal};
use antiphon::repair::{self, Action, Refused};
use serde::Serialize;

/// A fault, in a provider's words; and what was done about it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// Null for an item that the server holds.
    pub position: Option<usize>,
    /// The item's id, where it has one.
    pub id: Option<String>,
    /// The fault's name; `resent_item` where a server would take the item and hold it twice.
    pub fault: &'static str,
    /// What was done.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub action: Option<&'static str>,
    /// The provider's words, or ours where it says nothing.
    pub message: String,
    /// `error.code`
    pub code: Option<&'static str>,
    /// `error.param`
    pub param: Option<String>,
}

impl Finding {
    /// What is wrong, and nothing was done about.
    pub fn of_fault(finding: &repair::Finding) -> Self {
        Self { action: None, ..Self::of_mend(finding) }
    }

    /// What was mended.
    pub fn of_mend(finding: &repair::Finding) -> Self {
        Self::at(finding.position, finding)
    }

    /// The same of an item that is elsewhere in the list than the engine was told.
    pub fn at(position: Option<usize>, finding: &repair::Finding) -> Self {
        let refusal = match &finding.fault {
            Some(fault) => fault.refusal(position.unwrap_or_default()),
            None => stored_twice(),
        };
        Self {
            position,
            id: finding.id.as_ref().map(ToString::to_string),
            fault: finding.fault.as_ref().map_or("resent_item", Fault::name),
            action: finding.action.map(Action::name),
            message: refusal.message,
            code: refusal.code,
            param: refusal.param,
        }
    }

    /// What a policy rejects.
    pub fn of_refusal(refused: &Refused) -> Self {
        let Refused { position, id, fault } = refused.clone();
        Self::of_fault(&repair::Finding { position, id, fault: Some(fault), action: None })
    }
}

/// A provider that holds an item which it cannot know again stores it once more.
fn stored_twice() -> Refusal {
    let message = "The server holds this item already and would hold it twice.".to_owned();
    Refusal { status: 200, code: None, param: None, message }
}
