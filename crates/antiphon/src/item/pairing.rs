//! What joins a call and its output.

use super::{CallId, Head, Kind};

/// The key under which a call and its output find each other. Kinds are kept apart: a custom tool's
/// output never answers a function's call.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct CallKey {
    /// The kind of the call.
    pub kind: Kind,
    /// The id that call and output share. Not unique: some servers restart it every turn.
    pub call_id: CallId,
}

/// Which half of a pair an item is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// It asks.
    Call,
    /// It answers.
    Output,
}

impl Head {
    /// The half that the item is and the key of its pair; `None` for items that do not pair.
    pub fn pairing(&self) -> Option<(Side, CallKey)> {
        let call_id = self.call_id.clone()?;
        if self.kind.output().is_some() {
            return Some((
                Side::Call,
                CallKey {
                    kind: self.kind.clone(),
                    call_id,
                },
            ));
        }
        self.kind
            .call()
            .map(|kind| (Side::Output, CallKey { kind, call_id }))
    }
}
