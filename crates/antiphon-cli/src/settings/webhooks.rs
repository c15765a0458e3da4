//! The endpoints of the file that are told how background responses ended.
//!
//! ```toml
//! [[webhooks]]
//! url = "https://hooks.example/antiphon"
//! secret-env = "WEBHOOK_SECRET"
//! tenants = ["acme"]
//! events = ["response.completed", "response.failed"]
//! allow = ["10.0.0.0/8", "hooks.internal"]
//! ```
//!
//! `url` and `secret` or `secret-env` are needed: `whsec_` and 24 to 64 bytes as base64, as Standard
//! Webhooks has it. Without `tenants`, an endpoint is told of everybody's responses; without `events`, of
//! every end. It is reached by `https` and at public addresses only, but for what `allow` names: networks,
//! addresses and hosts.

use std::ops::Range;

use antiphon_gateway::settings::{Allowed, SigningSecret, Webhook, WebhookEvent};
use antiphon_store::Tenant;
use toml::Spanned;
use toml::de::{DeString, DeTable, DeValue};

use super::environment::Environment;
use super::file::Document;
use super::layer::Said;
use crate::failure::Failure;

const KEYS: [&str; 6] = ["url", "secret", "secret-env", "tenants", "events", "allow"];

/// What the `webhooks` of a file say.
pub(super) fn webhooks(
    document: &Document<'_>,
    value: &Spanned<DeValue<'_>>,
    environment: &impl Environment,
) -> Result<Vec<Webhook>, Failure> {
    let tables = value.get_ref().as_array().ok_or_else(|| {
        document.refused(Some(value.span()), "webhooks must be tables, each below [[webhooks]]")
    })?;
    let mut webhooks: Vec<Webhook> = Vec::new();
    for table in tables {
        let entries = table.get_ref().as_table().ok_or_else(|| {
            document.refused(Some(table.span()), "a webhook must be a table below [[webhooks]]")
        })?;
        let webhook = Entry { document, span: table.span(), entries }.webhook(environment)?;
        if webhooks.iter().any(|other| other.url == webhook.url) {
            return Err(document.refused(Some(table.span()), "another webhook has the same url"));
        }
        webhooks.push(webhook);
    }
    Ok(webhooks)
}

/// One table. Its refusals do not repeat URLs and secrets.
struct Entry<'a> {
    document: &'a Document<'a>,
    span: Range<usize>,
    entries: &'a DeTable<'a>,
}

impl Entry<'_> {
    fn webhook(&self, environment: &impl Environment) -> Result<Webhook, Failure> {
        self.has_known_keys_only()?;
        let url = self.text("url")?.ok_or_else(|| self.lacks("url"))?;
        let parsed = url.trimmed().parse();
        let parsed = parsed.map_err(|_| url.refused("this is no URL"))?;
        let mut webhook = Webhook::new(parsed, self.secret(environment)?);
        webhook.tenants =
            self.list("tenants", "a list of tenants", |text| Some(Tenant::new(text)))?;
        webhook.events = self.list("events", EVENTS, event)?;
        webhook.allow = self.list("allow", ALLOW, Allowed::parse)?;
        match webhook.flaw() {
            Some(flaw) => Err(url.refused(flaw)),
            None => Ok(webhook),
        }
    }

    fn secret(&self, environment: &impl Environment) -> Result<SigningSecret, Failure> {
        let said = match (self.text("secret")?, self.text("secret-env")?) {
            (Some(_), Some(named)) => {
                return Err(named.refused("a webhook has 'secret' or 'secret-env', not both"));
            }
            (None, None) => return Err(self.lacks("secret")),
            (Some(said), None) => said,
            (None, Some(named)) => {
                let name = named.trimmed();
                let text = environment(name)?
                    .ok_or_else(|| named.refused(format!("the variable {name} is not set")))?;
                Said { text, place: named.place }
            }
        };
        SigningSecret::parse(said.trimmed())
            .ok_or_else(|| said.refused("this is not whsec_ and 24 to 64 bytes as base64"))
    }

    fn has_known_keys_only(&self) -> Result<(), Failure> {
        let unknown = |key: &&Spanned<DeString<'_>>| !KEYS.contains(&&**key.get_ref());
        match self.entries.keys().find(unknown) {
            None => Ok(()),
            Some(key) => {
                let (name, known) = (key.get_ref(), KEYS.join(", "));
                let sentence = format!("unknown key '{name}'; a webhook's keys are {known}");
                Err(self.document.refused(Some(key.span()), &sentence))
            }
        }
    }

    fn text(&self, key: &'static str) -> Result<Option<Said>, Failure> {
        let Some(value) = self.value(key) else { return Ok(None) };
        match value.get_ref().as_str() {
            Some(text) => Ok(Some(self.document.said_at(key, value, text.to_owned()))),
            None => Err(self.wrong_type(key, "a string")),
        }
    }

    fn list<T>(
        &self,
        key: &'static str,
        expected: &str,
        parse: impl Fn(&str) -> Option<T>,
    ) -> Result<Vec<T>, Failure> {
        let Some(value) = self.value(key) else { return Ok(Vec::new()) };
        let texts = value.get_ref().as_array().filter(|texts| !texts.is_empty());
        let texts = texts.ok_or_else(|| self.wrong_type(key, expected))?;
        let parsed = texts.iter().map(|text| text.get_ref().as_str().and_then(&parse));
        parsed.collect::<Option<_>>().ok_or_else(|| self.wrong_type(key, expected))
    }

    fn value(&self, key: &str) -> Option<&Spanned<DeValue<'_>>> {
        let mut entries = self.entries.iter();
        entries.find(|(name, _)| name.get_ref() == key).map(|(_, value)| value)
    }

    fn wrong_type(&self, key: &str, expected: &str) -> Failure {
        let span = self.value(key).map(Spanned::span);
        self.document.refused(span, &format!("{key} must be {expected}"))
    }

    fn lacks(&self, key: &str) -> Failure {
        self.document.refused(Some(self.span.clone()), &format!("this webhook lacks '{key}'"))
    }
}

const EVENTS: &str = "a list of response.completed, response.failed, response.incomplete and \
                      response.cancelled";
const ALLOW: &str =
    "a list of networks, addresses and hosts, as [\"10.0.0.0/8\", \"hooks.internal\"]";

fn event(name: &str) -> Option<WebhookEvent> {
    WebhookEvent::ALL.into_iter().find(|event| event.name() == name)
}
