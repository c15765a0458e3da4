//! Antiphon with each of its stores.

use std::path::Path;

use super::{Durability, Launch, Place, Server};

pub(super) fn servers(program: &Path) -> Vec<Server> {
    let program = program.to_owned();
    let on_sqlite = Server {
        name: "antiphon-sqlite",
        durability: Durability::CommittedBeforeTerminal,
        program,
        uses_postgres: false,
        exports_traces: true,
        is_antiphon: true,
        launch: on_sqlite,
    };
    let on_postgres = Server {
        name: "antiphon-postgres",
        uses_postgres: true,
        exports_traces: false,
        launch: on_postgres,
        ..on_sqlite.clone()
    };
    let in_memory = Server {
        name: "antiphon-memory",
        durability: Durability::Memory,
        launch: in_memory,
        ..on_sqlite.clone()
    };
    vec![on_sqlite, on_postgres, in_memory]
}

/// The variable with the base URL of the upstream.
pub(crate) const UPSTREAM: &str = "ANTIPHON_UPSTREAM";

/// The variable with the file of the authorities of the upstream's certificate.
pub(crate) const UPSTREAM_CA_FILE: &str = "ANTIPHON_UPSTREAM_CA_FILE";

/// The file of SQLite's database.
pub(super) const DATABASE: &str = "antiphon.db";

fn on_sqlite(place: &Place) -> Launch {
    launch(place, &format!("sqlite:{}", place.folder.join(DATABASE).display()))
}

fn on_postgres(place: &Place) -> Launch {
    launch(place, place.postgres.as_deref().unwrap_or_default())
}

fn in_memory(place: &Place) -> Launch {
    launch(place, "sqlite::memory:")
}

fn launch(place: &Place, store: &str) -> Launch {
    let upstream = format!("http://{}/v1", place.upstream);
    let listen = place.listen.to_string();
    let arguments = ["serve", "--listen", &listen, "--store", store];
    Launch {
        arguments: arguments.map(str::to_owned).into(),
        environment: [(UPSTREAM, upstream)].into(),
        ..Launch::default()
    }
}
