//! Webhook endpoints for background responses that have ended.

use std::net::IpAddr;

use antiphon_store::Tenant;
use http::Uri;

use super::SigningSecret;

/// An endpoint. The gateway connects only by `https` and only to public addresses, except for the
/// entries of `allow`.
#[derive(Clone, Debug)]
pub struct Webhook {
    /// The URL of the endpoint. No two endpoints share a URL.
    pub url: Uri,
    /// The key that signs the messages.
    pub secret: SigningSecret,
    /// The tenants whose responses cause a message. Empty: all tenants.
    pub tenants: Vec<Tenant>,
    /// The events that cause a message. Empty: all events.
    pub events: Vec<WebhookEvent>,
    /// Addresses and hosts that may be non-public and may use `http`.
    pub allow: Vec<Allowed>,
}

impl Webhook {
    /// The endpoint at `url`, for all events of all tenants.
    pub fn new(url: Uri, secret: SigningSecret) -> Self {
        Self { url, secret, tenants: Vec::new(), events: Vec::new(), allow: Vec::new() }
    }

    /// The reason for which the endpoint can never be reached, as a sentence.
    pub fn flaw(&self) -> Option<&'static str> {
        match (self.url.scheme_str(), self.url.host()) {
            (Some("https"), Some(_)) => None,
            (Some("http"), Some(_)) if !self.allow.is_empty() => None,
            (Some("http"), Some(_)) => {
                Some("a webhook's url must begin with https://, unless allow names its host")
            }
            _ => Some("a webhook's url must begin with https:// and name a host"),
        }
    }
}

/// The outcome of a response, as an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WebhookEvent {
    /// `response.completed`
    Completed,
    /// `response.failed`
    Failed,
    /// `response.incomplete`
    Incomplete,
    /// `response.cancelled`
    Cancelled,
}

impl WebhookEvent {
    /// All events.
    pub const ALL: [Self; 4] = [Self::Completed, Self::Failed, Self::Incomplete, Self::Cancelled];

    /// The event's type.
    pub fn name(self) -> &'static str {
        match self {
            Self::Completed => "response.completed",
            Self::Failed => "response.failed",
            Self::Incomplete => "response.incomplete",
            Self::Cancelled => "response.cancelled",
        }
    }
}

/// A non-public destination that is permitted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Allowed {
    /// The addresses that begin with these bits.
    Network(IpAddr, u8),
    /// The host with this name, at any address. The name must equal the one in the URL.
    Host(String),
}

impl Allowed {
    /// Parses `10.0.0.0/8`, `fd00::/8`, `192.168.0.7`, or a host name. Returns `None` for any other
    /// text.
    pub fn parse(text: &str) -> Option<Self> {
        if let Ok(address) = text.parse() {
            return Some(Self::Network(address, width(address)));
        }
        let Some((address, bits)) = text.split_once('/') else {
            let is_name = |byte: u8| byte.is_ascii_alphanumeric() || b"-._".contains(&byte);
            let is_host = !text.is_empty() && text.bytes().all(is_name);
            return is_host.then(|| Self::Host(text.to_ascii_lowercase()));
        };
        let (address, bits) = (address.parse().ok()?, bits.parse().ok()?);
        (bits <= width(address)).then_some(Self::Network(address, bits))
    }
}

fn width(address: IpAddr) -> u8 {
    if address.is_ipv4() { 32 } else { 128 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn networks_addresses_and_hosts_may_be_allowed() {
        let network = |address: &str, bits| Some(Allowed::Network(address.parse().unwrap(), bits));
        assert_eq!(Allowed::parse("10.0.0.0/8"), network("10.0.0.0", 8));
        assert_eq!(Allowed::parse("fd00::/8"), network("fd00::", 8));
        assert_eq!(Allowed::parse("192.168.0.7"), network("192.168.0.7", 32));
        assert_eq!(Allowed::parse("Hooks.internal"), Some(Allowed::Host("hooks.internal".into())));
        for wrong in ["", "10.0.0.0/33", "10.0.0/8", "a b", "https://hooks.internal"] {
            assert_eq!(Allowed::parse(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn plain_http_requires_an_allowed_address() {
        let secret = SigningSecret::parse("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw").unwrap();
        let at = |url: &str| Webhook::new(url.parse().unwrap(), secret.clone());
        assert_eq!(at("https://hooks.example/a").flaw(), None);
        assert!(at("http://hooks.example/a").flaw().is_some());
        assert!(at("ftp://hooks.example/a").flaw().is_some());
        assert!(at("/a").flaw().is_some());
        let allow = vec![Allowed::Host("hooks.internal".into())];
        assert_eq!(Webhook { allow, ..at("http://hooks.internal/") }.flaw(), None);
    }
}
