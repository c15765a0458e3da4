//! Parsers for the texts of settings. An error repeats a text only if it cannot hold a secret.

use std::fs;
use std::net::SocketAddr;
use std::num::NonZeroU32;
use std::str::FromStr;
use std::time::Duration;

use antiphon::dialect::UpstreamApi;
use antiphon::stream::Form as EventNames;
use antiphon_gateway::settings::{ApiKey, Authorities, HostName, KeyHash, Origin, Secret};
use antiphon_store::{OpenError, Tenant};
use http::uri::Scheme;
use http::{HeaderName, Uri};

use super::setting::{BOOLEAN, COUNT};
use super::values::Value;
use crate::failure::Failure;

/// A parser for one of these texts.
pub(super) fn one_of<T: Copy, const N: usize>(
    choices: [(&'static str, T); N],
) -> impl Fn(&Value) -> Result<T, Failure> {
    move |value| find(value.text(), &choices).map_err(|sentence| value.refused(sentence))
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

/// The names of [`EventNames`].
pub(super) const EVENT_NAMES: [(&str, EventNames); 2] =
    [("openai", EventNames::OpenAi), ("open-responses", EventNames::OpenResponses)];

/// Parses the naming scheme of events. The error is a sentence for the user.
pub(crate) fn parse_event_names(name: &str) -> Result<EventNames, String> {
    find(name, &EVENT_NAMES)
}

pub(super) fn boolean(value: &Value) -> Result<bool, Failure> {
    value.text().parse().map_err(|_| value.unexpected(BOOLEAN.1))
}

/// Parses a number above zero, which is the least value of `T`.
pub(super) fn count<T: FromStr>(value: &Value) -> Result<T, Failure> {
    value.text().parse().map_err(|_| value.unexpected(COUNT.1))
}

/// Parses a number of bytes or objects above zero.
pub(super) fn size(value: &Value) -> Result<usize, Failure> {
    count::<NonZeroU32>(value).map(|count| count.get() as usize)
}

/// Parses a number of seconds above zero.
pub(super) fn timeout(value: &Value) -> Result<Duration, Failure> {
    count::<NonZeroU32>(value).map(|seconds| Duration::from_secs(seconds.get().into()))
}

pub(super) fn seconds(value: &Value) -> Result<Duration, Failure> {
    let seconds = value.text().parse::<u32>();
    let seconds = seconds.map_err(|_| value.mismatch("a whole number of seconds"))?;
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

pub(super) fn listen(value: &Value) -> Result<SocketAddr, Failure> {
    let text = value.text();
    let port = text.rsplit_once(':').map_or("", |(_, port)| port);
    let is_number = !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit());
    text.parse().map_err(|_| match is_number && port.parse::<u16>().is_err() {
        true => value.refused(format!("port {port} does not exist; ports are 0 to {}", u16::MAX)),
        false => value.mismatch("an IP address with a port, such as 127.0.0.1:8484"),
    })
}

/// Parses the URL of a store. No error repeats the URL, since it may hold a password.
pub(super) fn store(value: &Value) -> Result<String, Failure> {
    let text = value.text();
    match antiphon_store::check(text) {
        Ok(()) => Ok(text.to_owned()),
        Err(OpenError::PostgresUrl(sentence)) => Err(value.refused(sentence)),
        Err(_) => Err(value.refused(
            "this is not the URL of a store; give sqlite:PATH or postgres://USER@HOST/NAME",
        )),
    }
}

/// Parses the base URL of an upstream and removes a slash at its end. The Chat Completions API may
/// be under any path; the other APIs are under `/v1`.
pub(super) fn base_url(value: &Value, api: UpstreamApi) -> Result<Uri, Failure> {
    let text = value.text();
    let base = text.strip_suffix('/').unwrap_or(text);
    let uri = base.parse::<Uri>().ok();
    let ends_well = match api {
        UpstreamApi::Chat => !base.ends_with('/') && !base.ends_with("/chat/completions"),
        UpstreamApi::Responses | UpstreamApi::Anthropic => {
            uri.as_ref().is_some_and(|uri| uri.path().ends_with("/v1"))
        }
    };
    let uri = uri.filter(|uri| ends_well && is_base_url(uri) && !text.contains('#'));
    let uri = uri.ok_or_else(|| {
        let (path, example) = expected_url(api);
        value.refused(format!(
            "this must be an http or https URL without a key, whose path {path}, such as {example}"
        ))
    })?;
    with_port(uri, value)
}

/// The path of a base URL for servers of this API, and an example.
fn expected_url(api: UpstreamApi) -> (&'static str, &'static str) {
    match api {
        UpstreamApi::Responses => ("ends in /v1", "https://api.openai.com/v1"),
        UpstreamApi::Anthropic => ("ends in /v1", "https://api.anthropic.com/v1"),
        UpstreamApi::Chat => ("is the one before /chat/completions", "http://127.0.0.1:11434/v1"),
    }
}

fn is_base_url(uri: &Uri) -> bool {
    let scheme = uri.scheme();
    let is_plain = uri.query().is_none()
        && uri.host().is_some_and(|host| !host.is_empty())
        && uri.authority().is_some_and(|authority| !authority.as_str().contains('@'));
    (scheme == Some(&Scheme::HTTP) || scheme == Some(&Scheme::HTTPS)) && is_plain
}

/// Parses any URL.
pub(super) fn url(value: &Value) -> Result<Uri, Failure> {
    with_port(
        value
            .text()
            .parse()
            .map_err(|_| value.refused("this is not a URL, such as https://host.example/path"))?,
        value,
    )
}

/// Rejects a URL to whose port nobody can connect. The URL type accepts any digits, and a client
/// would replace a port that does not exist by the default of the scheme.
fn with_port(url: Uri, value: &Value) -> Result<Uri, Failure> {
    match port(&url) {
        Some("") => Err(value.refused("the URL has a colon but no port after its host")),
        Some(port) if !port.parse::<u16>().is_ok_and(|port| port > 0) => {
            Err(value.refused(format!("port {port} does not exist; ports are 1 to {}", u16::MAX)))
        }
        _ => Ok(url),
    }
}

fn port(url: &Uri) -> Option<&str> {
    let authority = url.authority()?.as_str();
    let (_, address) = authority.rsplit_once('@').unwrap_or(("", authority));
    address.strip_prefix(url.host()?)?.strip_prefix(':')
}

pub(super) fn upstream_key(value: &Value) -> Result<Secret, Failure> {
    let text = value.text();
    match is_token(text) {
        true => Ok(Secret::new(text)),
        false => Err(value.refused(format!("the key {A_KEY}"))),
    }
}

/// Reads the certificates of a file. Its name is not repeated if it comes from the settings file.
pub(super) fn authorities(value: &Value) -> Result<Authorities, Failure> {
    let path = value.text();
    let file = value.key().map_or_else(|| format!("the file '{path}'"), |_| "the file".to_owned());
    let text =
        fs::read(path).map_err(|error| value.refused(format!("{file} cannot be read: {error}")))?;
    Authorities::from_pem(&text)
        .map_err(|error| value.refused(format!("{file} is unusable: {error}")))
}

fn is_token(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_graphic())
}

const A_KEY: &str = "must consist of visible ASCII characters, without spaces";

/// Parses `KEY=TENANT`. The last `=` separates the two: keys in base64 may end in `=`, and names of
/// tenants do not need it.
pub(super) fn api_key(value: &Value) -> Result<ApiKey, Failure> {
    let (key, tenant) = value
        .text()
        .rsplit_once('=')
        .filter(|(key, tenant)| !key.is_empty() && !tenant.is_empty())
        .ok_or_else(|| value.refused("an entry is not of the form KEY=TENANT"))?;
    if tenant.trim() != tenant {
        return Err(value.refused(format!("the tenant '{tenant}' begins or ends with a space")));
    }
    if antiphon_gateway::is_reserved(tenant) {
        return Err(value.refused(format!(
            "'{tenant}' is a name that the gateway gives to callers without a key; choose another"
        )));
    }
    let hash = key_hash(value, key, &format!(" of '{tenant}'"))?;
    Ok(ApiKey { hash, tenant: Tenant::new(tenant) })
}

pub(super) fn metrics_key(value: &Value) -> Result<KeyHash, Failure> {
    key_hash(value, value.text(), "")
}

/// The hash of a key that is given as such or as its hash. `owner` follows it in errors.
fn key_hash(value: &Value, key: &str, owner: &str) -> Result<KeyHash, Failure> {
    match KeyHash::has_prefix(key) {
        true => KeyHash::parse(key).ok_or_else(|| {
            value
                .refused(format!("the hash{owner} is not 'sha256:' and then 64 hexadecimal digits"))
        }),
        false if is_token(key) => Ok(KeyHash::from_key(key)),
        false => Err(value.refused(format!("the key{owner} {A_KEY}"))),
    }
}

/// Headers that hold a caller's token. As a tenant header, such a header would put tokens into the
/// store and the log.
const TOKEN_HEADERS: [&str; 5] =
    ["authorization", "proxy-authorization", "cookie", "x-api-key", "api-key"];

/// Parses the name of a header that can name tenants. Rejects headers that hold a token.
pub(super) fn tenant_header(value: &Value) -> Result<HeaderName, Failure> {
    let name = value.text().parse::<HeaderName>().ok();
    name.filter(|name| !TOKEN_HEADERS.contains(&name.as_str()))
        .ok_or_else(|| value.mismatch("a header that can name a tenant"))
}

/// Parses the origin of a web page.
pub(super) fn origin(value: &Value) -> Result<Origin, Failure> {
    Origin::parse(value.text()).ok_or_else(|| {
        value.mismatch(
            "the origin of a web page, such as https://app.example or http://localhost:3000; a \
             wildcard or 'null' would let any page in",
        )
    })
}

/// Parses a host name without a port.
pub(super) fn host_name(value: &Value) -> Result<HostName, Failure> {
    HostName::parse(value.text())
        .ok_or_else(|| value.mismatch("a host name without a port, such as gateway.internal"))
}

/// The minimum length of a secret, in characters.
const MIN_SECRET_LENGTH: usize = 16;

/// Parses a secret. Commas are rejected because they separate the secrets in the environment
/// variable.
pub(super) fn secret(value: &Value) -> Result<Secret, Failure> {
    let text = value.text();
    if text.chars().count() < MIN_SECRET_LENGTH || text.contains(',') {
        let sentence = format!("a secret has at least {MIN_SECRET_LENGTH} characters and no comma");
        return Err(value.refused(sentence));
    }
    Ok(Secret::new(text))
}
