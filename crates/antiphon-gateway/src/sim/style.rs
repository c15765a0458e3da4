//! How an answer is worded, where the instructions ask for a manner of speech.

use super::context::Context;
use super::text::{find_phrase, words};

/// A manner of speech.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Style {
    Plain,
    /// `Arr! Noted: Hello.`
    Pirate,
    /// `NOTED: HELLO.`
    Loud,
}

impl Style {
    /// What the latest of the instructions that asks for one asks for.
    pub(super) fn of(context: &Context) -> Self {
        context.guidance().iter().rev().find_map(|text| asked_for(text)).unwrap_or(Self::Plain)
    }

    /// The sentence as it is said in this manner.
    pub(super) fn spoken(self, sentence: String) -> String {
        match self {
            Self::Plain => sentence,
            Self::Pirate => format!("Arr! {sentence}"),
            Self::Loud => sentence.to_uppercase(),
        }
    }
}

fn asked_for(text: &str) -> Option<Style> {
    let is_pirate = |word: &str| matches!(word, "pirate" | "pirates");
    let loud = ["uppercase", "upper case", "capital letters", "all caps"];
    if words(text).iter().any(|word| is_pirate(&word.lower)) {
        Some(Style::Pirate)
    } else {
        loud.iter().any(|phrase| find_phrase(text, phrase).is_some()).then_some(Style::Loud)
    }
}
