//! The list of all statements. A connection prepares each of them when it opens.

use super::{
    conversations, data_counts, erasure, events, expiry, holders, item_ids, items, jobs,
    late_binding, ledger_names, listings, named_values, notices, pages, pending_turns,
    queue_places, requests, responses, segments, session, sweep, threads, transaction, turns,
    watches,
};

/// A statement and its name.
#[derive(Debug)]
pub(super) struct Sql {
    pub(super) name: &'static str,
    pub(super) text: &'static str,
}

/// Declares the statements of a module as constants, and `STATEMENTS`, the list of them.
macro_rules! statements {
    ($($(#[$doc:meta])* $name:ident = $text:expr;)*) => {
        $(
            $(#[$doc])*
            const $name: $crate::postgres::statements::Sql = $crate::postgres::statements::Sql {
                name: concat!(module_path!(), "::", stringify!($name)),
                text: $text,
            };
        )*

        /// The module's statements.
        pub(super) const STATEMENTS: &[$crate::postgres::statements::Sql] = &[$($name),*];
    };
}
pub(super) use statements;

/// All statements, by module.
pub(super) const ALL: &[&[Sql]] = &[
    conversations::STATEMENTS,
    erasure::STATEMENTS,
    events::STATEMENTS,
    expiry::STATEMENTS,
    holders::STATEMENTS,
    data_counts::STATEMENTS,
    item_ids::STATEMENTS,
    items::STATEMENTS,
    jobs::STATEMENTS,
    named_values::STATEMENTS,
    late_binding::STATEMENTS,
    queue_places::STATEMENTS,
    ledger_names::STATEMENTS,
    listings::STATEMENTS,
    notices::STATEMENTS,
    pending_turns::STATEMENTS,
    pages::STATEMENTS,
    requests::STATEMENTS,
    responses::STATEMENTS,
    segments::STATEMENTS,
    session::STATEMENTS,
    sweep::STATEMENTS,
    threads::STATEMENTS,
    transaction::STATEMENTS,
    turns::STATEMENTS,
    watches::STATEMENTS,
];

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    /// The statements that name no shard, each group with its reason.
    const UNSHARDED: &[&str] = &[
        // Processes, which work in all shards.
        "holders::BEAT",
        "holders::RENEW_EXPIRED",
        "holders::LEAVE_PLACES",
        "holders::LEAVE",
        "holders::SWEEP_PLACES",
        "holders::SWEEP",
        "jobs::CANCELLED",
        "jobs::TAKE_UP",
        "session::OPEN",
        "pending_turns::LEFT_BEHIND",
        "pending_turns::OWN",
        "transaction::COUNT",
        "transaction::FATE",
        // Expired rows of all tenants.
        "expiry::OLDEST",
        "jobs::EXPIRED",
        "responses::EXPIRE_COPIES",
        // All data of a tenant, in all shards.
        "erasure::NOTE",
        "erasure::IS_ERASED",
        "erasure::FORGET_OLD",
        "erasure::NEXT_TREE",
        "erasure::PLACES",
        "data_counts::NEXT_TENANT",
        "data_counts::COUNT",
        "listings::NEWEST_CONVERSATIONS",
        "listings::NEWEST_RESPONSES",
        "pages::CONVERSATIONS",
        "pages::RESPONSES",
        "pages::LEDGERS",
        "pages::OPEN_TURNS",
        "pages::LOOSE",
        "data_counts::TENANT_USAGE",
        "data_counts::LOCK_USAGE",
        "data_counts::FORGET_USAGE",
        // Notices in the order of their due times.
        "notices::ANY_DUE",
        "notices::CLAIM",
        "watches::NEXT_DUE",
        "watches::CLAIM",
        // Named values of the whole store.
        "named_values::KEEP",
        "named_values::READ",
        "named_values::REPLACE",
        // Items and ledgers of a tenant in any shard.
        "item_ids::FIND_GENERATED",
        "item_ids::NEWEST",
        "ledger_names::FIND",
        "ledger_names::ANY",
        // Locks: their number is a hash of both.
        "transaction::LOCK_TREE",
        "transaction::LOCK_LINE",
    ];

    fn all() -> impl Iterator<Item = (&'static str, &'static str)> {
        let all = ALL.iter().flat_map(|module| module.iter());
        all.map(|sql| (sql.name.rsplit_once("postgres::").unwrap().1, sql.text))
    }

    /// Whether the text compares the column with a parameter, or sets it in an inserted row.
    fn names(text: &str, column: &str) -> bool {
        let is_compared = text.contains(&format!("{column} = $"));
        let is_inserted = text.split("INSERT INTO").skip(1).any(|insertion| {
            let columns = insertion.split(['(', ')']).nth(1).unwrap_or_default();
            columns.split(',').any(|one| one.trim() == column)
        });
        is_compared || is_inserted
    }

    #[test]
    fn every_statement_names_tenant_and_shard() {
        for (name, text) in all().filter(|(name, _)| !UNSHARDED.contains(name)) {
            for column in ["tenant", "shard"] {
                assert!(names(text, column), "{name} names no {column}: {text}");
            }
        }
    }

    #[test]
    fn every_exception_is_needed() {
        let named: BTreeSet<_> = all().map(|(name, _)| name).collect();
        for exception in UNSHARDED {
            assert!(named.contains(exception), "{exception}");
            let (_, text) = all().find(|(name, _)| name == exception).unwrap();
            assert!(!(names(text, "tenant") && names(text, "shard")), "{exception}");
        }
    }

    #[test]
    fn statement_names_are_unique() {
        let names: BTreeSet<_> = all().map(|(name, _)| name).collect();
        assert_eq!(names.len(), all().count());
    }
}
