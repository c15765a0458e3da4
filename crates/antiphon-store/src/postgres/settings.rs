//! The settings in a PostgreSQL URL.

use std::error::Error as _;
use std::path::PathBuf;
use std::time::Duration;

use percent_encoding::percent_decode_str;
use tokio_postgres::Config;
use tokio_postgres::config::SslMode;

use super::tls::Trust;

/// The default number of connections.
const POOL_MAX: usize = 16;
/// The default time limit to open a connection.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
/// The idle time after which TCP probes a connection.
const KEEPALIVE: Duration = Duration::from_secs(15);
/// The time that sent data may stay unacknowledged.
const UNACKNOWLEDGED: Duration = Duration::from_secs(20);

/// The server options of each connection. The URL's `options` follow them and take precedence.
///
/// Statements look up rows by keys, so the plan of a statement does not depend on its values. To
/// plan it again for each call takes the server longer than to run it, as most tables have 16
/// partitions.
const OPTIONS: &str = "-c statement_timeout=20s -c idle_in_transaction_session_timeout=60s \
                       -c synchronous_commit=on -c plan_cache_mode=force_generic_plan";

/// The settings of the connections.
///
/// The URL has libpq's form. `pool_max` is an addition: the number of connections for calls (the
/// heartbeat uses one more). `sslmode` is `disable`, `prefer` (the default), `require` or
/// `verify-full`. `sslrootcert` is the path of a file of PEM certificates, or `system` for the
/// authorities that browsers trust.
#[derive(Clone, Debug)]
pub(super) struct Settings {
    pub(super) config: Config,
    pub(super) trust: Trust,
    pub(super) pool_max: usize,
}

impl Settings {
    /// Parses the URL. The error is a sentence that repeats no part that may be secret.
    pub(super) fn parse(url: &str) -> Result<Self, String> {
        let (address, query) = url.split_once('?').unwrap_or((url, ""));
        let mut own = OwnParameters::default();
        let rest: Vec<&str> = query
            .split('&')
            .filter(|pair| !pair.is_empty())
            .map(|pair| own.take(pair).map(|taken| (!taken).then_some(pair)))
            .filter_map(Result::transpose)
            .collect::<Result<_, String>>()?;
        let url = format!("{address}?{}", rest.join("&"));
        let mut config: Config = url.parse().map_err(|error| not_understood(&error))?;
        own.apply(&mut config)?;
        Ok(Self { config, trust: own.trust()?, pool_max: own.pool_max.unwrap_or(POOL_MAX) })
    }
}

/// Describes an invalid value by the name of its parameter. The name of an unknown parameter is not
/// shown: it may be part of a password that contains a question mark.
fn not_understood(error: &tokio_postgres::Error) -> String {
    let cause = error.source().map(ToString::to_string).unwrap_or_default();
    if cause.starts_with("invalid value for option") {
        return format!("the store's URL is not valid: {cause}");
    }
    "the store's URL is not valid: expected postgres://USER:PASSWORD@HOST:PORT/DATABASE, with \
     special characters percent-encoded, and with libpq's parameters or pool_max"
        .into()
}

/// The parameters that this module parses itself.
#[derive(Debug, Default)]
struct OwnParameters {
    pool_max: Option<usize>,
    mode: Mode,
    root: Option<String>,
}

/// The supported values of libpq's `sslmode`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Mode {
    Disable,
    #[default]
    Prefer,
    Require,
    VerifyFull,
}

impl OwnParameters {
    /// Parses a parameter. Returns whether it is one of these.
    fn take(&mut self, pair: &str) -> Result<bool, String> {
        let pair = pair.split_once('=');
        let (name, value) = pair.ok_or("a parameter of the store's URL has no value")?;
        let value = percent_decode_str(value).decode_utf8_lossy();
        match name {
            "pool_max" => self.pool_max = Some(pool_max(&value)?),
            "sslmode" => self.mode = mode(&value)?,
            "sslrootcert" => self.root = Some(value.into_owned()),
            "sslcert" | "sslkey" => return Err("client certificates are not supported".into()),
            _ => return Ok(false),
        }
        Ok(true)
    }

    fn apply(&self, config: &mut Config) -> Result<(), String> {
        if config.get_hosts().is_empty() {
            return Err("the store's URL names no host".into());
        }
        config.ssl_mode(match self.mode {
            Mode::Disable => SslMode::Disable,
            Mode::Prefer => SslMode::Prefer,
            Mode::Require | Mode::VerifyFull => SslMode::Require,
        });
        let options = config.get_options().unwrap_or_default();
        config.options(format!("{OPTIONS} {options}").trim_end().to_owned());
        if config.get_connect_timeout().is_none() {
            config.connect_timeout(CONNECT_TIMEOUT);
        }
        if config.get_application_name().is_none() {
            config.application_name("antiphon");
        }
        config.keepalives_idle(KEEPALIVE).tcp_user_timeout(UNACKNOWLEDGED);
        Ok(())
    }

    /// As in libpq, `require` with a file of authorities also verifies the certificate.
    fn trust(&self) -> Result<Trust, String> {
        match (self.mode, self.root.as_deref()) {
            (Mode::VerifyFull, None | Some("system")) => Ok(Trust::PublicAuthorities),
            (Mode::VerifyFull | Mode::Require, Some(path)) if path != "system" => {
                Ok(Trust::File(PathBuf::from(path)))
            }
            (_, Some(_)) => Err("sslrootcert is used with sslmode=verify-full".into()),
            (_, None) => Ok(Trust::AnyCertificate),
        }
    }
}

fn pool_max(value: &str) -> Result<usize, String> {
    let number = value.parse().ok().filter(|number| (1..=1000).contains(number));
    number.ok_or_else(|| "pool_max is a number of connections from 1 to 1000".into())
}

fn mode(value: &str) -> Result<Mode, String> {
    match value {
        "disable" => Ok(Mode::Disable),
        "prefer" => Ok(Mode::Prefer),
        "require" => Ok(Mode::Require),
        "verify-full" => Ok(Mode::VerifyFull),
        "allow" | "verify-ca" => Err(format!(
            "sslmode={value} is not supported: give disable, prefer, require or verify-full"
        )),
        _ => Err("sslmode is disable, prefer, require or verify-full".into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const URL: &str = "postgres://alice:s3cret@db.example/antiphon";

    fn refusal(query: &str) -> String {
        let refusal = Settings::parse(&format!("{URL}?{query}")).unwrap_err();
        assert!(!refusal.contains("s3cret"), "{refusal}");
        refusal
    }

    #[test]
    fn plain_url_gets_default_limits() {
        let settings = Settings::parse(URL).unwrap();

        assert_eq!((settings.pool_max, settings.trust), (16, Trust::AnyCertificate));
        let config = settings.config;
        assert_eq!(config.get_ssl_mode(), SslMode::Prefer);
        assert_eq!(config.get_connect_timeout(), Some(&CONNECT_TIMEOUT));
        assert_eq!(config.get_options(), Some(OPTIONS));
    }

    #[test]
    fn url_parameters_precede_defaults() {
        let query = "pool_max=4&connect_timeout=2&options=-c%20search_path%3Dchats&sslmode=disable";
        let settings = Settings::parse(&format!("{URL}?{query}")).unwrap();

        assert_eq!(settings.pool_max, 4);
        let config = settings.config;
        assert_eq!(config.get_connect_timeout(), Some(&Duration::from_secs(2)));
        assert!(config.get_options().unwrap().ends_with(" -c search_path=chats"));
        assert_eq!(config.get_ssl_mode(), SslMode::Disable);
    }

    #[test]
    fn url_decides_certificate_verification() {
        let trust = |query: &str| Settings::parse(&format!("{URL}?{query}")).unwrap().trust;

        assert_eq!(trust("sslmode=require"), Trust::AnyCertificate);
        assert_eq!(trust("sslmode=verify-full"), Trust::PublicAuthorities);
        assert_eq!(trust("sslmode=verify-full&sslrootcert=system"), Trust::PublicAuthorities);
        let file = Trust::File("/etc/ca.pem".into());
        assert_eq!(trust("sslmode=verify-full&sslrootcert=%2Fetc%2Fca.pem"), file);
        assert_eq!(trust("sslmode=require&sslrootcert=/etc/ca.pem"), file);
    }

    #[test]
    fn unsupported_parameter_is_named_in_the_error() {
        for (query, named) in [
            ("sslmode=verify-ca", "verify-ca"),
            ("sslmode=allow", "allow"),
            ("sslmode=s3cret", "verify-full"),
            ("sslcert=/c.pem", "client certificates"),
            ("sslrootcert=/ca.pem", "sslrootcert"),
            ("pool_max=0", "from 1 to 1000"),
            ("pool_max=s3cret", "from 1 to 1000"),
            ("s3cret=blue", "percent-encoded"),
            ("s3cret", "has no value"),
            ("port=s3cret", "port"),
        ] {
            let refusal = refusal(query);
            assert!(refusal.contains(named), "{query}: {refusal}");
        }
        assert!(Settings::parse("postgres:///antiphon").unwrap_err().contains("no host"));
    }
}
