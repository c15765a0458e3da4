//! The addresses that webhooks may connect to.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use crate::settings::{Allowed, Webhook};

/// The permitted addresses of an endpoint's host.
#[derive(Clone, Debug)]
pub(super) struct AddressGuard {
    networks: Vec<(IpAddr, u8)>,
    /// Whether all public addresses are permitted: the URL has the scheme `https`.
    public: bool,
    /// Whether the host itself is permitted, with any address.
    host: bool,
}

impl AddressGuard {
    /// The guard of an endpoint.
    pub(super) fn new(webhook: &Webhook) -> Self {
        let named = webhook.url.host().unwrap_or_default().to_ascii_lowercase();
        let is_it = |allowed: &Allowed| matches!(allowed, Allowed::Host(host) if *host == named);
        let network = |allowed: &Allowed| match allowed {
            Allowed::Network(address, bits) => Some((*address, *bits)),
            Allowed::Host(_) => None,
        };
        Self {
            networks: webhook.allow.iter().filter_map(network).collect(),
            public: webhook.url.scheme_str() == Some("https"),
            host: webhook.allow.iter().any(is_it),
        }
    }

    /// Whether a connection to this address is permitted.
    pub(super) fn permits(&self, address: IpAddr) -> bool {
        let address = address.to_canonical();
        let is_in = |(network, bits): &(IpAddr, u8)| shares(*network, address, *bits);
        self.host || self.networks.iter().any(is_in) || self.public && is_public(address)
    }
}

/// Whether both addresses have the same first `bits`.
fn shares(network: IpAddr, address: IpAddr, bits: u8) -> bool {
    let (network, address, width) = match (network, address) {
        (IpAddr::V4(one), IpAddr::V4(two)) => (one.to_bits().into(), two.to_bits().into(), 32),
        (IpAddr::V6(one), IpAddr::V6(two)) => (one.to_bits(), two.to_bits(), 128),
        _ => return false,
    };
    let differing: u128 = network ^ address;
    differing.checked_shr(width - u32::from(bits)).unwrap_or(0) == 0
}

/// Whether the address is on the public Internet. Source: IANA's special-purpose address
/// registries.
fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => !is_special(address),
        IpAddr::V6(address) => is_global(address),
    }
}

fn is_special(address: Ipv4Addr) -> bool {
    SPECIAL.iter().any(|(network, bits)| shares((*network).into(), address.into(), *bits))
}

/// The IPv4 networks that are not part of the public Internet.
const SPECIAL: [(Ipv4Addr, u8); 16] = [
    // This network, private networks, and carrier-grade NAT.
    (Ipv4Addr::UNSPECIFIED, 8),
    (Ipv4Addr::new(10, 0, 0, 0), 8),
    (Ipv4Addr::new(100, 64, 0, 0), 10),
    (Ipv4Addr::new(172, 16, 0, 0), 12),
    (Ipv4Addr::new(192, 168, 0, 0), 16),
    // Loopback, and link-local, which includes the metadata services of clouds.
    (Ipv4Addr::new(127, 0, 0, 0), 8),
    (Ipv4Addr::new(169, 254, 0, 0), 16),
    // Protocol assignments, documentation, benchmarks and relays.
    (Ipv4Addr::new(192, 0, 0, 0), 24),
    (Ipv4Addr::new(192, 0, 2, 0), 24),
    (Ipv4Addr::new(192, 31, 196, 0), 24),
    (Ipv4Addr::new(192, 88, 99, 0), 24),
    (Ipv4Addr::new(198, 18, 0, 0), 15),
    (Ipv4Addr::new(198, 51, 100, 0), 24),
    (Ipv4Addr::new(203, 0, 113, 0), 24),
    // Multicast, and reserved addresses.
    (Ipv4Addr::new(224, 0, 0, 0), 4),
    (Ipv4Addr::new(240, 0, 0, 0), 4),
];

/// In IPv6, global unicast is `2000::/3`. This excludes the protocol assignments within it (such as
/// Teredo), the documentation networks, and 6to4, which maps to IPv4 addresses. All other networks
/// are local or special: loopback, link-local, unique local, multicast, and mapped IPv4 addresses.
fn is_global(address: Ipv6Addr) -> bool {
    let within = |network: Ipv6Addr, bits| shares(network.into(), address.into(), bits);
    let excluded = [
        (Ipv6Addr::new(0x2001, 0, 0, 0, 0, 0, 0, 0), 23),
        (Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 0), 32),
        (Ipv6Addr::new(0x2002, 0, 0, 0, 0, 0, 0, 0), 16),
        (Ipv6Addr::new(0x3fff, 0, 0, 0, 0, 0, 0, 0), 20),
    ];
    within(Ipv6Addr::new(0x2000, 0, 0, 0, 0, 0, 0, 0), 3)
        && !excluded.into_iter().any(|(network, bits)| within(network, bits))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::SigningSecret;

    fn guard(url: &str, allow: &[&str]) -> AddressGuard {
        let secret = SigningSecret::parse("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw").unwrap();
        let mut webhook = Webhook::new(url.parse().unwrap(), secret);
        webhook.allow = allow.iter().map(|text| Allowed::parse(text).unwrap()).collect();
        AddressGuard::new(&webhook)
    }

    fn permits(guard: &AddressGuard, address: &str) -> bool {
        guard.permits(address.parse().unwrap())
    }

    #[test]
    fn public_addresses_are_reached_and_no_others() {
        let guard = guard("https://hooks.example/", &[]);
        for public in ["93.184.216.34", "1.1.1.1", "2606:4700::1111", "100.128.0.1", "172.32.0.1"] {
            assert!(permits(&guard, public), "{public}");
        }
        for inside in [
            "0.0.0.0",
            "0.1.2.3",
            "10.1.2.3",
            "100.64.0.1",
            "100.127.255.255",
            "127.0.0.1",
            "127.255.0.1",
            "169.254.169.254",
            "172.16.0.1",
            "172.31.255.255",
            "192.0.0.8",
            "192.168.1.1",
            "198.19.0.1",
            "203.0.113.9",
            "224.0.0.1",
            "239.1.1.1",
            "240.0.0.1",
            "255.255.255.255",
            "::",
            "::1",
            "::ffff:10.0.0.1",
            "::ffff:127.0.0.1",
            "::127.0.0.1",
            "64:ff9b::7f00:1",
            "fc00::1",
            "fd00:ec2::254",
            "fe80::1",
            "fec0::1",
            "ff02::1",
            "2001::1",
            "2001:db8::1",
            "2002:7f00:1::",
        ] {
            assert!(!permits(&guard, inside), "{inside}");
        }
        assert!(permits(&guard, "::ffff:93.184.216.34"), "it is one of version 4");
    }

    #[test]
    fn allowed_networks_are_reached() {
        let guard = guard("https://hooks.example/", &["10.0.0.0/8", "fd00::/8", "192.168.7.7"]);
        for inside in ["10.9.8.7", "::ffff:10.9.8.7", "fdff::1", "192.168.7.7"] {
            assert!(permits(&guard, inside), "{inside}");
        }
        for other in ["11.0.0.1x", "192.168.7.8", "fc00::1", "127.0.0.1"] {
            let other = other.trim_end_matches('x');
            assert_eq!(permits(&guard, other), other == "11.0.0.1", "{other}");
        }
    }

    #[test]
    fn allowed_host_may_have_any_address() {
        let guard_of = |url| guard(url, &["hooks.internal"]);
        assert!(permits(&guard_of("http://Hooks.Internal/a"), "10.0.0.1"));
        assert!(!permits(&guard_of("https://other.internal/"), "10.0.0.1"));
    }

    #[test]
    fn plain_http_reaches_only_allowed_addresses() {
        let guard = guard("http://hooks.example/", &["10.0.0.0/8"]);
        assert!(permits(&guard, "10.0.0.1"));
        assert!(!permits(&guard, "93.184.216.34"));
    }

    #[test]
    fn networks_of_any_width() {
        let shares = |one: &str, two: &str, bits| {
            super::shares(one.parse().unwrap(), two.parse().unwrap(), bits)
        };
        assert!(shares("0.0.0.0", "255.1.1.1", 0) && shares("::", "ff::", 0));
        assert!(shares("1.2.3.4", "1.2.3.4", 32) && !shares("1.2.3.4", "1.2.3.5", 32));
        assert!(shares("fd00::1", "fd00::1", 128) && !shares("fd00::1", "fd00::2", 128));
        assert!(!shares("0.0.0.0", "::", 0));
    }
}
