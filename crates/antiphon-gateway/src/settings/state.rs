//! The owner of conversation state.

/// The owner of conversations with an upstream's models, with their responses and items.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum State {
    /// Antiphon. The upstream receives whole histories and stores nothing.
    #[default]
    Here,
    /// The upstream, under its own ids. Antiphon stores a ledger of its items.
    Upstream,
}

/// The stored part of items that an upstream owns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Ledger {
    /// The data to recognize an item: ids, calls, fingerprints. Never its content.
    #[default]
    Heads,
    /// Also the bytes of the items. A chain can then continue after the upstream has lost its last
    /// response.
    Bodies,
}
