//! PostgreSQL keeps the laws of a store, and those of one that several processes share.

#![allow(clippy::unwrap_used)] // Outside of `#[test]` functions too, everything here is a test.

mod conformance;

mod postgres {
    mod bytes;
    mod commits;
    mod connections;
    pub(crate) mod database;
    mod erasure;
    mod jobs;
    mod lease_queue;
    mod ledgers;
    mod migration;
    mod pending_turns;
    mod proxy;
    mod round_trips;
    mod schema;
    mod usage;
}

use conformance::World;
use postgres::database::Database;

async fn a_database() -> World {
    World::at(Database::with_tables().await).await
}

mod in_a_database {
    use crate::conformance;

    conformance::suite!(crate::a_database);
    conformance::durable_suite!(crate::a_database);
}
