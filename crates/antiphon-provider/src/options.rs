//! How the provider is to behave.

use std::str::FromStr;

use crate::Profile;

/// What a provider is and how it behaves. The default is OpenAI, strict, and keeps the part of a
/// turn that was done when its caller leaves.
#[derive(Clone, Debug)]
pub struct Options {
    /// What all ids follow from: two providers with one seed give the same ids.
    pub seed: String,
    /// Which provider it plays.
    pub profile: Profile,
    /// Whether the rules of state are held.
    pub rules: Rules,
    /// What becomes of a turn whose caller leaves.
    pub on_abort: OnAbort,
    /// What a response's list of input items holds.
    pub input_items: InputItems,
    /// The models there are; where none is named, every one but those that begin with `unknown-`.
    pub models: Vec<String>,
    /// How many requests are remembered: the latest.
    pub requests_kept: usize,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            seed: String::new(),
            profile: Profile::default(),
            rules: Rules::default(),
            on_abort: OnAbort::default(),
            input_items: InputItems::default(),
            models: Vec::new(),
            requests_kept: 10_000,
        }
    }
}

impl Options {
    /// Whether there is a model of this name.
    pub(crate) fn has_model(&self, name: &str) -> bool {
        match self.models.as_slice() {
            [] => !name.starts_with("unknown-"),
            models => models.iter().any(|model| model == name),
        }
    }

    pub(crate) fn is_strict(&self) -> bool {
        self.rules == Rules::Strict
    }
}

/// Whether the rules of state are held.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Rules {
    /// Every request is judged as OpenAI judges it.
    #[default]
    Strict,
    /// State is kept, and nothing that is sent is held against it: no duplicate, no call without an
    /// output, no reasoning without what follows. So do many servers, and the model is then given
    /// some of it twice. References to what is not stored are left out. Any key, or none, will do.
    Lenient,
}

/// What becomes of a turn whose caller leaves before its end.
///
/// All three were seen at providers: nothing in the API says which one it will be, so a caller has
/// to cope with each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnAbort {
    /// The input and every item that was done are kept, and no more: a conversation may end in a
    /// call without an output or in lone reasoning, and every later turn of it is then refused with
    /// "No tool output found" or "was provided without its required following item". The response
    /// is kept as `incomplete`, as clients go on from the id that `response.created` told them.
    #[default]
    Part,
    /// The turn is completed as if the caller had stayed, and kept: it holds items that the caller
    /// never heard of. So does a server that notices a closed connection only when it is through.
    Whole,
    /// Nothing is kept, neither input nor output: the id that was told is not found, and the output
    /// of a call that was told is refused with "No tool call found". So does a server that stores a
    /// turn in one step at its end.
    Nothing,
}

impl FromStr for OnAbort {
    type Err = ();

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        match name {
            "part" => Ok(Self::Part),
            "whole" => Ok(Self::Whole),
            "nothing" => Ok(Self::Nothing),
            _ => Err(()),
        }
    }
}

/// What `GET /v1/responses/{id}/input_items` lists.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum InputItems {
    /// The input of the request alone.
    #[default]
    Own,
    /// All that the model was given: what stood before in the chain or the conversation too.
    All,
}
