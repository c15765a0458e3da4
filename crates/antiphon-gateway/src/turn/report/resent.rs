//! The resent items of a turn, in a form that a store can keep for each turn of a long
//! conversation.
//!
//! A client that resends its history resends all of it in each turn. If each report named all of
//! these items, the reports of a conversation would grow with the square of its length. So a report
//! has runs of items that are neighbours in the input and in the transcript. A reader gets the
//! items, with their types and ids, from the transcript.

use antiphon::HeldItem;
use antiphon::json::Object;
use antiphon::reconcile::{Admission, Rule, SAME_REQUEST};
use antiphon::stateful;
use antiphon_store::Seq;
use bytes::Bytes;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// The field of a report.
const FIELD: &str = "resent";

/// The resent items of a turn.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub(super) enum ResentItems {
    /// In the transcript of the turn.
    Runs(Vec<ResentRun>),
    /// In a transcript that the store may lack.
    Named(Vec<stateful::ResentItem>),
}

/// Resent items that are neighbours in the input and in the transcript.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct ResentRun {
    /// The position of the first in the input.
    position: usize,
    /// The position of the first in the transcript.
    stored: Seq,
    /// A letter of [`RULES`] for each: the rule that matched the stored item. It is a capital
    /// letter if the contents differ. A number after it says how often it is repeated.
    rules: String,
}

/// One item of a run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct ResentPlace {
    /// The position in the input.
    pub(crate) position: usize,
    /// The position in the transcript.
    pub(crate) stored: Seq,
    /// The name of the rule that matched the stored item.
    pub(crate) rule: &'static str,
    /// Whether the content differs from the stored item.
    pub(crate) differs: bool,
}

/// The rules by letter.
const RULES: [(u8, &str); 5] = [
    (b'i', Rule::SameId.name()),
    (b'c', Rule::SameCall.name()),
    (b'n', Rule::SameInstructions.name()),
    (b'p', Rule::Replayed.name()),
    (b'q', SAME_REQUEST),
];

impl ResentItems {
    /// The items of an input that the transcript has.
    pub(super) fn from_admission(admission: &Admission) -> Self {
        let mut runs = Runs::default();
        for (position, treatment) in admission.treatments.iter().enumerate() {
            if let Some((held, rule, differs)) = treatment.stored_item() {
                runs.add(ResentPlace { position, stored: held as Seq, rule, differs });
            }
        }
        Self::Runs(runs.finish())
    }

    /// The number of items.
    pub(super) fn len(&self) -> usize {
        match self {
            Self::Runs(runs) => runs.iter().map(ResentRun::len).sum(),
            Self::Named(items) => items.len(),
        }
    }

    /// Whether no item was resent.
    pub(super) fn is_empty(&self) -> bool {
        match self {
            Self::Runs(runs) => runs.is_empty(),
            Self::Named(items) => items.is_empty(),
        }
    }
}

/// Builds runs.
#[derive(Default)]
struct Runs {
    runs: Vec<ResentRun>,
    /// The last item, and how often its letter is repeated.
    last: Option<(ResentPlace, usize)>,
}

impl Runs {
    fn add(&mut self, place: ResentPlace) {
        match &mut self.last {
            Some((last, count)) if last.precedes(&place) => {
                if (last.rule, last.differs) == (place.rule, place.differs) {
                    *count += 1;
                    *last = place;
                    return;
                }
                self.end_letter();
            }
            _ => {
                self.end_letter();
                let (position, stored) = (place.position, place.stored);
                self.runs.push(ResentRun { position, stored, rules: String::new() });
            }
        }
        self.last = Some((place, 1));
    }

    /// Writes the letter of the last items.
    fn end_letter(&mut self) {
        let (Some((place, count)), Some(run)) = (self.last.take(), self.runs.last_mut()) else {
            return;
        };
        run.rules.push(place.letter());
        if count > 1 {
            run.rules.push_str(&count.to_string());
        }
    }

    fn finish(mut self) -> Vec<ResentRun> {
        self.end_letter();
        self.runs
    }
}

impl ResentPlace {
    /// Whether the next item is its neighbour in the input and in the transcript.
    fn precedes(&self, next: &Self) -> bool {
        (next.position, next.stored) == (self.position + 1, self.stored + 1)
    }

    fn letter(&self) -> char {
        let found = RULES.iter().find(|(_, name)| *name == self.rule);
        let letter = char::from(found.map_or(b'q', |(letter, _)| *letter));
        if self.differs { letter.to_ascii_uppercase() } else { letter }
    }
}

impl ResentRun {
    /// The number of items.
    fn len(&self) -> usize {
        self.letters().map(|(.., count)| count).sum()
    }

    /// The items of the run.
    pub(crate) fn places(&self) -> impl Iterator<Item = ResentPlace> {
        let items = self
            .letters()
            .flat_map(|(rule, differs, count)| std::iter::repeat_n((rule, differs), count));
        let places = (self.position..).zip(self.stored..).zip(items);
        places.map(|((position, stored), (rule, differs))| ResentPlace {
            position,
            stored,
            rule,
            differs,
        })
    }

    /// The rule of each letter, whether contents differ, and the number of items. Stops at a letter
    /// that is no rule.
    fn letters(&self) -> impl Iterator<Item = (&'static str, bool, usize)> {
        let mut rest = self.rules.as_str();
        std::iter::from_fn(move || {
            let mut chars = rest.chars();
            let letter = chars.next()?;
            let after = chars.as_str();
            let digits = after.len() - after.trim_start_matches(|c: char| c.is_ascii_digit()).len();
            rest = &after[digits..];
            let lower = letter.to_ascii_lowercase();
            let (_, rule) = RULES.iter().find(|(known, _)| char::from(*known) == lower)?;
            let count = after[..digits].parse().unwrap_or(1).min(MAX_ITEMS);
            Some((*rule, letter.is_ascii_uppercase(), count))
        })
    }
}

/// More items than a request has. A damaged report cannot make a reader allocate without bound.
const MAX_ITEMS: usize = 1 << 20;

/// The runs in the report of a turn. None if it names its resent items.
pub(crate) fn resent_runs(report: &[u8]) -> Vec<ResentRun> {
    let runs = |fields: Object| serde_json::from_str(fields.present(FIELD)?).ok();
    Object::parse(report).ok().and_then(runs).unwrap_or_default()
}

/// The report for callers: with the items of these runs in place of the runs. `items` is the
/// transcript.
pub(crate) fn name_resent_items(report: &Bytes, runs: &[ResentRun], items: &[HeldItem]) -> Bytes {
    let Ok(mut fields) = Object::parse(report) else { return report.clone() };
    let places = runs.iter().flat_map(ResentRun::places).take(MAX_ITEMS);
    let named: Vec<Value> = places
        .map(|place| {
            let held = usize::try_from(place.stored).ok().and_then(|at| items.get(at));
            json!({
                "position": place.position,
                "type": held.map(|held| held.head.kind.as_str()),
                "item_id": held.map(|held| held.id.as_str()),
                "rule": place.rule,
                "differs": place.differs,
            })
        })
        .collect();
    fields.set(FIELD, Value::from(named).to_string());
    fields.to_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(position: usize, stored: Seq, rule: Rule, differs: bool) -> ResentPlace {
        ResentPlace { position, stored, rule: rule.name(), differs }
    }

    fn runs_of(places: &[ResentPlace]) -> Vec<ResentRun> {
        let mut runs = Runs::default();
        for place in places {
            runs.add(*place);
        }
        runs.finish()
    }

    #[test]
    fn neighbours_are_one_run() {
        let places = [
            place(0, 0, Rule::Replayed, false),
            place(1, 1, Rule::SameId, false),
            place(2, 2, Rule::SameId, false),
            place(3, 3, Rule::SameCall, true),
            place(4, 5, Rule::SameCall, true),
            place(6, 6, Rule::SameCall, true),
        ];
        let runs = runs_of(&places);

        let rules: Vec<_> = runs.iter().map(|run| run.rules.as_str()).collect();
        assert_eq!(rules, ["pi2C", "C", "C"]);
        let read: Vec<_> = runs.iter().flat_map(ResentRun::places).collect();
        assert_eq!(read, places);
    }

    #[test]
    fn uniform_replay_has_the_same_size_at_any_length() {
        let places: Vec<_> =
            (0..100_000).map(|at| place(at, at as Seq, Rule::SameId, false)).collect();
        let runs = runs_of(&places);
        assert_eq!(
            serde_json::to_string(&runs).unwrap(),
            r#"[{"position":0,"stored":0,"rules":"i100000"}]"#
        );
        assert_eq!(ResentItems::Runs(runs).len(), 100_000);
    }

    #[test]
    fn damaged_runs_are_bounded() {
        let run = |rules: &str| ResentRun { position: 0, stored: 0, rules: rules.into() };
        assert_eq!(run("i99999999999999999999999").places().count(), 1);
        assert_eq!(run("i4000000000").places().count(), MAX_ITEMS);
        assert_eq!(run("i2?i2").places().count(), 2);
    }

    #[test]
    fn report_of_an_earlier_release_has_no_runs() {
        let report = br#"{"resent":[{"position":0,"type":"message","item_id":"msg_1",
            "rule":"same_id","differs":false}]}"#;
        assert_eq!(resent_runs(report), []);
    }
}
