//! How streamed text falls into deltas.

/// How the text of an answer is cut into deltas. Joined, the deltas are the text again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Split {
    /// After every space.
    #[default]
    Words,
    /// Every this many characters; 0 counts as 1.
    Characters(usize),
    /// One delta with all of it.
    Whole,
}

impl Split {
    pub(super) fn cut(self, text: &str) -> Vec<String> {
        match self {
            Self::Words => text.split_inclusive(' ').map(str::to_owned).collect(),
            Self::Characters(count) => {
                let characters: Vec<char> = text.chars().collect();
                characters.chunks(count.max(1)).map(|run| run.iter().collect()).collect()
            }
            Self::Whole => Vec::from_iter((!text.is_empty()).then(|| text.to_owned())),
        }
    }
}
