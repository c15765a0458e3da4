//! Cuts streamed text into deltas.

/// How an answer's text is cut into deltas. The joined deltas equal the text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Split {
    /// After every space.
    #[default]
    Words,
    /// After every `n` characters; 0 counts as 1.
    Characters(usize),
    /// One delta with the whole text.
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
