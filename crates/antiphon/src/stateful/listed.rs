//! The items that a server listed.

use std::collections::HashSet;

use super::Rules;
use crate::item::{Item, ItemId, Kind};
use crate::placeholder::is_placeholder_item;
use crate::provider_api::Chain;
use crate::transcript::{HeldItem, Origin, Transcript};

/// The listed items of a conversation or a chain of responses. Those of a
/// chain come after the known items with which it ends.
#[derive(Debug)]
pub struct Listed {
    /// The items before the output of the last response.
    pub input: Vec<HeldItem>,
    /// The output of the last response.
    pub output: Vec<HeldItem>,
    /// The status of the last response; empty for a conversation.
    pub status: String,
    /// Whether the last response is still being produced.
    pub is_underway: bool,
}

impl Listed {
    /// The items after the known ones. Of several items with one id, the first counts.
    pub(super) fn new(
        chain: Chain,
        known: &Transcript,
        rules: &Rules,
        issue_id: &mut dyn FnMut(&Kind) -> ItemId,
    ) -> Self {
        let mut seen: HashSet<ItemId> = known.items().iter().map(|item| item.id.clone()).collect();
        // Messages of users are known without the server's ids.
        let last_known = known.items().iter().rev().find(|item| item.head.is_model_made());
        let last_known = last_known.and_then(|item| item.head.id.as_ref());
        let (status, is_underway) = (chain.status().to_owned(), chain.is_underway());
        let (input, output) = chain.into_items(last_known);
        let mut hold = |item: &Item| {
            let head = item.head();
            let id = head.id.clone().unwrap_or_else(|| issue_id(&head.kind));
            let origin = match is_placeholder_item(item) {
                true => Some(Origin::placeholder()),
                false => rules.origin.clone().filter(|_| head.is_model_made()),
            };
            seen.insert(id.clone()).then(|| HeldItem::new(id, item, rules.key, origin))
        };
        let input = input.iter().filter_map(&mut hold).collect();
        let output = output.iter().filter_map(&mut hold).collect();
        Self { input, output, status, is_underway }
    }
}
