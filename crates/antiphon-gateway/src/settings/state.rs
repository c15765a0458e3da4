//! Who keeps the state of conversations.

/// Who keeps what is begun with an upstream's models: conversations, responses and their items.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum State {
    /// Antiphon. The upstream is given whole histories, and keeps nothing.
    #[default]
    Here,
    /// The upstream, under its own ids. Antiphon keeps a ledger of what it has.
    Upstream,
}

/// What is kept of items whose owner is an upstream.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Ledger {
    /// What it takes to know them again: ids, calls, fingerprints. Never what they say.
    #[default]
    Heads,
    /// Their bytes too, so that a chain goes on whose response the upstream no longer has.
    Bodies,
}
