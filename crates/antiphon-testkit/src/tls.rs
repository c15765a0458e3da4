//! TLS in front of a server.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use antiphon_mock::serve_each;
use anyhow::Context as _;
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use tokio::io::copy_bidirectional;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};

/// A version of HTTP.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Protocol {
    /// HTTP/1.1.
    Http1,
    /// HTTP/2.
    Http2,
}

impl Protocol {
    /// The name in ALPN (RFC 7301).
    fn name(self) -> &'static [u8] {
        match self {
            Self::Http1 => b"http/1.1",
            Self::Http2 => b"h2",
        }
    }
}

/// A server on a loopback port that ends TLS and passes all bytes to another server. Its
/// certificate is valid for `127.0.0.1`, and comes from an authority that only this server has.
/// Dropping it closes its connections.
#[derive(Debug)]
pub struct TlsServer {
    address: SocketAddr,
    authority: String,
    negotiated: Arc<Mutex<Vec<Protocol>>>,
    task: JoinHandle<()>,
}

impl TlsServer {
    /// Starts on a free port in front of `server`, which must know these protocols without TLS.
    pub async fn start(server: SocketAddr, protocols: &[Protocol]) -> anyhow::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let address = listener.local_addr()?;
        let (mut config, authority) = certified()?;
        config.alpn_protocols = protocols.iter().map(|it| it.name().to_vec()).collect();
        let negotiated = Arc::default();
        let front = Front {
            acceptor: TlsAcceptor::from(Arc::new(config)),
            server,
            negotiated: Arc::clone(&negotiated),
        };
        let serving = serve_each(listener, move |stream| front.clone().pass_on(stream));
        Ok(Self { address, authority, negotiated, task: tokio::spawn(serving) })
    }

    /// The base URL of requests: `https://127.0.0.1:PORT/v1`.
    pub fn base_url(&self) -> String {
        format!("https://{}/v1", self.address)
    }

    /// The certificate of the authority, in PEM format.
    pub fn authority(&self) -> &str {
        &self.authority
    }

    /// The protocols of the connections so far.
    pub fn negotiated(&self) -> Vec<Protocol> {
        lock(&self.negotiated).clone()
    }
}

impl Drop for TlsServer {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// The settings of a server with a new certificate, and the certificate of its authority.
fn certified() -> anyhow::Result<(ServerConfig, String)> {
    let mut authority = CertificateParams::new([])?;
    authority.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let authority = CertifiedIssuer::self_signed(authority, KeyPair::generate()?)?;
    let key = KeyPair::generate()?;
    let server = CertificateParams::new([Ipv4Addr::LOCALHOST.to_string()])?;
    let certificate = server.signed_by(&key, &authority)?;
    let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(key.serialize_der()));
    let config = ServerConfig::builder()
        .with_no_client_auth()
        .with_single_cert(vec![certificate.der().clone()], key)?;
    Ok((config, authority.pem()))
}

/// The part of the server that each connection needs.
#[derive(Clone)]
struct Front {
    acceptor: TlsAcceptor,
    server: SocketAddr,
    negotiated: Arc<Mutex<Vec<Protocol>>>,
}

impl Front {
    /// Passes all bytes of a connection on. A disconnect of either side is not an error.
    async fn pass_on(self, stream: TcpStream) -> anyhow::Result<()> {
        stream.set_nodelay(true)?;
        let mut client = self.acceptor.accept(stream).await.context("the client ended TLS")?;
        let is_http2 = client.get_ref().1.alpn_protocol() == Some(Protocol::Http2.name());
        let protocol = if is_http2 { Protocol::Http2 } else { Protocol::Http1 };
        lock(&self.negotiated).push(protocol);
        let mut server = TcpStream::connect(self.server).await?;
        server.set_nodelay(true)?;
        copy_bidirectional(&mut client, &mut server).await?;
        Ok(())
    }
}

fn lock(negotiated: &Mutex<Vec<Protocol>>) -> MutexGuard<'_, Vec<Protocol>> {
    negotiated.lock().unwrap_or_else(PoisonError::into_inner)
}
