//! The decisions of a turn at a server that keeps its state.

use crate::faults::StateError;

/// The course of a turn up to its answer. It does no I/O and has no items: it decides the next
/// action after each plan and after each rejection. A client and the gateway drive the same course.
///
/// ```text
///       .------------ the first state error, or a locked conversation ------------.
///       v                                                                         |
///   Recorded ── Sync ──> Listed ── Delete or Detour ──> Cleared ── Send ──> the server ──> answer
///       '----------- Delete, Detour or Send ---------------^                      '──> GiveUp
/// ```
///
/// A turn is sent at most twice, except for repetitions after a locked conversation.
#[derive(Debug, Default)]
pub struct Course {
    items: Items,
    blocking: Blocking,
    /// The first state error.
    fault: Option<StateError>,
}

/// The source of the server's known items.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Items {
    /// The record of earlier turns.
    #[default]
    Recorded,
    /// A list of the server during this turn.
    Listed,
}

/// The blocking items of the server.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Blocking {
    /// They are there, if there are any.
    #[default]
    Present,
    /// The turn has deleted or avoided them, or tried to.
    Cleared,
}

/// The properties of a plan that decide the next action.
#[derive(Clone, Copy, Debug)]
pub struct PlanSummary {
    /// Whether the server may have items that its record lacks.
    pub lacks_items: bool,
    /// The way to remove the blocking items.
    pub removal: Removal,
    /// Whether it is a request that the server may accept although it rejected the one before.
    pub is_new_request: bool,
}

/// A way to remove blocking items.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Removal {
    /// There are none, or they cannot be removed.
    None,
    /// Their deletion. They may lack the ids that the server issued.
    Deletion {
        /// Whether the ids are known.
        has_ids: bool,
    },
    /// A detour, because items of a response cannot be deleted.
    Detour,
}

/// The next action after a plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decision {
    /// List the server's items, and plan again.
    Sync,
    /// Delete the blocking items, and plan again.
    Delete,
    /// Search a detour, and plan again.
    Detour,
    /// Send the request.
    Send,
    /// Return the server's last error: there is no other request to send.
    GiveUp,
}

/// The next action after a rejection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Recovery {
    /// Another turn of the conversation is open: wait, then [`restart`](Course::restart).
    Wait,
    /// The server has lost the response: plan without it, if its whole content is known.
    Replay,
    /// Plan again.
    Plan,
    /// List the server's items, and plan again.
    Sync,
    /// Return the server's error.
    GiveUp,
}

impl Course {
    /// Records that the server listed its items.
    pub fn record_sync(&mut self) {
        self.items = Items::Listed;
    }

    /// Whether the server listed its items during this turn.
    pub fn is_synced(&self) -> bool {
        self.items == Items::Listed
    }

    /// Whether blocking items may still be deleted or avoided.
    pub fn may_clear(&self) -> bool {
        self.blocking == Blocking::Present
    }

    /// The first state error of the turn.
    pub fn fault(&self) -> Option<&StateError> {
        self.fault.as_ref()
    }

    /// Decides the next action after a plan.
    pub fn decide(&mut self, plan: PlanSummary) -> Decision {
        let (is_recorded, is_blocked) =
            (self.items == Items::Recorded, self.blocking == Blocking::Present);
        let removal = match plan.removal {
            _ if !is_blocked => None,
            _ if is_recorded && plan.lacks_items => return Decision::Sync,
            Removal::Deletion { has_ids: false } if is_recorded => return Decision::Sync,
            Removal::Deletion { has_ids } => has_ids.then_some(Decision::Delete),
            Removal::Detour => Some(Decision::Detour),
            Removal::None => None,
        };
        match removal {
            Some(removal) => {
                self.blocking = Blocking::Cleared;
                removal
            }
            None if self.fault.is_some() && !plan.is_new_request => Decision::GiveUp,
            None => Decision::Send,
        }
    }

    /// Decides the next action after a rejection with this state error, if it is one.
    pub fn reject(&mut self, error: Option<StateError>) -> Recovery {
        match error {
            Some(StateError::Locked) => Recovery::Wait,
            Some(error) if self.fault.is_none() => {
                let recovery = match &error {
                    StateError::UnknownResponse => Recovery::Replay,
                    // The server has just listed its items, so only the missing one is left out.
                    StateError::UnknownItem(_) if self.is_synced() => Recovery::Plan,
                    _ => {
                        self.restart();
                        Recovery::Sync
                    }
                };
                self.fault = Some(error);
                recovery
            }
            _ => Recovery::GiveUp,
        }
    }

    /// Starts again, because another turn may have changed the server's items.
    pub fn restart(&mut self) {
        (self.items, self.blocking) = (Items::Recorded, Blocking::Present);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SENDABLE: PlanSummary =
        PlanSummary { lacks_items: false, removal: Removal::None, is_new_request: true };

    fn unanswered_call() -> StateError {
        StateError::UnansweredCall("call_1".into())
    }

    #[test]
    fn second_state_error_ends_the_turn() {
        let mut course = Course::default();
        assert_eq!(course.decide(SENDABLE), Decision::Send);
        assert_eq!(course.reject(Some(unanswered_call())), Recovery::Sync);
        course.record_sync();
        assert_eq!(course.decide(SENDABLE), Decision::Send);
        assert_eq!(course.reject(Some(unanswered_call())), Recovery::GiveUp);
    }

    #[test]
    fn rejected_request_is_not_sent_again() {
        let mut course = Course::default();
        course.reject(Some(unanswered_call()));
        let same = PlanSummary { is_new_request: false, ..SENDABLE };
        assert_eq!(course.decide(same), Decision::GiveUp);
    }

    #[test]
    fn blocking_items_are_listed_before_their_deletion() {
        let mut course = Course::default();
        let deletion = |has_ids| PlanSummary { removal: Removal::Deletion { has_ids }, ..SENDABLE };
        assert_eq!(course.decide(deletion(false)), Decision::Sync);
        course.record_sync();
        assert_eq!(course.decide(deletion(true)), Decision::Delete);
        assert_eq!(course.decide(deletion(true)), Decision::Send, "they were not deleted");
    }

    #[test]
    fn locked_conversation_does_not_count_as_state_error() {
        let mut course = Course::default();
        assert_eq!(course.reject(Some(StateError::Locked)), Recovery::Wait);
        course.restart();
        assert_eq!(course.reject(Some(unanswered_call())), Recovery::Sync);
    }
}
