//! The next request's share of the conversation.

use antiphon::tracker::{self as engine, Attempt, Occurrence, Reason};
use serde::Serialize;
use serde_json::value::RawValue;

use crate::mended::raw;

/// What the next request contains, and of everything else why not.
#[derive(Debug, Serialize)]
pub struct Plan {
    /// What goes, in the order in which it was added.
    pub items: Vec<Planned>,
    /// Every other occurrence, in order.
    pub left_out: Vec<LeftOut>,
    /// What the request carries as `conversation`.
    pub conversation: Option<String>,
    /// What the request carries as `previous_response_id`.
    pub previous_response_id: Option<String>,
}

/// An item of the next request.
#[derive(Debug, Serialize)]
pub struct Planned {
    /// Where it comes from.
    pub occurrence: u64,
    /// Whether it goes as it was added.
    pub is_as_added: bool,
    /// As it goes.
    pub item: Box<RawValue>,
}

/// An occurrence that does not go.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LeftOut {
    /// Which.
    pub occurrence: u64,
    /// `accepted`, `in_flight`, `held_id`, `held_reasoning`, `held_call`, `held_output`, `repeated`,
    /// `approval_placeholder` or `call_not_held`.
    pub reason: &'static str,
    /// The request that it is in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub attempt: Option<u64>,
}

impl Plan {
    pub(super) fn of(plan: engine::Plan) -> Self {
        let continuation = plan.continuation;
        Self {
            items: plan.items.iter().map(Planned::of).collect(),
            left_out: plan.left_out.into_iter().map(LeftOut::of).collect(),
            conversation: continuation.conversation_id().map(ToString::to_string),
            previous_response_id: continuation.previous_response_id().map(ToString::to_string),
        }
    }
}

impl Planned {
    fn of(planned: &engine::Planned) -> Self {
        let occurrence = planned.occurrence.number();
        Self { occurrence, is_as_added: planned.is_as_added, item: raw(&planned.item) }
    }
}

impl LeftOut {
    fn of((occurrence, reason): (Occurrence, Reason)) -> Self {
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
