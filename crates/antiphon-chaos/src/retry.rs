//! A request that is made again, with the same body, by a client that was told no end of it.

use crate::ask::Heard;
use crate::ledger::{Ledger, Place, Row, Told, Turn};
use crate::model::Plan;

/// What is to become of a request that is made again.
pub(crate) struct Retry {
    number: u32,
    was: Was,
}

/// What the first attempt left where it is to be found.
enum Was {
    /// A whole turn: its output, and the response's id where that is known. This is given again.
    Whole(Vec<Row>, Option<String>),
    /// Part of a turn, at the end of the conversation: the next attempt takes its place.
    CutLast,
    /// Nothing, or part of a turn on which others have built: the next attempt is a turn of its own.
    Apart,
}

impl Retry {
    /// What to expect of a request that is made again when nobody else asks anything. `None` where
    /// nothing certain is.
    pub(crate) fn of(ledger: &Ledger, number: u32) -> Option<Self> {
        let turn = &ledger.turns[&number];
        if turn.plan.is_none_or(|plan| plan == Plan::Break) {
            return None;
        }
        let kept = turn.response.as_ref().and_then(|id| ledger.kept.get(id));
        let was = match &turn.place {
            Place::Conversation(id) => {
                was_in(ledger, number, id, kept.is_none_or(|kept| kept.is_completed))?
            }
            _ => match kept.filter(|kept| kept.is_completed) {
                Some(kept) => Was::Whole(kept.output.clone(), turn.response.clone()),
                None => Was::Apart,
            },
        };
        Some(Self { number, was })
    }

    /// Whether the first answer is to be given again.
    pub(crate) fn is_whole(&self) -> bool {
        matches!(self.was, Was::Whole(..))
    }

    /// Enters what was heard; gives what is wrong with it at once. What else is, is found when all is
    /// looked at.
    pub(crate) fn heard(&self, ledger: &mut Ledger, heard: Heard) -> Option<String> {
        let told = heard.told.unwrap_or_else(|lost| Told::Failed(format!("{lost:?}")));
        let Told::Done(rows) = &told else {
            return Some(format!("made again, turn {} ended so: {told:?}", self.number));
        };
        match &self.was {
            Was::Whole(first, response) => {
                let is_same = response.is_none() || *response == heard.response;
                let fault = (rows != first || !is_same).then(|| {
                    let entry = &ledger.turns[&self.number];
                    format!("answered with {rows:?}, not again with {first:?}\n  {entry:?}")
                });
                ledger.told(self.number, told);
                return fault;
            }
            Was::CutLast => self.take_back(ledger),
            Was::Apart => {}
        }
        let began = ledger.tick();
        let turn = ledger.turn(self.number);
        (turn.began, turn.response) = (began, heard.response);
        ledger.told(self.number, told);
        ledger.unsettled.insert(self.number);
        None
    }

    /// The conversation returns to where the first attempt began.
    fn take_back(&self, ledger: &mut Ledger) {
        let conversation = ledger.turns[&self.number].conversation().map(str::to_owned);
        let rows = conversation.and_then(|id| ledger.conversations.get_mut(&id));
        let Some(rows) = rows else { return };
        let is_own = |row: &Row| row.mark.is_some_and(|mark| mark.turn == self.number);
        if let Some(from) = rows.iter().position(is_own) {
            rows.truncate(from);
        }
    }
}

/// What the first attempt left in a conversation. `None` where
///
/// - it is whole and known by its body alone, and another turn has followed: the gateway takes the
///   next attempt for a turn that says the same;
/// - all of its input, outputs of calls, is held, and others have built on it: of the next attempt
///   nothing is new;
/// - others may have built on it and left nothing there to see;
/// - it has a key, and others have built on its input: that stays, and only an answer is added, which
///   the writers of shared conversations check (`writers.rs`).
fn was_in(ledger: &Ledger, number: u32, conversation: &str, may_be_whole: bool) -> Option<Was> {
    let turn = &ledger.turns[&number];
    let rows = &ledger.conversations[conversation];
    let is_own = |row: &Row| row.mark.is_some_and(|mark| mark.turn == number);
    let own: Vec<Row> = rows.iter().filter(|row| is_own(row)).cloned().collect();
    let is_last = rows.iter().rfind(|row| row.mark.is_some()).is_some_and(is_own);
    let is_whole = may_be_whole && own.len() == turn.items();
    let is_answer = own.iter().any(|row| row.kind.ends_with("_output"));
    match (is_whole, is_last) {
        (true, false) if !turn.is_keyed => None,
        (true, true) if !turn.is_keyed && is_built_on(ledger, turn) => None,
        (true, _) => Some(Was::Whole(own[turn.inputs..].to_vec(), turn.response.clone())),
        (false, true) if is_built_on(ledger, turn) => None,
        (false, true) => Some(Was::CutLast),
        (false, false) if is_answer => None,
        (false, false) if turn.is_keyed && !own.is_empty() => None,
        (false, false) => Some(Was::Apart),
    }
}

/// Whether something may have followed a turn in its conversation that is not to be seen there: a
/// turn that failed, which is kept apart, or added items, which may have been deleted.
fn is_built_on(ledger: &Ledger, turn: &Turn) -> bool {
    let follows = |other: &Turn| {
        other.conversation() == turn.conversation()
            && other.plan.is_none_or(|plan| plan == Plan::Break)
            && other.ended.is_none_or(|ended| ended > turn.began)
    };
    ledger.turns.values().any(follows)
}
