//! Parsers for the texts of settings. An error repeats the text only if it cannot hold a secret.

use std::net::SocketAddr;
use std::str::FromStr;
use std::time::Duration;

use antiphon::dialect::Dialect;
use antiphon::stream::Form;
use antiphon_gateway::settings::{
    Faults, HostName, Ledger, OnDisconnect, Origin, PassThrough, Preset, Secret, State,
};
use antiphon_store::OpenError;
use http::Uri;
use http::uri::Scheme;

use super::layer::Said;
use crate::failure::Failure;

pub(super) fn listen(said: &Said) -> Result<SocketAddr, Failure> {
    let text = said.trimmed();
    let port = text.rsplit_once(':').map_or("", |(_, port)| port);
    text.parse().map_err(|_| match is_above_ports(port) {
        true => said.refused(format!("port {port} does not exist; ports are 0 to {}", u16::MAX)),
        false => {
            said.refused(format!("'{text}' is not an IP address with a port, as 127.0.0.1:8484 is"))
        }
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
pub(super) fn store(said: &Said) -> Result<String, Failure> {
    let text = said.trimmed();
    match antiphon_store::check(text) {
        Ok(()) => Ok(text.to_owned()),
        Err(OpenError::PostgresUrl(sentence)) => Err(said.refused(sentence)),
        Err(_) => {
            Err(said.refused("this names no store; give sqlite:PATH or postgres://USER@HOST/NAME"))
        }
    }
}

/// Parses the base URL of an upstream and removes a slash at its end. The Chat Completions API may
/// be under any path; the other APIs are under `/v1`.
pub(super) fn upstream(said: &Said, api: Dialect) -> Result<Uri, Failure> {
    let text = said.trimmed();
    let base = text.strip_suffix('/').unwrap_or(text);
    let uri = base.parse::<Uri>().ok();
    let (ends_well, path) = match api {
        Dialect::Chat => (
            !base.ends_with('/') && !base.ends_with("/chat/completions"),
            "is the one before /chat/completions",
        ),
        _ => (uri.as_ref().is_some_and(|uri| uri.path().ends_with("/v1")), "ends in /v1"),
    };
    let uri = uri.filter(|uri| ends_well && is_base_url(uri) && !text.contains('#'));
    let uri = uri.ok_or_else(|| {
        said.refused(format!(
            "this is not an http or https URL whose path {path} and that holds no key"
        ))
    })?;
    match port_flaw(&uri) {
        Some(flaw) => Err(said.refused(flaw)),
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
pub(super) fn origin(said: &Said) -> Result<Origin, Failure> {
    let text = said.trimmed();
    Origin::parse(text).ok_or_else(|| {
        said.refused(format!(
            "'{text}' is not the origin of a web page, as https://app.example and \
             http://localhost:3000 are; a wildcard or 'null' would let any page in"
        ))
    })
}

/// Parses a host name without a port.
pub(super) fn host_name(said: &Said) -> Result<HostName, Failure> {
    let text = said.trimmed();
    HostName::parse(text).ok_or_else(|| {
        said.refused(format!("'{text}' is not a host name without a port, as gateway.internal is"))
    })
}

/// Parses the API of an upstream. The AI SDK is a dialect but not the API of a server.
pub(super) fn upstream_api(said: &Said) -> Result<Dialect, Failure> {
    match said.trimmed() {
        "responses" => Ok(Dialect::Responses),
        "chat" => Ok(Dialect::Chat),
        "anthropic" => Ok(Dialect::Anthropic),
        other => {
            Err(said.refused(format!("'{other}' is none of 'responses', 'chat' and 'anthropic'")))
        }
    }
}

pub(super) fn upstream_key(said: &Said) -> Result<Secret, Failure> {
    secret(said.trimmed()).ok_or_else(|| said.refused(format!("the key {A_KEY}")))
}

pub(super) fn state(said: &Said) -> Result<State, Failure> {
    match said.trimmed() {
        "antiphon" => Ok(State::Here),
        "upstream" => Ok(State::Upstream),
        other => Err(said.refused(format!("'{other}' is neither 'antiphon' nor 'upstream'"))),
    }
}

pub(super) fn ledger(said: &Said) -> Result<Ledger, Failure> {
    match said.trimmed() {
        "heads" => Ok(Ledger::Heads),
        "bodies" => Ok(Ledger::Bodies),
        other => Err(said.refused(format!("'{other}' is neither 'heads' nor 'bodies'"))),
    }
}

pub(super) fn preset(said: &Said) -> Result<Preset, Failure> {
    match said.trimmed() {
        "openai" => Ok(Preset::OpenAi),
        "azure" => Ok(Preset::Azure),
        "open-responses" => Ok(Preset::OpenResponses),
        other => {
            Err(said
                .refused(format!("'{other}' is none of 'openai', 'azure' and 'open-responses'")))
        }
    }
}

pub(super) fn faults(said: &Said) -> Result<Faults, Failure> {
    match said.trimmed() {
        "repair" => Ok(Faults::Repair),
        "reject" => Ok(Faults::Reject),
        other => Err(said.refused(format!("'{other}' is neither 'repair' nor 'reject'"))),
    }
}

pub(super) fn seconds(said: &Said) -> Result<Duration, Failure> {
    let text = said.trimmed();
    let seconds: u32 = text
        .parse()
        .map_err(|_| said.refused(format!("'{text}' is not a whole number of seconds")))?;
    Ok(Duration::from_secs(seconds.into()))
}

/// Parses a retention period. `None` means without limit.
pub(super) fn retention(said: &Said) -> Result<Option<Duration>, Failure> {
    let text = said.trimmed();
    if text == "never" {
        return Ok(None);
    }
    let days: u16 = text.parse().map_err(|_| {
        said.refused(format!("'{text}' is neither a whole number of days up to 65535 nor 'never'"))
    })?;
    Ok((days > 0).then(|| Duration::from_hours(24 * u64::from(days))))
}

/// Parses a number above zero.
pub(super) fn count<T: FromStr>(said: &Said) -> Result<T, Failure> {
    let text = said.trimmed();
    text.parse().map_err(|_| said.refused(format!("'{text}' is not a whole number above 0")))
}

pub(super) fn on_disconnect(said: &Said) -> Result<OnDisconnect, Failure> {
    match said.trimmed() {
        "settle" => Ok(OnDisconnect::Settle),
        "finish" => Ok(OnDisconnect::Finish),
        other => Err(said.refused(format!("'{other}' is neither 'settle' nor 'finish'"))),
    }
}

pub(super) fn pass_through(said: &Said) -> Result<PassThrough, Failure> {
    match said.trimmed() {
        "all" => Ok(PassThrough::All),
        "stateless" => Ok(PassThrough::Stateless),
        "none" => Ok(PassThrough::Nothing),
        other => Err(said.refused(format!("'{other}' is none of 'all', 'stateless' and 'none'"))),
    }
}

pub(super) fn event_names(said: &Said) -> Result<Form, Failure> {
    form(said.trimmed()).map_err(|sentence| said.refused(sentence))
}

/// Parses the naming scheme of events. The error is a sentence for the user.
pub(crate) fn form(name: &str) -> Result<Form, String> {
    match name {
        "openai" => Ok(Form::OpenAi),
        "open-responses" => Ok(Form::OpenResponses),
        other => Err(format!("'{other}' is neither 'openai' nor 'open-responses'")),
    }
}

/// A secret that is a valid bearer token.
fn secret(text: &str) -> Option<Secret> {
    is_token(text).then(|| Secret::new(text))
}

pub(super) fn is_token(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_graphic())
}

pub(super) const A_KEY: &str = "must be visible ASCII characters, without blanks";
