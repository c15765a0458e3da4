//! Compares a conversation with the data that its writers received.

use std::collections::{BTreeMap, HashSet};

use super::stored_turn;
use crate::ledger::{Deletions, ItemRecord, Outcome, Turn};
use crate::model::Plan;

/// A conversation after a round.
pub(crate) struct ConversationCheck<'a> {
    /// The items at the last lookup.
    pub(crate) before: &'a [ItemRecord],
    /// The items now.
    pub(crate) now: &'a [ItemRecord],
    /// The requests of this round that target this conversation.
    pub(crate) turns: BTreeMap<u32, &'a Turn>,
    /// Whether the database server crashed. Announced turns may be lost then.
    pub(crate) crashed: bool,
    /// All requested deletions.
    pub(crate) deletions: &'a Deletions,
}

/// Adjacent items of one turn.
struct TurnItems<'a> {
    turn: u32,
    rows: &'a [ItemRecord],
}

impl ConversationCheck<'_> {
    /// All faults.
    pub(crate) fn faults(&self) -> Vec<String> {
        let mut faults = self.repetitions();
        match self.new_rows() {
            Err(fault) => faults.push(fault),
            Ok(rows) => {
                let runs = runs(rows);
                faults.extend(self.faults_of_runs(&runs));
                faults.extend(self.missing(&runs));
                faults.extend(self.disorder(&runs));
            }
        }
        faults
    }

    /// Finds duplicate items, calls with two outputs, and deleted items that still exist.
    fn repetitions(&self) -> Vec<String> {
        let mut seen = HashSet::new();
        let mut faults = Vec::new();
        for row in self.now {
            let output = row.call_id.as_ref().filter(|_| row.kind.ends_with("_output"));
            if !seen.insert(&row.id) || output.is_some_and(|call_id| !seen.insert(call_id)) {
                faults.push(format!("occurs twice: {row:?}"));
            }
            let deletion = row.mark.and_then(|mark| self.deletions.get(&mark));
            if deletion.is_some_and(|deletion| deletion.done.is_some()) {
                faults.push(format!("was deleted but still exists: {row:?}"));
            }
        }
        faults
    }

    /// The items after those of the last lookup. Those must all exist, except deleted ones.
    fn new_rows(&self) -> Result<&[ItemRecord], String> {
        let mut now = self.now;
        for row in self.before {
            match now.split_first() {
                Some((first, rest)) if first == row => now = rest,
                _ if row.mark.is_some_and(|mark| self.deletions.contains_key(&mark)) => {}
                found => {
                    let found = found.map(|(first, _)| first);
                    return Err(format!("expected {row:?}, found {found:?}"));
                }
            }
        }
        Ok(now)
    }

    fn faults_of_runs(&self, runs: &[TurnItems<'_>]) -> Vec<String> {
        let mut seen = HashSet::new();
        let mut faults = Vec::new();
        for run in runs {
            let fault = match self.turns.get(&run.turn) {
                _ if !seen.insert(run.turn) => Some("is in two places".into()),
                None => Some("was not requested here in this round".into()),
                Some(Turn { outcome: Outcome::Failed(_), .. }) => {
                    Some("failed but is stored".into())
                }
                Some(turn) => self.fault_of_run(turn, run),
            };
            faults.extend(fault.map(|fault| format!("turn {} {fault}", run.turn)));
        }
        faults
    }

    fn fault_of_run(&self, turn: &Turn, run: &TurnItems<'_>) -> Option<String> {
        let fault = stored_turn::fault(turn, run.turn, run.rows, self.deletions);
        let Outcome::Done(received) = &turn.outcome else { return fault };
        let first_received = turn.plan.map_or(0, |_| turn.inputs);
        let is_received = |row: &&ItemRecord| {
            row.mark.is_none_or(|mark| usize::from(mark.part) >= first_received)
        };
        let found: Vec<ItemRecord> = run.rows.iter().filter(is_received).cloned().collect();
        let differs = !stored_turn::equals_received(received, &found, self.deletions);
        fault.or_else(|| differs.then(|| format!("differs from the client's items: {found:?}")))
    }

    /// Finds acknowledged and announced turns that are missing.
    fn missing(&self, runs: &[TurnItems<'_>]) -> Vec<String> {
        let there: HashSet<u32> = runs.iter().map(|run| run.turn).collect();
        let is_promised = |turn: &Turn| match turn.outcome {
            Outcome::Done(_) => !self.is_all_deleted(turn),
            // A failed turn leaves the conversation unchanged, even if no client knows that it
            // failed.
            Outcome::Unknown => {
                turn.response.is_some() && turn.plan != Some(Plan::Break) && !self.crashed
            }
            Outcome::Failed(_) => false,
        };
        let missing =
            self.turns.iter().filter(|(number, turn)| is_promised(turn) && !there.contains(number));
        missing.map(|(number, _)| format!("turn {number} is missing")).collect()
    }

    /// Whether the client added only items, and all of them were deleted.
    fn is_all_deleted(&self, turn: &Turn) -> bool {
        let Outcome::Done(rows) = &turn.outcome else { return false };
        let is_deleted =
            |row: &ItemRecord| row.mark.is_some_and(|mark| self.deletions.contains_key(&mark));
        turn.plan.is_none() && rows.iter().all(is_deleted)
    }

    /// Finds turns that began after another turn's acknowledgement but are stored before it.
    fn disorder(&self, runs: &[TurnItems<'_>]) -> Vec<String> {
        let mut faults = Vec::new();
        let mut acknowledged: Option<(u64, u32)> = None;
        for run in runs.iter().rev() {
            let Some(turn) = self.turns.get(&run.turn) else { continue };
            if let Some((_, later)) = acknowledged.filter(|(ended, _)| *ended < turn.began) {
                let number = run.turn;
                faults.push(format!(
                    "turn {number} began after the end of turn {later}, but precedes it"
                ));
            }
            let ended = turn.ended.map(|ended| (ended, run.turn));
            acknowledged = acknowledged.into_iter().chain(ended).min();
        }
        faults
    }
}

/// Groups adjacent items by turn. An item without a mark belongs to the turn of the item before it.
fn runs(rows: &[ItemRecord]) -> Vec<TurnItems<'_>> {
    let mut turn = None;
    let turn_of = |row: &ItemRecord| {
        turn = row.mark.map(|mark| mark.turn).or(turn);
        turn
    };
    let turns: Vec<Option<u32>> = rows.iter().map(turn_of).collect();
    let mut runs = Vec::new();
    let mut from = 0;
    for chunk in turns.chunk_by(|one, next| one == next) {
        let to = from + chunk.len();
        runs.push(TurnItems { turn: chunk[0].unwrap_or(u32::MAX), rows: &rows[from..to] });
        from = to;
    }
    runs
}
