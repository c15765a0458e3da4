//! A conversation as it is found, held against what its writers were told.

use std::collections::{BTreeMap, HashSet};

use super::shape;
use crate::ledger::{Deletions, Row, Told, Turn};
use crate::model::Plan;

/// A conversation after a round.
pub(crate) struct Found<'a> {
    /// Its items at the last look.
    pub(crate) before: &'a [Row],
    /// Its items now.
    pub(crate) now: &'a [Row],
    /// The requests of this round that were to add to it.
    pub(crate) turns: BTreeMap<u32, &'a Turn>,
    /// Whether the store's server crashed, which what is only announced need not survive.
    pub(crate) crashed: bool,
    /// What was asked to be deleted anywhere.
    pub(crate) deletions: &'a Deletions,
}

/// The items of one turn, where they stand.
struct Run<'a> {
    turn: u32,
    rows: &'a [Row],
}

impl Found<'_> {
    /// Everything that is wrong.
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

    /// No item twice, no call answered twice, nothing that was deleted.
    fn repetitions(&self) -> Vec<String> {
        let mut seen = HashSet::new();
        let mut faults = Vec::new();
        for row in self.now {
            let output = row.call_id.as_ref().filter(|_| row.kind.ends_with("_output"));
            if !seen.insert(&row.id) || output.is_some_and(|call_id| !seen.insert(call_id)) {
                faults.push(format!("stands there twice: {row:?}"));
            }
            let deletion = row.mark.and_then(|mark| self.deletions.get(&mark));
            if deletion.is_some_and(|deletion| deletion.done.is_some()) {
                faults.push(format!("was deleted and is there: {row:?}"));
            }
        }
        faults
    }

    /// What stands behind the items of the last look, which are all there, but for deleted ones.
    fn new_rows(&self) -> Result<&[Row], String> {
        let mut now = self.now;
        for row in self.before {
            match now.split_first() {
                Some((first, rest)) if first == row => now = rest,
                _ if row.mark.is_some_and(|mark| self.deletions.contains_key(&mark)) => {}
                found => {
                    let found = found.map(|(first, _)| first);
                    return Err(format!("in the place of {row:?} there is {found:?}"));
                }
            }
        }
        Ok(now)
    }

    fn faults_of_runs(&self, runs: &[Run<'_>]) -> Vec<String> {
        let mut seen = HashSet::new();
        let mut faults = Vec::new();
        for run in runs {
            let fault = match self.turns.get(&run.turn) {
                _ if !seen.insert(run.turn) => Some("is in two places".into()),
                None => Some("was not asked for here, or not now".into()),
                Some(Turn { told: Told::Failed(_), .. }) => Some("failed and is there".into()),
                Some(turn) => self.fault_of_run(turn, run),
            };
            faults.extend(fault.map(|fault| format!("turn {} {fault}", run.turn)));
        }
        faults
    }

    fn fault_of_run(&self, turn: &Turn, run: &Run<'_>) -> Option<String> {
        let fault = shape::fault(turn, run.turn, run.rows, self.deletions);
        let Told::Done(told) = &turn.told else { return fault };
        let told_from = turn.plan.map_or(0, |_| turn.inputs);
        let is_told = |row: &&Row| row.mark.is_none_or(|mark| usize::from(mark.part) >= told_from);
        let found: Vec<Row> = run.rows.iter().filter(is_told).cloned().collect();
        let differs = !shape::is_as_told(told, &found, self.deletions);
        fault.or_else(|| differs.then(|| format!("is not as told: {found:?}")))
    }

    /// What was acknowledged is there; what was announced is, too.
    fn missing(&self, runs: &[Run<'_>]) -> Vec<String> {
        let there: HashSet<u32> = runs.iter().map(|run| run.turn).collect();
        let is_promised = |turn: &Turn| match turn.told {
            Told::Done(_) => !self.is_all_deleted(turn),
            // One that failed, which nobody was told, left the conversation as it was.
            Told::Nothing => {
                turn.response.is_some() && turn.plan != Some(Plan::Break) && !self.crashed
            }
            Told::Failed(_) => false,
        };
        let missing =
            self.turns.iter().filter(|(number, turn)| is_promised(turn) && !there.contains(number));
        missing.map(|(number, _)| format!("turn {number} is missing")).collect()
    }

    /// Whether nothing may be left of what a client added.
    fn is_all_deleted(&self, turn: &Turn) -> bool {
        let Told::Done(rows) = &turn.told else { return false };
        let is_deleted =
            |row: &Row| row.mark.is_some_and(|mark| self.deletions.contains_key(&mark));
        turn.plan.is_none() && rows.iter().all(is_deleted)
    }

    /// A turn that began behind another's acknowledgement stands behind it.
    fn disorder(&self, runs: &[Run<'_>]) -> Vec<String> {
        let mut faults = Vec::new();
        let mut acknowledged: Option<(u64, u32)> = None;
        for run in runs.iter().rev() {
            let Some(turn) = self.turns.get(&run.turn) else { continue };
            if let Some((_, later)) = acknowledged.filter(|(ended, _)| *ended < turn.began) {
                let number = run.turn;
                faults.push(format!(
                    "turn {number} began behind the end of turn {later}, and stands before"
                ));
            }
            let ended = turn.ended.map(|ended| (ended, run.turn));
            acknowledged = acknowledged.into_iter().chain(ended).min();
        }
        faults
    }
}

/// Neighbours of one turn. What has no mark belongs to the item before it.
fn runs(rows: &[Row]) -> Vec<Run<'_>> {
    let mut turn = None;
    let turn_of = |row: &Row| {
        turn = row.mark.map(|mark| mark.turn).or(turn);
        turn
    };
    let turns: Vec<Option<u32>> = rows.iter().map(turn_of).collect();
    let mut runs = Vec::new();
    let mut from = 0;
    for chunk in turns.chunk_by(|one, next| one == next) {
        let to = from + chunk.len();
        runs.push(Run { turn: chunk[0].unwrap_or(u32::MAX), rows: &rows[from..to] });
        from = to;
    }
    runs
}
