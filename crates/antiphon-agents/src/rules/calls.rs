//! Records the executed calls of a run, so that each call has its effect once.

use std::collections::HashMap;

use antiphon::item::{CallKey, Exchanges, Item, Kind, PairRole, Side};

/// The calls of one run, each with its state.
///
/// ```text
/// begin             commit
/// -----> Running -----------> Committed
/// ```
#[derive(Clone, Debug, Default)]
pub(crate) struct CallLedger {
    calls: HashMap<CallKey, Call>,
}

#[derive(Clone, Debug)]
struct Call {
    asked: Item,
    /// `None` while it runs.
    output: Option<Item>,
}

/// The action for a call.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum CallAction {
    /// Execute it, then commit its output.
    Run,
    /// It is running: the same call was announced twice, perhaps under two item ids.
    Running,
    /// It was executed before; this is its output.
    Replayed(Item),
}

/// The reason to reject a call or its output. The ledger is unchanged.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub(crate) enum CallError {
    /// The item is not a call that its caller answers.
    #[error("{0} is not a call to run")]
    NotACall(Kind),
    /// The call's `call_id` is missing or empty, so no output can refer to it.
    #[error("{0} without a call_id")]
    EmptyCallId(Kind),
    /// Another call had the same `call_id`.
    #[error("{} '{}' was made before with another payload", .0.kind, .0.call_id)]
    ChangedPayload(CallKey),
    /// The call was not started, or was committed before.
    #[error("{} '{}' is not running", .0.kind, .0.call_id)]
    NotRunning(CallKey),
    /// The output does not have the `call_id` of the call that it was committed for.
    #[error("the output does not answer {} '{}'", .0.kind, .0.call_id)]
    ForeignOutput(CallKey),
}

impl CallLedger {
    /// Creates a ledger with the calls of `history` that have an output.
    pub(crate) fn from_history(history: &[Item]) -> Self {
        let (mut ledger, mut exchanges) = (Self::default(), Exchanges::default());
        for (position, item) in history.iter().enumerate() {
            let joined = exchanges.push(position, item.head());
            let (Some(PairRole::Output(asked)), Some((_, key))) = (joined, item.head().pairing())
            else {
                continue;
            };
            let call = Call { asked: history[asked].clone(), output: Some(item.clone()) };
            ledger.calls.insert(key, call);
        }
        ledger
    }

    /// Returns the action for `call`. Call this before the call has any effect.
    ///
    /// Two calls are the same regardless of their item ids and status; their arguments are compared
    /// as JSON.
    pub(crate) fn begin(&mut self, call: &Item) -> Result<CallAction, CallError> {
        let key = key_of(call)?;
        let Some(earlier) = self.calls.get(&key) else {
            self.calls.insert(key, Call { asked: call.clone(), output: None });
            return Ok(CallAction::Run);
        };
        if !call.has_same_content(&earlier.asked) {
            return Err(CallError::ChangedPayload(key));
        }
        Ok(earlier.output.clone().map_or(CallAction::Running, CallAction::Replayed))
    }

    /// Records the output of an executed call. The output needs the `call_id` of the call.
    pub(crate) fn commit(&mut self, call: &Item, output: Item) -> Result<(), CallError> {
        let key = key_of(call)?;
        if output.head().pairing() != Some((Side::Output, key.clone())) {
            return Err(CallError::ForeignOutput(key));
        }
        match self.calls.get_mut(&key) {
            Some(running) if running.output.is_none() => {
                running.output = Some(output);
                Ok(())
            }
            _ => Err(CallError::NotRunning(key)),
        }
    }
}

fn key_of(call: &Item) -> Result<CallKey, CallError> {
    let kind = || call.head().kind.clone();
    if kind().output().is_none() {
        return Err(CallError::NotACall(kind()));
    }
    match call.head().pairing() {
        Some((_, key)) if !key.call_id.as_str().is_empty() => Ok(key),
        _ => Err(CallError::EmptyCallId(kind())),
    }
}
