//! Marks that identify every item of a run.

use std::fmt;

/// A mark in the text of an item: the number of its turn, and the item's position in the turn,
/// input first. Requests contain it, and the model continues the numbering.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Mark {
    /// The number of the turn.
    pub(crate) turn: u32,
    /// The position in the turn.
    pub(crate) part: u8,
}

/// The number of the writers' first request. Other clients use smaller numbers.
pub(crate) const FIRST_WRITER_TURN: u32 = 500_000;

const BEGINNING: &str = "mark-";
const TURN: usize = 6;
const PART: usize = 2;

impl Mark {
    /// The mark of an item.
    pub(crate) fn new(turn: u32, part: usize) -> Self {
        Self { turn, part: u8::try_from(part).expect("a turn has few items") }
    }

    /// The first complete mark in a text.
    pub(crate) fn in_text(text: &str) -> Option<Self> {
        text.match_indices(BEGINNING).find_map(|(at, _)| Self::read(&text[at + BEGINNING.len()..]))
    }

    fn read(text: &str) -> Option<Self> {
        let turn = text.get(..TURN)?.parse().ok()?;
        let part = text.get(TURN..)?.strip_prefix('-')?.get(..PART)?.parse().ok()?;
        Some(Self { turn, part })
    }
}

impl fmt::Display for Mark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{BEGINNING}{:0TURN$}-{:0PART$}", self.turn, self.part)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mark_is_found_in_any_text() {
        let mark = Mark::new(42, 3);
        assert_eq!(Mark::in_text(&format!(r#"{{"text":"{mark} said"}}"#)), Some(mark));
        assert_eq!(Mark::in_text(&format!("mark-0 {mark}")), Some(mark));
        for cut in ["", "mark-", "mark-000042", "mark-000042-0", "mark-é00042-03"] {
            assert_eq!(Mark::in_text(cut), None, "{cut}");
        }
    }
}
