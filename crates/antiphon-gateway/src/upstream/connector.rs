//! Opens connections to an upstream, with a time limit.

use std::error::Error;
use std::io;
use std::task::{Context, Poll};
use std::time::Duration;

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use http::Uri;
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::connect::HttpConnector;
use tower::Service;

use crate::entropy::MAX_TIME_LIMIT;
use crate::settings::Authorities;

type Https = HttpsConnector<HttpConnector>;

/// Opens connections with one time limit that includes TLS.
#[derive(Clone)]
pub(super) struct Connector {
    https: Https,
    bound: Duration,
}

/// Creates a connector with the time limit `bound`, which includes the name lookup and TLS. The
/// servers' certificates come from these authorities, or from public ones.
pub(super) fn new(bound: Duration, authorities: Option<&Authorities>) -> Connector {
    let mut http = HttpConnector::new();
    http.enforce_http(false);
    http.set_nodelay(true);
    // Several addresses of one host share this time.
    http.set_connect_timeout(Some(bound));
    let https = HttpsConnectorBuilder::new();
    let https = match authorities {
        Some(authorities) => https.with_tls_config(authorities.client_config()),
        None => https.with_webpki_roots(),
    };
    let https = https.https_or_http().enable_http1().enable_http2().wrap_connector(http);
    Connector { https, bound: bound.min(MAX_TIME_LIMIT) }
}

impl Service<Uri> for Connector {
    type Response = <Https as Service<Uri>>::Response;
    type Error = Box<dyn Error + Send + Sync>;
    type Future = BoxFuture<'static, Result<Self::Response, Self::Error>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        self.https.poll_ready(context)
    }

    fn call(&mut self, server: Uri) -> Self::Future {
        let (connecting, bound) = (self.https.call(server), self.bound);
        async move {
            let timed_out = |_| {
                let reason = format!("no connection was made within {bound:?}");
                io::Error::new(io::ErrorKind::TimedOut, reason)
            };
            tokio::time::timeout(bound, connecting).await.map_err(timed_out)?
        }
        .boxed()
    }
}
