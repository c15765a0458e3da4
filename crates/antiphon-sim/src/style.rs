//! The style of an answer, if the instructions ask for one.

use super::context::Context;
use super::text::{find_phrase, words};

/// A style.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Style {
    Plain,
    /// `Arr! Noted: Hello.`
    Pirate,
    /// `NOTED: HELLO.`
    Loud,
}

impl Style {
    /// The style in the latest instructions that ask for one.
    pub(super) fn from_context(context: &Context) -> Self {
        context.guidance().iter().rev().find_map(|text| find_style(text)).unwrap_or(Self::Plain)
    }

    /// The sentence in this style.
    pub(super) fn apply(self, sentence: String) -> String {
        match self {
            Self::Plain => sentence,
            Self::Pirate => format!("Arr! {sentence}"),
            Self::Loud => sentence.to_uppercase(),
        }
    }
}

fn find_style(text: &str) -> Option<Style> {
    let is_pirate = |word: &str| matches!(word, "pirate" | "pirates");
    let loud = ["uppercase", "upper case", "capital letters", "all caps"];
    if words(text).iter().any(|word| is_pirate(&word.lower)) {
        Some(Style::Pirate)
    } else {
        loud.iter().any(|phrase| find_phrase(text, phrase).is_some()).then_some(Style::Loud)
    }
}
