//! The greeting that `serve` prints at startup.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use antiphon_gateway::settings::Settings;
use http::{HeaderName, Uri};

use crate::state_owners::StateOwners;

/// A first request to the gateway, in curl and in Python, ready to paste.
pub(crate) struct Greeting {
    /// The address on which the gateway listens.
    pub(crate) address: SocketAddr,
    /// The credentials that a request needs.
    pub(crate) credentials: Credentials,
    /// The owners of new conversations and responses.
    pub(crate) state_owners: StateOwners,
    /// The store, without a password.
    pub(crate) store: String,
    /// Whether this address serves the inspector.
    pub(crate) has_inspector: bool,
}

/// The credentials that identify a caller.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Credentials {
    /// Any token, or none.
    Anything,
    /// An API key of the gateway or of an upstream. The examples read it from `OPENAI_API_KEY`, so
    /// the greeting never contains a key.
    Key,
    /// This header, which the proxy in front of the gateway sets.
    Header(HeaderName),
}

impl Credentials {
    pub(crate) fn from_settings(settings: &Settings, state_owners: &StateOwners) -> Self {
        let owner = state_owners.of_new_conversations.as_ref();
        let is_forwarded = owner.is_some_and(|owner| owner.receives_tokens);
        match &settings.tenant_header {
            Some(name) => Self::Header(name.clone()),
            None if settings.api_keys.is_empty() && !is_forwarded => Self::Anything,
            None => Self::Key,
        }
    }

    /// The additional option for curl.
    fn to_curl(&self) -> String {
        match self {
            Self::Anything => String::new(),
            Self::Key => " \\\n    -H \"Authorization: Bearer $OPENAI_API_KEY\"".to_owned(),
            Self::Header(name) => format!(" \\\n    -H '{name}: me'"),
        }
    }

    /// The additional arguments for Python's client.
    fn to_python(&self) -> String {
        match self {
            Self::Anything => ", api_key=\"any\"".to_owned(),
            Self::Key => String::new(),
            Self::Header(name) => {
                format!(", api_key=\"any\", default_headers={{\"{name}\": \"me\"}}")
            }
        }
    }
}

/// The base URL for clients.
pub(crate) fn base_url(address: SocketAddr) -> String {
    format!("http://{address}/v1")
}

impl fmt::Display for Greeting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let address = reachable(self.address);
        let base_url = base_url(address);
        let inspector = match self.has_inspector {
            true => format!("\nInspector: http://{address}/inspect/"),
            false => String::new(),
        };
        let (header, argument) = (self.credentials.to_curl(), self.credentials.to_python());
        let (store, state_owners) = (&self.store, &self.state_owners);
        let (comment, metadata) = self.model_of_conversation();
        write!(
            f,
            "
Base URL: {base_url}{inspector}
Store: {store}
{state_owners}

Try it with curl:

  curl {base_url}/responses{header} \\
    -H 'Content-Type: application/json' \\
    -d '{{\"model\": \"sim\", \"input\": \"Hello\"}}'

or in Python:

  from openai import OpenAI

  client = OpenAI(base_url=\"{base_url}\"{argument})
{comment}  conversation = client.conversations.create({metadata})
  response = client.responses.create(
      model=\"sim\", conversation=conversation.id, input=\"Hello\"
  )
  print(response.output_text)
"
        )
    }
}

impl Greeting {
    /// A comment, and the argument for a conversation of the built-in model. Without the argument,
    /// an upstream may own the conversation; it does not serve that model.
    fn model_of_conversation(&self) -> (String, &'static str) {
        let Some(owner) = &self.state_owners.of_new_conversations else {
            return (String::new(), "");
        };
        let comment = format!(
            "  # For a model of {}: leave out the metadata, and name the model below.\n",
            owner.host
        );
        (comment, r#"metadata={"antiphon_model": "sim"}"#)
    }
}

/// The name of a store for people. Of a database, it has only the host and the name: its URL may
/// contain a password.
pub(crate) fn store_name(url: &str) -> String {
    match url {
        "sqlite::memory:" => "memory; conversations end with the gateway".to_owned(),
        _ if url.starts_with("sqlite:") => url.to_owned(),
        _ => {
            // In a password with a slash, the host would end too early.
            let is_clear = |uri: &Uri| !uri.path().contains('@');
            let uri = url.parse::<Uri>().ok().filter(is_clear).unwrap_or_default();
            let host = uri.host().unwrap_or("a server");
            let port = uri.port().map(|port| format!(":{port}")).unwrap_or_default();
            format!("PostgreSQL on {host}{port}, database {}", uri.path().trim_matches('/'))
                .trim_end_matches(", database ")
                .to_owned()
        }
    }
}

/// Replaces an unspecified address (`0.0.0.0`, `::`), to which nobody can connect, by loopback.
fn reachable(mut address: SocketAddr) -> SocketAddr {
    match address.ip() {
        IpAddr::V4(Ipv4Addr::UNSPECIFIED) => address.set_ip(Ipv4Addr::LOCALHOST.into()),
        IpAddr::V6(Ipv6Addr::UNSPECIFIED) => address.set_ip(Ipv6Addr::LOCALHOST.into()),
        _ => {}
    }
    address
}

#[cfg(test)]
mod tests {
    use antiphon_gateway::settings::{State, UpstreamSettings};

    use super::*;

    fn greeting(address: &str, credentials: Credentials) -> String {
        let address = address.parse().unwrap();
        let state_owners = StateOwners::default();
        let store = "sqlite:antiphon.db".to_owned();
        Greeting { address, credentials, state_owners, store, has_inspector: true }.to_string()
    }

    #[test]
    fn example_conversation_uses_a_model_of_its_upstream() {
        let url = "https://models.example/v1".parse().unwrap();
        let mut upstream = UpstreamSettings::new(url, None);
        upstream.state = State::Upstream;
        let settings = Settings { upstreams: vec![upstream], ..Settings::default() };
        let state_owners = StateOwners::from_settings(&settings);
        let credentials = Credentials::from_settings(&settings, &state_owners);
        let address = "127.0.0.1:8484".parse().unwrap();

        let store = store_name("sqlite::memory:");
        let greeting = Greeting { address, credentials, state_owners, store, has_inspector: false };
        let text = greeting.to_string();

        assert!(
            text.contains("\nmodels.example owns the conversations that begin with its models."),
            "{text}"
        );
        assert!(text.contains("conversations.create(metadata={\"antiphon_model\": \"sim\"})"));
        assert!(text.contains("  # For a model of models.example: leave out"), "{text}");
        assert!(text.contains("OpenAI(base_url=\"http://127.0.0.1:8484/v1\")"), "{text}");
    }

    #[test]
    fn example_without_keys_uses_any_token() {
        let text = greeting("127.0.0.1:8484", Credentials::Anything);
        assert!(text.contains("curl http://127.0.0.1:8484/v1/responses \\\n    -H 'Content-Type"));
        assert!(text.contains("OpenAI(base_url=\"http://127.0.0.1:8484/v1\", api_key=\"any\")"));
    }

    #[test]
    fn example_with_keys_reads_the_key_from_the_environment() {
        let text = greeting("127.0.0.1:8484", Credentials::Key);
        assert!(text.contains("-H \"Authorization: Bearer $OPENAI_API_KEY\" \\\n"));
        assert!(text.contains("OpenAI(base_url=\"http://127.0.0.1:8484/v1\")"));
    }

    #[test]
    fn example_behind_a_proxy_uses_its_header() {
        let text =
            greeting("127.0.0.1:8484", Credentials::Header(HeaderName::from_static("x-tenant")));
        assert!(text.contains("/v1/responses \\\n    -H 'x-tenant: me' \\\n"), "{text}");
        let argument = "api_key=\"any\", default_headers={\"x-tenant\": \"me\"})";
        assert!(text.contains(argument), "{text}");
    }

    #[test]
    fn inspector_has_its_own_address() {
        let text = greeting("0.0.0.0:80", Credentials::Anything);
        assert!(text.contains("\nInspector: http://127.0.0.1:80/inspect/\n"), "{text}");
    }

    #[test]
    fn store_has_its_name_but_no_password() {
        assert!(
            greeting("0.0.0.0:80", Credentials::Anything).contains("\nStore: sqlite:antiphon.db\n")
        );
        for (url, name) in [
            ("sqlite:/var/lib/a.db", "sqlite:/var/lib/a.db"),
            ("sqlite::memory:", "memory; conversations end with the gateway"),
            (
                "postgres://u:sesame@db.example:5433/a?x=y",
                "PostgreSQL on db.example:5433, database a",
            ),
            ("postgres://db.example/a?password=sesame", "PostgreSQL on db.example, database a"),
            ("postgres://u:ses ame/@db.example/a", "PostgreSQL on a server"),
            ("postgres://u:sesame@one,two/a", "PostgreSQL on one,two, database a"),
            ("postgres://u:1/sesame@db.example/a", "PostgreSQL on a server"),
        ] {
            assert_eq!(store_name(url), name, "{url}");
        }
    }

    #[test]
    fn wildcard_address_is_shown_as_loopback() {
        assert!(
            greeting("0.0.0.0:80", Credentials::Key)
                .contains("curl http://127.0.0.1:80/v1/responses")
        );
        assert!(
            greeting("[::]:80", Credentials::Key).contains("curl http://[::1]:80/v1/responses")
        );
    }
}
