//! A store with events to be sent, and a gateway that sends them.

use std::sync::Arc;

use antiphon::IdSource;
use antiphon_gateway::Server;
use antiphon_gateway::entropy::{RandomIds, unix_now};
use antiphon_gateway::settings::{Settings, Webhook};
use antiphon_store::{
    Destination, NewResponse, Notice, ResponseId, Shard, Store, Tenant, ThreadId, TurnRecord,
};
use bytes::Bytes;
use http::Response;
use http_body_util::Empty;
use tempfile::TempDir;
use tokio::net::TcpListener;
use tokio::sync::oneshot;

/// An answer of this status, with these headers.
pub(super) fn status(status: u16, headers: &[(&str, &str)]) -> Response<Empty<Bytes>> {
    let mut answer = Response::builder().status(status);
    for (name, value) in headers {
        answer = answer.header(*name, *value);
    }
    answer.body(Empty::new()).expect("it is well-formed")
}

/// A store in a file.
pub(super) struct Outbox {
    pub(super) store: Arc<dyn Store>,
    _folder: TempDir,
}

impl Outbox {
    pub(super) async fn new() -> Self {
        let folder = tempfile::tempdir().expect("a folder can be made");
        let url = format!("sqlite:{}", folder.path().join("antiphon.db").display());
        let store = antiphon_store::open(&url).await.expect("the store opens");
        Self { store, _folder: folder }
    }

    /// Commits a turn whose end these endpoints are to be told of; the event's id.
    pub(super) async fn commit(&self, endpoints: &[&str]) -> String {
        let id = RandomIds.issue("evt");
        let body = Bytes::from(format!(r#"{{"id":"{id}","object":"event"}}"#));
        let notice = |url: &&str| Notice {
            id: id.clone(),
            endpoint: (*url).to_owned(),
            due_at: unix_now(),
            body: body.clone(),
        };
        let shard = Shard::issue(&mut RandomIds);
        let turn = TurnRecord {
            destination: Destination::New { shard, thread: ThreadId::issue(&mut RandomIds) },
            input: Vec::new(),
            output: Vec::new(),
            response: Some(NewResponse {
                id: ResponseId::issue(shard, &mut RandomIds),
                conversation: None,
                created_at: unix_now(),
                envelope: Bytes::from_static(b"{}"),
                report: Bytes::from_static(b"{}"),
                copy: None,
            }),
            request: None,
            place: None,
            notices: endpoints.iter().map(notice).collect(),
            ledger: None,
        };
        self.store.commit_turn(&Tenant::new("acme"), turn).await.expect("it is committed");
        id
    }

    /// A gateway that tells these endpoints until what is given is dropped.
    pub(super) async fn serve(&self, webhooks: Vec<Webhook>) -> oneshot::Sender<()> {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a loopback port is free");
        let settings = Settings { webhooks, ..Settings::default() };
        let server = Server::prepare(listener, settings, Arc::clone(&self.store)).await;
        let server = server.expect("the gateway is prepared");
        let (running, stopped) = oneshot::channel::<()>();
        tokio::spawn(server.run(async { drop(stopped.await) }));
        running
    }

    /// The events that nobody is telling, and that wait to be told within half a minute.
    pub(super) async fn waiting(&self) -> Vec<String> {
        let soon = unix_now() + 30;
        let waiting = self.store.claim_notices(soon, soon, 9).await.expect("it can be read");
        waiting.into_iter().map(|due| due.notice.id).collect()
    }
}
