//! A server that webhooks are sent to.

use std::convert::Infallible;
use std::sync::Arc;

use antiphon_gateway::settings::{Allowed, SigningSecret, Webhook};
use bytes::Bytes;
use http::{HeaderMap, Request, Response};
use http_body_util::{BodyExt, Empty};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use serde_json::Value;
use tokio::net::TcpListener;
use tokio::sync::{Mutex, mpsc};

use super::view::text;
use super::watchdog::soon;

/// The secret of Standard Webhooks' example.
pub(crate) const SECRET: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

/// What was received.
#[derive(Clone, Debug)]
pub(crate) struct Received {
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
}

impl Received {
    /// A header that there must be.
    pub(crate) fn header(&self, name: &str) -> &str {
        self.headers[name].to_str().expect("it is text")
    }

    /// The id of the event.
    pub(crate) fn id(&self) -> &str {
        self.header("webhook-id")
    }
}

/// A receiving server.
pub(crate) struct Receiver {
    pub(crate) url: String,
    received: mpsc::UnboundedReceiver<Received>,
}

impl Receiver {
    /// A server that gives these answers, and then answers well.
    pub(crate) async fn answering(
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
    pub(crate) async fn next(&mut self) -> Received {
        soon("the endpoint is told", self.received.recv()).await.expect("it listens")
    }

    /// The type of the next event that is received, and its response.
    pub(crate) async fn event(&mut self) -> (String, String) {
        let received = self.next().await;
        let event: Value = serde_json::from_slice(&received.body).expect("it is JSON");
        assert_eq!(event["object"], "event");
        assert_eq!(event["id"], received.id());
        assert!(event["created_at"].is_i64(), "{event}");
        (text(&event["type"]).to_owned(), text(&event["data"]["id"]).to_owned())
    }

    /// What it is configured as.
    pub(crate) fn webhook(&self) -> Webhook {
        let secret = SigningSecret::parse(SECRET).expect("it is one");
        let mut webhook = Webhook::new(self.url.parse().expect("it is a URL"), secret);
        webhook.allow = vec![Allowed::parse("127.0.0.0/8").expect("it is a network")];
        webhook
    }
}
