//! Which calls of a run were carried out: a call has its effect once.

use std::collections::HashMap;

use crate::item::{CallKey, Exchanges, Item, Joined, Kind, Side};

/// The calls of one run, each with what became of it.
///
/// ```text
/// begin              commit
/// -----> Running ------------> Committed
///           '---- abandon: as if it had never begun
/// ```
#[derive(Clone, Debug, Default)]
pub struct CallLedger {
    calls: HashMap<CallKey, Call>,
}

#[derive(Clone, Debug)]
struct Call {
    asked: Item,
    /// `None` while it runs.
    output: Option<Item>,
}

/// What to do with a call.
#[derive(Clone, Debug, PartialEq)]
pub enum Begun {
    /// Carry it out, then commit or abandon it.
    Run,
    /// It is being carried out: the same call was announced twice, perhaps under two item ids.
    Running,
    /// It was carried out: this is its output.
    Replayed(Item),
}

/// Why a call must not be carried out, or its output not be taken. Nothing changed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CallError {
    /// The item is no call that its caller answers.
    #[error("{0} is no call to carry out")]
    NotACall(Kind),
    /// The call's `call_id` is missing or empty: no output could find it.
    #[error("{0} without a call_id")]
    EmptyCallId(Kind),
    /// Another call went by the same `call_id`.
    #[error("{} '{}' was made before and asked for something else", .0.kind, .0.call_id)]
    ChangedPayload(CallKey),
    /// The call was not begun, or was committed before.
    #[error("{} '{}' is not running", .0.kind, .0.call_id)]
    NotRunning(CallKey),
    /// The output does not name the call that it is said to answer.
    #[error("the output does not answer {} '{}'", .0.kind, .0.call_id)]
    ForeignOutput(CallKey),
}

impl CallLedger {
    /// The ledger of what `history` shows as carried out.
    pub fn of(history: &[Item]) -> Self {
        let (mut ledger, mut exchanges) = (Self::default(), Exchanges::default());
        for (position, item) in history.iter().enumerate() {
            let joined = exchanges.push(position, item.head());
            let (Some(Joined::Answers(asked)), Some((_, key))) = (joined, item.head().pairing())
            else {
                continue;
            };
            let call = Call { asked: history[asked].clone(), output: Some(item.clone()) };
            ledger.calls.insert(key, call);
        }
        ledger
    }

    /// What to do with `call`, to be asked before anything is done for it.
    ///
    /// Ids and status do not count, arguments count as the JSON that they hold.
    pub fn begin(&mut self, call: &Item) -> Result<Begun, CallError> {
        let key = key_of(call)?;
        let Some(earlier) = self.calls.get(&key) else {
            self.calls.insert(key, Call { asked: call.clone(), output: None });
            return Ok(Begun::Run);
        };
        if !call.says_the_same_as(&earlier.asked) {
            return Err(CallError::ChangedPayload(key));
        }
        Ok(earlier.output.clone().map_or(Begun::Running, Begun::Replayed))
    }

    /// The call was carried out. Its output has to name it: an anonymous output answers no call.
    pub fn commit(&mut self, call: &Item, output: Item) -> Result<(), CallError> {
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

    /// The call was not carried out and had no effect: it may begin again.
    pub fn abandon(&mut self, call: &Item) -> Result<(), CallError> {
        let key = key_of(call)?;
        match self.calls.get(&key) {
            Some(running) if running.output.is_none() => {
                self.calls.remove(&key);
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
