//! The size of a tenant's data, in words and as JSON.

use antiphon_store::{DataCounts, Tenant, Usage};
use serde_json::json;

/// The line of a tenant in the list.
pub(super) fn to_json_line(tenant: &Tenant, held: &DataCounts, usage: Usage) -> String {
    json!({
        "tenant": tenant.as_str(),
        "conversations": held.conversations,
        "responses": held.responses,
        "open_turns": held.pending_turns,
        "ledgers": held.ledgers,
        "items": held.items,
        "item_bytes": usage.bytes,
        "deleted_items": held.deleted_items,
    })
    .to_string()
}

/// The counts in words, as in `2 conversations, 1 response, …`. Includes counts of zero.
pub(super) fn describe(held: &DataCounts) -> String {
    let named = [
        (held.conversations, "conversation"),
        (held.responses, "response"),
        (held.pending_turns, "open turn"),
        (held.ledgers, "ledger"),
        (held.items, "item"),
    ];
    let named = named.map(|(count, name)| pluralize(count, name)).join(", ");
    let deleted = match held.deleted_items {
        1 => "trace of a deleted item",
        _ => "traces of deleted items",
    };
    format!("{named} and {} {deleted}", held.deleted_items)
}

fn pluralize(count: u64, name: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{count} {name}{plural}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_described_in_words() {
        let held = DataCounts {
            conversations: 1,
            responses: 2,
            pending_turns: 0,
            ledgers: 3,
            items: 5,
            deleted_items: 1,
            others: 7,
        };
        let text = describe(&held);
        let expected = "1 conversation, 2 responses, 0 open turns, 3 ledgers, 5 items and 1 trace \
                        of a deleted item";
        assert_eq!(text, expected);
    }
}
