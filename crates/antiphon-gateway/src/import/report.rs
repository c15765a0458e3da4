//! The report of an import.

use std::fmt;

use antiphon_store::Restored;
use serde::Serialize;

/// The results of an import: created, existing and refused objects.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Report {
    object: &'static str,
    /// The tenant.
    pub tenant: String,
    /// The conversation of a list of items.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub conversation: Option<String>,
    /// Whether the list of items had the newest item first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub newest_first: Option<bool>,
    /// The number of items that the tenant has more than before, and their bytes.
    pub items: u64,
    /// See `items`.
    pub item_bytes: u64,
    /// Conversations.
    pub conversations: Counts,
    /// Responses.
    pub responses: Counts,
    /// Records of a provider's state.
    pub ledgers: Counts,
    /// Turns that had not ended. They are not imported.
    pub open_turns: u64,
    /// The refused objects.
    pub refused: Vec<Refusal>,
}

/// The number of objects of one kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Counts {
    /// Objects that the import created.
    pub created: u64,
    /// Objects that the store had already.
    pub existing: u64,
    /// Objects that the import refused.
    pub refused: u64,
}

/// An object that was not imported.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Refusal {
    /// `conversation`, `response`, `ledger` or `items`.
    pub object: &'static str,
    /// Its id; empty for items of no object.
    pub id: String,
    /// The line of the file at which it begins.
    pub line: u64,
    /// The reason, as a sentence.
    pub reason: String,
}

impl Report {
    pub(super) fn new(tenant: &str) -> Self {
        Self {
            object: "import",
            tenant: tenant.to_owned(),
            conversation: None,
            newest_first: None,
            items: 0,
            item_bytes: 0,
            conversations: Counts::default(),
            responses: Counts::default(),
            ledgers: Counts::default(),
            open_turns: 0,
            refused: Vec::new(),
        }
    }

    pub(super) fn add(&mut self, kind: &str, restored: Restored) {
        let Some(counts) = self.counts(kind) else { return };
        match restored {
            Restored::Created => counts.created += 1,
            Restored::Exists => counts.existing += 1,
        }
    }

    pub(super) fn refuse(&mut self, refusal: Refusal) {
        if let Some(counts) = self.counts(refusal.object) {
            counts.refused += 1;
        }
        self.refused.push(refusal);
    }

    fn counts(&mut self, kind: &str) -> Option<&mut Counts> {
        match kind {
            "conversation" => Some(&mut self.conversations),
            "response" => Some(&mut self.responses),
            "ledger" => Some(&mut self.ledgers),
            _ => None,
        }
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { tenant, items, item_bytes, .. } = self;
        write!(f, "imported into the tenant '{tenant}': {items} items, {item_bytes} bytes")?;
        if let Some(id) = &self.conversation {
            write!(f, "\nconversation: {id}")?;
        }
        if self.newest_first == Some(true) {
            write!(f, "\norder: the list had the newest item first")?;
        }
        let kinds = [
            ("conversations", self.conversations),
            ("responses", self.responses),
            ("ledgers", self.ledgers),
        ];
        for (kind, Counts { created, existing, refused }) in kinds {
            write!(f, "\n{kind}: {created} created, {existing} existed, {refused} refused")?;
        }
        if self.open_turns > 0 {
            write!(f, "\nopen turns: {} left out, because they had not ended", self.open_turns)?;
        }
        for Refusal { object, id, line, reason } in &self.refused {
            write!(f, "\nrefused: {object} {id} at line {line}: {reason}")?;
        }
        Ok(())
    }
}
