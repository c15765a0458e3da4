//! Findings in a serializable form.

use antiphon::faults::{Fault, Refusal};
use antiphon::repair::{self, Action, Refused};
use serde::Serialize;

/// A fault with the provider's error, and the repair of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// The item's position; null for an item that the server stores.
    pub position: Option<usize>,
    /// The item's id, if it has one.
    pub id: Option<String>,
    /// The fault's name. `resent_item` means that a server would store the item a second time.
    pub fault: &'static str,
    /// The repair.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub action: Option<&'static str>,
    /// The provider's text, or ours if the provider has none.
    pub message: String,
    /// `error.code`
    pub code: Option<&'static str>,
    /// `error.param`
    pub param: Option<String>,
}

impl Finding {
    /// A fault that was not repaired.
    pub fn from_fault(finding: &repair::Finding) -> Self {
        Self { action: None, ..Self::from_repair(finding) }
    }

    /// A fault that was repaired.
    pub fn from_repair(finding: &repair::Finding) -> Self {
        Self::at_position(finding.position, finding)
    }

    /// The finding with another position, for an item that the engine saw elsewhere in the list.
    pub fn at_position(position: Option<usize>, finding: &repair::Finding) -> Self {
        let (message, code, param) = match &finding.fault {
            _ if finding.is_by_policy => (DROPPED_ANSWER.to_owned(), None, None),
            Some(fault) => {
                let Refusal { message, code, param, .. } =
                    fault.refusal(position.unwrap_or_default());
                (message, code, param)
            }
            None => (RESENT_ITEM.to_owned(), None, None),
        };
        Self {
            position,
            id: finding.id.as_ref().map(ToString::to_string),
            fault: finding.fault.as_ref().map_or("resent_item", Fault::name),
            action: finding.action.map(Action::name),
            message,
            code,
            param,
        }
    }

    /// A fault that the policy rejects.
    pub fn from_refusal(refused: &Refused) -> Self {
        let Refused { position, id, fault } = refused.clone();
        let fault = Some(fault);
        let finding = repair::Finding { position, id, fault, action: None, is_by_policy: false };
        Self::from_fault(&finding)
    }
}

/// The finding about an item that the provider would not recognize and would store again.
const RESENT_ITEM: &str = "The server holds this item already and would hold it twice.";

/// The finding about an answer that only the policy left out.
const DROPPED_ANSWER: &str = "The policy 'answers=drop' leaves out approvals and outputs of a \
                              local shell. The server may not have this one.";
