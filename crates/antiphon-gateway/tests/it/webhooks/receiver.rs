//! A server that is told, and a gateway that tells it.

use std::convert::Infallible;
use std::sync::Arc;

use antiphon::IdSource;
use antiphon_gateway::Server;
use antiphon_gateway::entropy::{RandomIds, unix_now};
use antiphon_gateway::settings::{Allowed, Settings, SigningSecret, Webhook};
use antiphon_store::{Base, NewResponse, Notice, ResponseId, Shard, Store, Tenant, ThreadId, Turn};
use bytes::Bytes;
use http::{HeaderMap, Request, Response};
use http_body_util::{BodyExt, Empty};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tempfile::TempDir;
use tokio::net::TcpListener;
use tokio::sync::{Mutex, mpsc, oneshot};

use crate::support::soon;

/// The secret of Standard Webhooks' example.
pub(super) const SECRET: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

/// What was received.
#[derive(Clone, Debug)]
pub(super) struct Received {
    pub(super) headers: HeaderMap,
    pub(super) body: Bytes,
}

impl Received {
    /// A header that there must be.
    pub(super) fn header(&self, name: &str) -> &str {
        self.headers[name].to_str().expect("it is text")
    }

    /// The id of the event.
    pub(super) fn id(&self) -> &str {
        self.header("webhook-id")
    }
}

/// A receiving server.
pub(super) struct Receiver {
    pub(super) url: String,
    received: mpsc::UnboundedReceiver<Received>,
}

impl Receiver {
    /// A server that gives these answers, and then answers well.
    pub(super) async fn answering(
        answers: impl IntoIterator<Item = Response<Empty<Bytes>>>,
    ) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a loopback port is free");
        let url = format!("http://{}/hook", listener.local_addr().expect("it is bound"));
        let answers = Arc::new(Mutex::new(answers.into_iter().collect::<Vec<_>>().into_iter()));
        let (sender, received) = mpsc::unbounded_channel();
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let (answers, sender) = (Arc::clone(&answers), sender.clone());
                let receive = service_fn(move |request: Request<Incoming>| {
                    let (answers, sender) = (Arc::clone(&answers), sender.clone());
                    async move {
                        let (head, body) = request.into_parts();
                        let body = body.collect().await.expect("it is whole").to_bytes();
                        drop(sender.send(Received { headers: head.headers, body }));
                        Ok::<_, Infallible>(answers.lock().await.next().unwrap_or_default())
                    }
                });
                let serving = http1::Builder::new().serve_connection(TokioIo::new(stream), receive);
                tokio::spawn(serving);
            }
        });
        Self { url, received }
    }

    /// The next that is received.
    pub(super) async fn next(&mut self) -> Received {
        soon("the endpoint is told", self.received.recv()).await.expect("it listens")
    }

    /// What it is configured as.
    pub(super) fn webhook(&self) -> Webhook {
        let secret = SigningSecret::parse(SECRET).expect("it is one");
        let mut webhook = Webhook::new(self.url.parse().expect("it is a URL"), secret);
        webhook.allow = vec![Allowed::parse("127.0.0.0/8").expect("it is a network")];
        webhook
    }
}

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
        let turn = Turn {
            base: Base::New { shard, thread: ThreadId::issue(&mut RandomIds) },
            input: Vec::new(),
            output: Vec::new(),
            response: Some(NewResponse {
                id: ResponseId::issue(shard, &mut RandomIds),
                conversation: None,
                created_at: unix_now(),
                envelope: Bytes::from_static(b"{}"),
                report: Bytes::from_static(b"{}"),
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
