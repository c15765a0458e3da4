//! Parsers for the texts of settings. An error repeats the text only if it cannot hold a secret.

use std::net::SocketAddr;
use std::num::NonZeroU32;
use std::str::FromStr;
use std::time::Duration;

use antiphon::dialect::UpstreamApi;
use antiphon::stream::Form;
use antiphon_gateway::settings::{
    Faults, HostName, Ledger, OnDisconnect, Origin, PassThrough, Preset, Secret, State,
};
use antiphon_store::OpenError;
use http::Uri;
use http::uri::Scheme;

use super::values::Value;
use crate::failure::Failure;

pub(super) fn listen(value: &Value) -> Result<SocketAddr, Failure> {
    let text = value.text();
    let port = text.rsplit_once(':').map_or("", |(_, port)| port);
    text.parse().map_err(|_| match is_above_ports(port) {
        true => value.refused(format!("port {port} does not exist; ports are 0 to {}", u16::MAX)),
        false => value
            .refused(format!("'{text}' is not an IP address with a port, as 127.0.0.1:8484 is")),
    })
}

fn is_above_ports(digits: &str) -> bool {
    let are_digits = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    are_digits && digits.parse::<u16>().is_err()
}

/// The reason for which nobody can connect to the port of a URL. The URL type accepts any digits,
/// and a client would replace a port that does not exist by the default of the scheme.
pub(super) fn port_flaw(url: &Uri) -> Option<String> {
    let authority = url.authority()?.as_str();
    let (_, address) = authority.rsplit_once('@').unwrap_or(("", authority));
    let port = address.strip_prefix(url.host()?)?.strip_prefix(':')?;
    let exists = port.parse::<u16>().is_ok_and(|port| port > 0);
    (!exists).then(|| match port {
        "" => "the URL has a colon and no port behind its host".to_owned(),
        port => format!("port {port} does not exist; ports are 1 to {}", u16::MAX),
    })
}

/// Parses the URL of a store. No error repeats the URL, since it may hold a password.
pub(super) fn store(value: &Value) -> Result<String, Failure> {
    let text = value.text();
    match antiphon_store::check(text) {
        Ok(()) => Ok(text.to_owned()),
        Err(OpenError::PostgresUrl(sentence)) => Err(value.refused(sentence)),
        Err(_) => {
            Err(value.refused("this names no store; give sqlite:PATH or postgres://USER@HOST/NAME"))
        }
    }
}

/// Parses the base URL of an upstream and removes a slash at its end. The Chat Completions API may
/// be under any path; the other APIs are under `/v1`.
pub(super) fn upstream(value: &Value, api: UpstreamApi) -> Result<Uri, Failure> {
    let text = value.text();
    let base = text.strip_suffix('/').unwrap_or(text);
    let uri = base.parse::<Uri>().ok();
    let (ends_well, path) = match api {
        UpstreamApi::Chat => (
            !base.ends_with('/') && !base.ends_with("/chat/completions"),
            "is the one before /chat/completions",
        ),
        UpstreamApi::Responses | UpstreamApi::Anthropic => {
            (uri.as_ref().is_some_and(|uri| uri.path().ends_with("/v1")), "ends in /v1")
        }
    };
    let uri = uri.filter(|uri| ends_well && is_base_url(uri) && !text.contains('#'));
    let uri = uri.ok_or_else(|| {
        value.refused(format!(
            "this is not an http or https URL whose path {path} and that holds no key"
        ))
    })?;
    match port_flaw(&uri) {
        Some(flaw) => Err(value.refused(flaw)),
        None => Ok(uri),
    }
}

fn is_base_url(uri: &Uri) -> bool {
    let scheme = uri.scheme();
    let is_plain = uri.query().is_none()
        && uri.host().is_some_and(|host| !host.is_empty())
        && uri.authority().is_some_and(|authority| !authority.as_str().contains('@'));
    (scheme == Some(&Scheme::HTTP) || scheme == Some(&Scheme::HTTPS)) && is_plain
}

/// Parses the origin of a web page.
pub(super) fn origin(value: &Value) -> Result<Origin, Failure> {
    let text = value.text();
    Origin::parse(text).ok_or_else(|| {
        value.refused(format!(
            "'{text}' is not the origin of a web page, as https://app.example and \
             http://localhost:3000 are; a wildcard or 'null' would let any page in"
        ))
    })
}

/// Parses a host name without a port.
pub(super) fn host_name(value: &Value) -> Result<HostName, Failure> {
    let text = value.text();
    HostName::parse(text).ok_or_else(|| {
        value.refused(format!("'{text}' is not a host name without a port, as gateway.internal is"))
    })
}

/// Parses the API of an upstream.
pub(super) fn upstream_api(value: &Value) -> Result<UpstreamApi, Failure> {
    one_of(value, &UpstreamApi::ALL.map(|api| (api.name(), api)))
}

pub(super) fn upstream_key(value: &Value) -> Result<Secret, Failure> {
    let text = value.text();
    match is_token(text) {
        true => Ok(Secret::new(text)),
        false => Err(value.refused(format!("the key {A_KEY}"))),
    }
}

pub(super) fn state(value: &Value) -> Result<State, Failure> {
    one_of(value, &[("antiphon", State::Here), ("upstream", State::Upstream)])
}

pub(super) fn ledger(value: &Value) -> Result<Ledger, Failure> {
    one_of(value, &[("heads", Ledger::Heads), ("bodies", Ledger::Bodies)])
}

pub(super) fn preset(value: &Value) -> Result<Preset, Failure> {
    let presets = [
        ("openai", Preset::OpenAi),
        ("azure", Preset::Azure),
        ("open-responses", Preset::OpenResponses),
    ];
    one_of(value, &presets)
}

pub(super) fn faults(value: &Value) -> Result<Faults, Failure> {
    one_of(value, &[("repair", Faults::Repair), ("reject", Faults::Reject)])
}

pub(super) fn on_disconnect(value: &Value) -> Result<OnDisconnect, Failure> {
    one_of(value, &[("settle", OnDisconnect::Settle), ("finish", OnDisconnect::Finish)])
}

pub(super) fn pass_through(value: &Value) -> Result<PassThrough, Failure> {
    let requests = [
        ("all", PassThrough::All),
        ("stateless", PassThrough::Stateless),
        ("none", PassThrough::Nothing),
    ];
    one_of(value, &requests)
}

pub(super) fn event_names(value: &Value) -> Result<Form, Failure> {
    form(value.text()).map_err(|sentence| value.refused(sentence))
}

/// Parses the naming scheme of events. The error is a sentence for the user.
pub(crate) fn form(name: &str) -> Result<Form, String> {
    find(name, &[("openai", Form::OpenAi), ("open-responses", Form::OpenResponses)])
}

pub(super) fn boolean(value: &Value) -> Result<bool, Failure> {
    one_of(value, &[("true", true), ("false", false)])
}

fn one_of<T: Copy>(value: &Value, choices: &[(&str, T)]) -> Result<T, Failure> {
    find(value.text(), choices).map_err(|sentence| value.refused(sentence))
}

fn find<T: Copy>(name: &str, choices: &[(&str, T)]) -> Result<T, String> {
    let found = choices.iter().find(|(known, _)| *known == name);
    found.map(|(_, choice)| *choice).ok_or_else(|| {
        let names: Vec<String> = choices.iter().map(|(name, _)| format!("'{name}'")).collect();
        match names.split_last() {
            Some((last, [first])) => format!("'{name}' is neither {first} nor {last}"),
            Some((last, first)) => format!("'{name}' is none of {} and {last}", first.join(", ")),
            None => format!("'{name}' is not permitted"),
        }
    })
}

pub(super) fn seconds(value: &Value) -> Result<Duration, Failure> {
    let text = value.text();
    let seconds: u32 = text
        .parse()
        .map_err(|_| value.refused(format!("'{text}' is not a whole number of seconds")))?;
    Ok(Duration::from_secs(seconds.into()))
}

/// Parses a retention period. `None` means without limit.
pub(super) fn retention(value: &Value) -> Result<Option<Duration>, Failure> {
    let text = value.text();
    if text == "never" {
        return Ok(None);
    }
    let days: u16 = text.parse().map_err(|_| {
        value.refused(format!("'{text}' is neither a whole number of days up to 65535 nor 'never'"))
    })?;
    Ok((days > 0).then(|| Duration::from_hours(24 * u64::from(days))))
}

/// Parses a number above zero.
pub(super) fn count<T: FromStr>(value: &Value) -> Result<T, Failure> {
    let text = value.text();
    text.parse().map_err(|_| value.refused(format!("'{text}' is not a whole number above 0")))
}

/// Parses a number of bytes or objects above zero.
pub(super) fn size(value: &Value) -> Result<usize, Failure> {
    count::<NonZeroU32>(value).map(|count| count.get() as usize)
}

/// Accepts any text.
#[expect(clippy::unnecessary_wraps, reason = "every setting has a parser of this type")]
pub(super) fn text(value: &Value) -> Result<String, Failure> {
    Ok(value.text().to_owned())
}

pub(super) fn is_token(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_graphic())
}

pub(super) const A_KEY: &str = "must be visible ASCII characters, without blanks";
