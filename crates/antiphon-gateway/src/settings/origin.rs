//! Origins of web pages that may use the gateway, and host names of the gateway.

use std::fmt;

use http::Uri;

/// The origin of a web page, in the form in which browsers send it: `https://app.example`,
/// `http://localhost:3000`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Origin(String);

impl Origin {
    /// Parses an origin: a scheme and a host, with or without a port. Returns `None` for any other
    /// text, and for `null`, which any page can have as its origin.
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.strip_suffix('/').unwrap_or(text).to_ascii_lowercase();
        let (scheme, authority) = text.split_once("://")?;
        let default_port = match scheme {
            "http" => ":80",
            "https" => ":443",
            _ => "",
        };
        let uri = format!("http://{authority}").parse::<Uri>().ok()?;
        let is_plain = uri.authority().is_some_and(|parsed| parsed.as_str() == authority)
            && !authority.contains(['@', '*'])
            && is_scheme(scheme);
        let authority = match default_port {
            "" => authority,
            port => authority.strip_suffix(port).unwrap_or(authority),
        };
        is_plain.then(|| Self(format!("{scheme}://{authority}")))
    }

    /// The origin, in the form of browsers.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The host, without the port.
    pub(crate) fn host(&self) -> HostName {
        let authority = self.0.split_once("://").map_or("", |(_, authority)| authority);
        HostName(without_port(authority).to_owned())
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The name of a host, without a port.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostName(String);

impl HostName {
    /// Parses a name: letters, digits, hyphens, underscores and periods.
    pub fn parse(text: &str) -> Option<Self> {
        let name = text.strip_suffix('.').unwrap_or(text).to_ascii_lowercase();
        let is_known = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
        (!name.is_empty() && name.bytes().all(is_known)).then_some(Self(name))
    }

    /// The name, in lower case.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// The host of an authority. An `IPv6` address keeps its brackets.
pub(crate) fn without_port(authority: &str) -> &str {
    match authority.rsplit_once(':') {
        Some((host, port)) if !port.contains(']') => host,
        _ => authority,
    }
}

/// Whether `text` is a valid scheme. Source: RFC 3986, section 3.1.
fn is_scheme(text: &str) -> bool {
    let is_known = |byte: u8| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte);
    text.starts_with(|first: char| first.is_ascii_alphabetic()) && text.bytes().all(is_known)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn origins_are_parsed_as_browsers_write_them() {
        for (text, origin) in [
            ("https://app.example", "https://app.example"),
            ("HTTPS://App.Example:443/", "https://app.example"),
            ("http://localhost:3000", "http://localhost:3000"),
            ("http://[::1]:80", "http://[::1]"),
            ("chrome-extension://abcdef", "chrome-extension://abcdef"),
            ("tauri://localhost", "tauri://localhost"),
        ] {
            assert_eq!(Origin::parse(text).as_ref().map(Origin::as_str), Some(origin), "{text}");
        }
    }

    #[test]
    fn malformed_origins_are_rejected() {
        for text in
            ["", "null", "*", "app.example", "https://", "https://*.example", "https://a/b", "://a"]
        {
            assert_eq!(Origin::parse(text), None, "{text}");
        }
        assert_eq!(Origin::parse("https://user@app.example"), None);
    }

    #[test]
    fn host_of_an_origin_has_no_port() {
        for (text, host) in
            [("https://app.example:8443", "app.example"), ("http://[::1]:3000", "[::1]")]
        {
            assert_eq!(Origin::parse(text).map(|origin| origin.host().0).as_deref(), Some(host));
        }
    }

    #[test]
    fn host_name_with_a_port_is_rejected() {
        assert_eq!(
            HostName::parse("Host.Docker.Internal.").map(|name| name.0).as_deref(),
            Some("host.docker.internal")
        );
        assert_eq!(HostName::parse("antiphon:8484"), None);
        assert_eq!(HostName::parse(""), None);
    }
}
