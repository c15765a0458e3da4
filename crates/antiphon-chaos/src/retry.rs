//! Retries by a client that does not know the outcome of its request.

use crate::ledger::{ItemRecord, Ledger, Outcome, Target, Turn};
use crate::model::Plan;
use crate::send::Received;

/// A retry and its expected result.
pub(crate) struct Retry {
    number: u32,
    first_attempt: FirstAttempt,
}

/// The stored part of the first attempt.
enum FirstAttempt {
    /// The complete turn: its output, and the response's id if known. The retry gets the same
    /// answer.
    Whole(Vec<ItemRecord>, Option<String>),
    /// Part of a turn, at the end of the conversation. The retry replaces it.
    CutAtEnd,
    /// Nothing, or part of a turn that others have continued. The retry is a separate turn.
    Separate,
}

impl Retry {
    /// The expected result of a retry while no other client sends requests. `None` if no result is
    /// certain.
    pub(crate) fn expect(ledger: &Ledger, number: u32) -> Option<Self> {
        let turn = &ledger.turns[&number];
        if turn.plan.is_none_or(|plan| plan == Plan::Break) {
            return None;
        }
        let known = turn.response.as_ref().and_then(|id| ledger.known_responses.get(id));
        let first_attempt = match &turn.target {
            Target::Conversation(id) => {
                first_attempt_in(ledger, number, id, known.is_none_or(|known| known.is_completed))?
            }
            _ => match known.filter(|known| known.is_completed) {
                Some(known) => FirstAttempt::Whole(known.output.clone(), turn.response.clone()),
                None => FirstAttempt::Separate,
            },
        };
        Some(Self { number, first_attempt })
    }

    /// Whether the retry should get the first answer again.
    pub(crate) fn is_whole(&self) -> bool {
        matches!(self.first_attempt, FirstAttempt::Whole(..))
    }

    /// Records the outcome of the retry and returns its immediate fault. The next check finds other
    /// faults.
    pub(crate) fn record(&self, ledger: &mut Ledger, received: Received) -> Option<String> {
        let outcome = received.outcome.unwrap_or_else(|lost| Outcome::Failed(format!("{lost:?}")));
        let Outcome::Done(rows) = &outcome else {
            return Some(format!("the retry of turn {} ended with {outcome:?}", self.number));
        };
        match &self.first_attempt {
            FirstAttempt::Whole(first, response) => {
                let is_same = response.is_none() || *response == received.response;
                let fault = (rows != first || !is_same).then(|| {
                    let entry = &ledger.turns[&self.number];
                    format!("the retry got {rows:?}, not the first answer {first:?}\n  {entry:?}")
                });
                ledger.record_outcome(self.number, outcome);
                return fault;
            }
            FirstAttempt::CutAtEnd => self.truncate_conversation(ledger),
            FirstAttempt::Separate => {}
        }
        let began = ledger.tick();
        let turn = ledger.turn(self.number);
        (turn.began, turn.response) = (began, received.response);
        ledger.record_outcome(self.number, outcome);
        ledger.unsettled.insert(self.number);
        None
    }

    /// Truncates the conversation to the beginning of the first attempt.
    fn truncate_conversation(&self, ledger: &mut Ledger) {
        let conversation = ledger.turns[&self.number].conversation().map(str::to_owned);
        let rows = conversation.and_then(|id| ledger.conversations.get_mut(&id));
        let Some(rows) = rows else { return };
        let is_own = |row: &ItemRecord| row.mark.is_some_and(|mark| mark.turn == self.number);
        if let Some(from) = rows.iter().position(is_own) {
            rows.truncate(from);
        }
    }
}

/// The stored part of the first attempt in a conversation. `None` in these cases:
///
/// - The complete turn is identified by its body alone, and another turn follows: the gateway
///   treats the retry as a new turn with the same text.
/// - The whole input, outputs of calls, is stored, and others have continued it: the retry adds
///   nothing.
/// - Others may have continued it and left no visible items.
/// - The turn has a key, and others have continued its input. The input stays and only an answer is
///   added, which the writers of shared conversations check (`writers.rs`).
fn first_attempt_in(
    ledger: &Ledger,
    number: u32,
    conversation: &str,
    may_be_whole: bool,
) -> Option<FirstAttempt> {
    let turn = &ledger.turns[&number];
    let rows = &ledger.conversations[conversation];
    let is_own = |row: &ItemRecord| row.mark.is_some_and(|mark| mark.turn == number);
    let own: Vec<ItemRecord> = rows.iter().filter(|row| is_own(row)).cloned().collect();
    let is_last = rows.iter().rfind(|row| row.mark.is_some()).is_some_and(is_own);
    let is_whole = may_be_whole && own.len() == turn.items();
    let is_answer = own.iter().any(|row| row.kind.ends_with("_output"));
    match (is_whole, is_last) {
        (true, false) if !turn.is_keyed => None,
        (true, true) if !turn.is_keyed && may_have_followers(ledger, turn) => None,
        (true, _) => Some(FirstAttempt::Whole(own[turn.inputs..].to_vec(), turn.response.clone())),
        (false, true) if may_have_followers(ledger, turn) => None,
        (false, true) => Some(FirstAttempt::CutAtEnd),
        (false, false) if is_answer => None,
        (false, false) if turn.is_keyed && !own.is_empty() => None,
        (false, false) => Some(FirstAttempt::Separate),
    }
}

/// Whether a turn may have followers that are not visible in its conversation: a failed turn, which
/// is stored elsewhere, or added items, which may have been deleted.
fn may_have_followers(ledger: &Ledger, turn: &Turn) -> bool {
    let follows = |other: &Turn| {
        other.conversation() == turn.conversation()
            && other.plan.is_none_or(|plan| plan == Plan::Break)
            && other.ended.is_none_or(|ended| ended > turn.began)
    };
    ledger.turns.values().any(follows)
}
