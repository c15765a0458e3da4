//! Opens connections to permitted addresses only.

use std::io;
use std::net::SocketAddr;
use std::task::{Context, Poll};
use std::time::Duration;
use std::vec;

use bytes::Bytes;
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use http_body_util::Full;
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::client::legacy::connect::dns::Name;
use hyper_util::rt::TokioExecutor;
use tokio::net::lookup_host;
use tower::Service;

use super::address::AddressGuard;

/// The HTTP client of one endpoint. It follows no redirect and reuses no connection, so the address
/// of each connection is checked.
pub(super) type GuardedClient = Client<HttpsConnector<HttpConnector<GuardedNames>>, Full<Bytes>>;

/// The time limit for opening a connection.
const CONNECT: Duration = Duration::from_secs(5);

/// Creates a client with this guard. The guard does not see an IP address in the URL; the code that
/// uses this client must check it.
pub(super) fn client(guard: AddressGuard) -> GuardedClient {
    let mut http = HttpConnector::new_with_resolver(GuardedNames(guard));
    http.enforce_http(false);
    http.set_nodelay(true);
    http.set_connect_timeout(Some(CONNECT));
    let https = HttpsConnectorBuilder::new().with_webpki_roots().https_or_http().enable_http1();
    Client::builder(TokioExecutor::new())
        .pool_max_idle_per_host(0)
        .build(https.wrap_connector(http))
}

/// A resolver that returns only the permitted addresses of a name.
#[derive(Clone, Debug)]
pub(super) struct GuardedNames(AddressGuard);

impl Service<Name> for GuardedNames {
    type Response = vec::IntoIter<SocketAddr>;
    type Error = io::Error;
    type Future = BoxFuture<'static, io::Result<Self::Response>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, name: Name) -> Self::Future {
        let guard = self.0.clone();
        async move {
            let found = lookup_host((name.as_str(), 0)).await?;
            let permitted: Vec<_> = found.filter(|found| guard.permits(found.ip())).collect();
            match permitted.is_empty() {
                true => Err(io::Error::other("the host has no address that may be reached")),
                false => Ok(permitted.into_iter()),
            }
        }
        .boxed()
    }
}
