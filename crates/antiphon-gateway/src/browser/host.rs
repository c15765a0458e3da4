//! The host in a request.

use std::net::IpAddr;

use http::{HeaderMap, header};

use crate::settings::{HostName, Settings, without_port};

/// Whether every `Host` header names this machine: by a loopback name, an IP address, or a name
/// that the operator allows. A request without the header is not from a browser.
pub(super) fn is_known(settings: &Settings, headers: &HeaderMap) -> bool {
    let mut hosts = headers.get_all(header::HOST).iter();
    hosts.all(|host| host.to_str().is_ok_and(|host| is_this_machine(host, settings)))
}

fn is_this_machine(authority: &str, settings: &Settings) -> bool {
    let host = without_port(authority).to_ascii_lowercase();
    let host = host.strip_suffix('.').unwrap_or(&host);
    let address = host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host);
    is_loopback_name(host) || address.parse::<IpAddr>().is_ok() || is_named(host, settings)
}

/// Whether browsers resolve the name to loopback themselves. Source: RFC 6761, section 6.3.
fn is_loopback_name(host: &str) -> bool {
    host == "localhost" || host.ends_with(".localhost")
}

fn is_named(host: &str, settings: &Settings) -> bool {
    let mut of_origins = settings.allowed_origins.iter().map(crate::settings::Origin::host);
    settings.allowed_hosts.iter().any(|name| name.as_str() == host)
        || of_origins.any(|name: HostName| name.as_str() == host)
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;
    use crate::settings::Origin;

    fn is_known_as(host: &'static str) -> bool {
        let settings = Settings {
            allowed_hosts: vec![HostName::parse("host.docker.internal").unwrap()],
            allowed_origins: vec![Origin::parse("https://app.example:8443").unwrap()],
            ..Settings::default()
        };
        let value = HeaderValue::from_static(host);
        is_known(&settings, &HeaderMap::from_iter([(header::HOST, value)]))
    }

    #[test]
    fn names_and_addresses_of_this_machine_are_known() {
        for host in [
            "127.0.0.1:8484",
            "localhost",
            "LocalHost:9000",
            "localhost.:8484",
            "gateway.localhost:8484",
            "[::1]:8484",
            "[::1]",
            "192.168.1.5:8484",
            "host.docker.internal:8484",
            "app.example",
        ] {
            assert!(is_known_as(host), "{host}");
        }
    }

    #[test]
    fn other_host_names_are_not_loopback() {
        for host in [
            "",
            "evil.example:8484",
            "localhost.evil.example",
            "127.0.0.1.evil.example",
            "notlocalhost",
            "evil.example:80@127.0.0.1",
            "app.example.evil",
            "[evil.example]",
        ] {
            assert!(!is_known_as(host), "{host}");
        }
    }

    #[test]
    fn both_of_two_hosts_must_be_known() {
        let hosts = ["localhost", "evil.example"].map(HeaderValue::from_static);
        let mut headers = HeaderMap::new();
        for host in hosts {
            headers.append(header::HOST, host);
        }
        assert!(!is_known(&Settings::default(), &headers));
    }
}
