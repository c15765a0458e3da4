//! The addresses on which a gateway listens: whether each can be bound.

use std::io;
use std::net::{SocketAddr, TcpListener};

use http::StatusCode;

use super::finding::Finding;
use crate::health::{parse_url, reachable, status_of};
use crate::settings::Configuration;

/// Binds each address for a moment.
pub(super) async fn check(configuration: &Configuration) -> Vec<Finding> {
    let listen = configuration.listen;
    let mut findings = vec![match TcpListener::bind(listen) {
        Err(error) if is_in_use(&error) && is_gateway(listen).await => {
            Finding::ok("listen", format!("a gateway is running at {listen}"))
        }
        bound => finding("listen", listen, bound),
    }];
    if let Some(address) = configuration.metrics_listen {
        findings.push(finding("metrics-listen", address, TcpListener::bind(address)));
    }
    findings
}

fn finding(setting: &str, address: SocketAddr, bound: io::Result<TcpListener>) -> Finding {
    match bound {
        Ok(_) => Finding::ok(setting, format!("{address} is free")),
        Err(error) if is_in_use(&error) => {
            Finding::warning(setting, format!("another program listens on {address}")).next(
                format!(
                    "End that program (`ss -ltnp 'sport = :{port}'` shows it), or give another \
                     port in --{setting}.",
                    port = address.port()
                ),
            )
        }
        Err(error) => {
            let detail = format!("a gateway cannot listen on {address}: {error}");
            Finding::failed(setting, detail)
                .next(format!("Give an address of this machine, and a free port, in --{setting}."))
        }
    }
}

fn is_in_use(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::AddrInUse
}

/// The path of a page that only this gateway serves, without a key.
const OWN_PAGE: &str = "/faults/unanswered_call";

/// Whether a gateway answers at this address.
async fn is_gateway(listen: SocketAddr) -> bool {
    let url = format!("http://{}", reachable(listen));
    let Ok((base, uri)) = parse_url(&url) else { return false };
    status_of(&base, uri, OWN_PAGE).await == Ok(StatusCode::OK)
}
