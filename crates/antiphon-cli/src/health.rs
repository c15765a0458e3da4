//! `antiphon health`: asks a running gateway if it is ready.

use std::iter;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use antiphon_gateway::UpstreamClient;
use antiphon_gateway::settings::{Retries, UpstreamSettings};
use bytes::Bytes;
use clap::Args;
use http::{Request, StatusCode, Uri};

use crate::failure::Failure;
use crate::gateway_url::is_gateway_url;
use crate::serve;
use crate::settings::{self, SettingsArgs};

/// The time limit of the first answer of a gateway.
const TIMEOUT: Duration = Duration::from_secs(10);

/// The arguments of `health`.
#[derive(Args, Debug)]
pub(crate) struct HealthArgs {
    /// URL of the gateway [default: the address of the settings, on this machine]
    #[arg(long, value_name = "URL", conflicts_with = "config")]
    url: Option<String>,
    /// Settings file [default: antiphon.toml, if it exists]
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
}

/// Succeeds if the gateway answers `GET /readyz` with status 200: it can store turns.
pub(crate) fn health(args: HealthArgs) -> Result<ExitCode, Failure> {
    let (base, uri) = match &args.url {
        Some(url) => parse_url(url)?,
        None => parse_url(&format!("http://{}", configured_address(args.config)?))?,
    };
    match serve::runtime()?.block_on(status_of(&base, uri, "/readyz")) {
        Ok(StatusCode::OK) => Ok(ExitCode::SUCCESS),
        Ok(status) => Err(Failure::runtime(format!(
            "the gateway at {base} is not ready: it answers /readyz with {status}"
        ))),
        Err(reason) => Err(Failure::runtime(format!("no gateway answers at {base}: {reason}"))),
    }
}

/// The base URL of a gateway without `/v1`, as text and parsed. It is the value of an option
/// `--url`.
pub(crate) fn parse_url(url: &str) -> Result<(String, Uri), Failure> {
    let base = url.trim_end_matches('/').trim_end_matches("/v1").to_owned();
    match base.parse::<Uri>().ok().filter(is_gateway_url) {
        Some(uri) => Ok((base, uri)),
        None => Err(Failure::usage(
            "--url: give the http or https URL of a gateway, such as http://127.0.0.1:8484",
        )),
    }
}

/// The status with which the gateway answers a GET request. An error is the reason for no answer.
pub(crate) async fn status_of(base: &str, uri: Uri, path: &str) -> Result<StatusCode, String> {
    let settings = UpstreamSettings {
        connect_timeout: TIMEOUT,
        first_byte_timeout: TIMEOUT,
        total_timeout: TIMEOUT,
        retries: Retries::none(),
        ..UpstreamSettings::new(uri, None)
    };
    let request = Request::get(format!("{base}{path}")).body(Bytes::new());
    let request = request.map_err(|error| error.to_string())?;
    let answer = UpstreamClient::new(settings).send(request).await;
    answer.map(|answer| answer.status())
}

fn configured_address(config: Option<PathBuf>) -> Result<SocketAddr, Failure> {
    let names = settings::variable_names();
    let args = SettingsArgs::from_options(config, iter::empty());
    let listen = settings::resolve(args, settings::environment, &names)?.listen;
    Ok(reachable(listen))
}

/// The address that reaches a listener from the same machine.
pub(crate) fn reachable(listen: SocketAddr) -> SocketAddr {
    let ip = match listen.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => Ipv4Addr::LOCALHOST.into(),
        IpAddr::V6(ip) if ip.is_unspecified() => Ipv6Addr::LOCALHOST.into(),
        ip => ip,
    };
    SocketAddr::new(ip, listen.port())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unspecified_address_is_reached_at_loopback() {
        let reached = |text: &str| reachable(text.parse().unwrap()).to_string();
        assert_eq!(reached("0.0.0.0:8484"), "127.0.0.1:8484");
        assert_eq!(reached("[::]:1"), "[::1]:1");
        assert_eq!(reached("192.0.2.7:80"), "192.0.2.7:80");
    }
}
