//! The provider's options.

use std::str::FromStr;

use crate::Profile;

/// The options of a provider. The default is strict OpenAI that stores the finished part of a turn
/// if its caller disconnects, and that does not compact.
#[derive(Clone, Debug)]
pub struct Options {
    /// The seed of all ids: two providers with the same seed issue the same ids. `None` takes a
    /// random one.
    pub seed: Option<String>,
    /// The provider to imitate.
    pub profile: Profile,
    /// Whether the provider enforces its rules of state.
    pub rules: Rules,
    /// The outcome of a turn whose caller disconnects.
    pub on_abort: OnAbort,
    /// The items that a response's input list contains.
    pub input_items: InputItems,
    /// Whether the provider compacts: `POST /v1/responses/compact`.
    pub compacts: bool,
    /// The models that exist. If empty, every name exists except those that begin with `unknown-`.
    pub models: Vec<String>,
    /// The number of requests in the log: the latest ones.
    pub log_capacity: usize,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            seed: None,
            profile: Profile::default(),
            rules: Rules::default(),
            on_abort: OnAbort::default(),
            input_items: InputItems::default(),
            compacts: false,
            models: Vec::new(),
            log_capacity: 10_000,
        }
    }
}

impl Options {
    /// Whether a model of this name exists.
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

/// Whether the provider enforces its rules of state.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Rules {
    /// The provider validates every request as OpenAI does.
    #[default]
    Strict,
    /// The provider keeps state but accepts duplicates, calls without outputs and reasoning without
    /// a following item, as many servers do; the model may then receive an item twice. It leaves
    /// out references to unknown items. It accepts any key, or none.
    Lenient,
}

/// The outcome of a turn whose caller disconnects before its end.
///
/// Providers show all three. The API has no way to ask for the outcome, so a client has to handle
/// each of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnAbort {
    /// The input and every finished item are stored. A conversation may then end with a call
    /// without an output or with lone reasoning, and the provider refuses every later turn of it
    /// with "No tool output found" or "was provided without its required following item". The
    /// response is stored as `incomplete`: clients continue it by the id in `response.created`.
    #[default]
    StorePart,
    /// The turn completes as if the caller had stayed, so it holds items that the caller never
    /// received. A server that notices a closed connection only at the end does this.
    StoreWhole,
    /// Nothing is stored, neither input nor output. The announced response id is not found, and an
    /// output for an announced call is refused with "No tool call found". A server that stores a
    /// turn in one step at its end does this.
    StoreNothing,
}

impl FromStr for OnAbort {
    type Err = ();

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        match name {
            "part" => Ok(Self::StorePart),
            "whole" => Ok(Self::StoreWhole),
            "nothing" => Ok(Self::StoreNothing),
            _ => Err(()),
        }
    }
}

/// The items that `GET /v1/responses/{id}/input_items` lists.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum InputItems {
    /// The input of the request only.
    #[default]
    Own,
    /// The whole model input, with the items of the chain or the conversation before it.
    All,
}
