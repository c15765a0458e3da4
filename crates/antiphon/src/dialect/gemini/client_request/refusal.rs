//! Faults of calls, in the words of Google's server.

use crate::faults::{Fault, Refusal};

/// Source: errors of `generateContent` in the reports of its users.
const UNEQUAL: &str = "Please ensure that the number of function response parts is equal to the \
                       number of function call parts of the function call turn.";
const MISPLACED: &str = "Please ensure that function response turn comes immediately after a \
                         function call turn.";

/// Rewrites an error about an item of the decoded request. Google's errors name no place.
pub(in crate::dialect) fn reword(refusal: Refusal) -> Refusal {
    let message = match &*refusal.fault {
        Fault::UnansweredCall { .. } | Fault::DuplicateOutput { .. } => UNEQUAL,
        Fault::OutputWithoutCall { .. } => MISPLACED,
        _ => return refusal,
    };
    let param = Some("contents".to_owned());
    Refusal { status: 400, code: None, param, message: message.to_owned(), ..refusal }
}
