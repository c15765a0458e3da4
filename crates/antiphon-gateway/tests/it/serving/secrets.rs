//! The operator's secrets, and what a start without the right one leaves alone.

use std::path::Path;
use std::sync::Arc;

use antiphon_gateway::Server;
use antiphon_gateway::settings::{Secret, Settings};
use antiphon_store::{Destination, NewResponse, ResponseId, Shard, SqliteStore, Store};
use antiphon_store::{Tenant, ThreadId, TurnRecord};
use bytes::Bytes;
use tokio::net::TcpListener;

const SHARD: Shard = Shard(7);

/// Starts a gateway on this file; says why it would not, and which store it was.
async fn started(file: &Path, secret: &str) -> (Result<Server, String>, Arc<SqliteStore>) {
    let store = Arc::new(SqliteStore::open(file).expect("the store opens"));
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a loopback port is free");
    let settings = Settings { secrets: vec![Secret::new(secret)], ..Settings::default() };
    let server = Server::prepare(listener, settings, Arc::clone(&store) as Arc<dyn Store>).await;
    (server.map_err(|error| error.to_string()), store)
}

/// A turn that has begun.
fn opening(response: &ResponseId) -> TurnRecord {
    TurnRecord {
        destination: Destination::New { shard: SHARD, thread: ThreadId(1) },
        input: Vec::new(),
        output: Vec::new(),
        response: Some(NewResponse {
            id: response.clone(),
            conversation: None,
            created_at: 0,
            envelope: Bytes::from_static(b"{}"),
            report: Bytes::from_static(b"{}"),
            copy: None,
        }),
        request: None,
        place: None,
        notices: Vec::new(),
        ledger: None,
    }
}

#[tokio::test]
async fn rejected_start_leaves_open_turns_unchanged() {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let file = folder.path().join("antiphon.db");
    let tenant = Tenant::new("acme");
    let response = ResponseId::parse(&format!("resp_{:016x}{:032x}", SHARD.0, 1)).expect("an id");
    let (server, store) = started(&file, "the secret of the store").await;
    assert!(server.is_ok());
    store.record_pending_turn(&tenant, opening(&response)).await.expect("it is recorded");
    store.close().await;
    drop((server, store));

    let (refused, store) = started(&file, "some other secret").await;
    let sentence = "the store was last opened with a secret that is not among these; add it";
    assert_eq!(refused.err().as_deref(), Some(sentence));
    assert_eq!(store.response(&tenant, &response).await, Ok(None), "it is not settled");
    store.close().await;
    drop(store);

    let (server, store) = started(&file, "the secret of the store").await;
    assert!(server.is_ok());
    let settled = store.response(&tenant, &response).await.expect("the store answers");
    assert!(settled.is_some());
}
