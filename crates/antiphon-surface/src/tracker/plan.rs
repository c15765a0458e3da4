//! The plan of the next request.

use antiphon::tracker::{self as engine, Attempt, Occurrence, Reason};
use serde::Serialize;
use serde_json::value::RawValue;

use crate::repaired_items::raw;

/// The items of the next request, and the reason for every other item.
#[derive(Debug, Serialize)]
pub struct Plan {
    /// The items to send, in the order of their addition.
    pub items: Vec<Planned>,
    /// Every other occurrence, in order.
    pub left_out: Vec<ExcludedItem>,
    /// The request's `conversation`.
    pub conversation: Option<String>,
    /// The request's `previous_response_id`.
    pub previous_response_id: Option<String>,
}

/// An item of the next request.
#[derive(Debug, Serialize)]
pub struct Planned {
    /// The item's occurrence.
    pub occurrence: u64,
    /// Whether the item is sent as it was added.
    pub is_as_added: bool,
    /// The item to send.
    pub item: Box<RawValue>,
}

/// An occurrence that is not sent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ExcludedItem {
    /// The occurrence.
    pub occurrence: u64,
    /// `accepted`, `in_flight`, `held_id`, `held_reasoning`, `held_call`, `held_output`,
    /// `repeated`, `approval_placeholder` or `call_not_held`.
    pub reason: &'static str,
    /// The request in flight that contains it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub attempt: Option<u64>,
}

impl Plan {
    pub(super) fn from_engine(plan: engine::Plan) -> Self {
        let continuation = plan.continuation;
        Self {
            items: plan.items.iter().map(Planned::from_engine).collect(),
            left_out: plan.left_out.into_iter().map(ExcludedItem::from_engine).collect(),
            conversation: continuation.conversation_id().map(ToString::to_string),
            previous_response_id: continuation.previous_response_id().map(ToString::to_string),
        }
    }
}

impl Planned {
    fn from_engine(planned: &engine::Planned) -> Self {
        let occurrence = planned.occurrence.number();
        Self { occurrence, is_as_added: planned.is_as_added, item: raw(&planned.item) }
    }
}

impl ExcludedItem {
    fn from_engine((occurrence, reason): (Occurrence, Reason)) -> Self {
        let attempt = match reason {
            Reason::InFlight(attempt) => Some(Attempt::number(attempt)),
            _ => None,
        };
        Self { occurrence: occurrence.number(), reason: name(reason), attempt }
    }
}

fn name(reason: Reason) -> &'static str {
    match reason {
        Reason::Accepted => "accepted",
        Reason::InFlight(_) => "in_flight",
        Reason::HeldId => "held_id",
        Reason::HeldReasoning => "held_reasoning",
        Reason::HeldCall => "held_call",
        Reason::HeldOutput => "held_output",
        Reason::Repeated => "repeated",
        Reason::ApprovalPlaceholder => "approval_placeholder",
        Reason::CallNotHeld => "call_not_held",
    }
}
