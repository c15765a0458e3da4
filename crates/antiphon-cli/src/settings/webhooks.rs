//! The webhook endpoints of the file, for the outcomes of background responses.
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
//! `url` and either `secret` or `secret-env` are required. The secret is `whsec_` and 24 to 64
//! bytes in base64, as in Standard Webhooks. Without `tenants`, an endpoint receives the events of
//! all tenants; without `events`, every kind of event. The gateway connects only by `https` and
//! only to public addresses, except for the networks, addresses and hosts in `allow`.

use antiphon_gateway::settings::{Allowed, Settings, SigningSecret, Webhook, WebhookEvent};
use antiphon_gateway::tenant_flaw;
use antiphon_store::Tenant;
use http::Uri;
use toml::Spanned;
use toml::de::DeValue;

use super::environment::Environment;
use super::file::Document;
use super::layer::Said;
use super::parse;
use super::table::{Form, Table};
use crate::failure::Failure;

const FORM: Form = Form {
    plural: "webhooks",
    one: "a webhook",
    keys: &["url", "secret", "secret-env", "tenants", "events", "allow"],
};

/// An endpoint, as its table describes it.
pub(super) struct FromTable {
    pub(super) webhook: Webhook,
    /// The place of its `tenants` key.
    tenants: Option<Said>,
}

/// Parses the `webhooks` of a file.
pub(super) fn webhooks(
    document: &Document<'_>,
    value: &Spanned<DeValue<'_>>,
    environment: &impl Environment,
) -> Result<Vec<FromTable>, Failure> {
    let mut webhooks: Vec<FromTable> = Vec::new();
    for table in FORM.tables(document, value)? {
        let webhook = webhook(&table, environment)?;
        if webhooks.iter().any(|other| other.webhook.url == webhook.url) {
            return Err(table.refused("another webhook has the same url"));
        }
        webhooks.push(FromTable { webhook, tenants: table.place("tenants") });
    }
    Ok(webhooks)
}

/// Returns the endpoints. Rejects an endpoint with a tenant that cannot exist under these settings.
pub(super) fn settle(tables: Vec<FromTable>, settings: &Settings) -> Result<Vec<Webhook>, Failure> {
    let settled = tables.into_iter().map(|FromTable { webhook, tenants }| {
        let flaw = webhook.tenants.iter().find_map(|tenant| tenant_flaw(settings, tenant));
        match (flaw, tenants) {
            (Some(flaw), Some(place)) => Err(place.refused(flaw)),
            _ => Ok(webhook),
        }
    });
    settled.collect()
}

fn webhook(table: &Table<'_>, environment: &impl Environment) -> Result<Webhook, Failure> {
    let url = table.text("url")?.ok_or_else(|| table.lacks("url"))?;
    let parsed: Uri = url.trimmed().parse().map_err(|_| url.refused("this is no URL"))?;
    if let Some(flaw) = parse::port_flaw(&parsed) {
        return Err(url.refused(flaw));
    }
    let mut webhook = Webhook::new(parsed, secret(table, environment)?);
    let tenants = table.list("tenants", "a list of tenants", |text| Some(Tenant::new(text)))?;
    webhook.tenants = tenants.unwrap_or_default();
    webhook.events = table.list("events", EVENTS, event)?.unwrap_or_default();
    webhook.allow = table.list("allow", ALLOW, Allowed::parse)?.unwrap_or_default();
    match webhook.flaw() {
        Some(flaw) => Err(url.refused(flaw)),
        None => Ok(webhook),
    }
}

fn secret(table: &Table<'_>, environment: &impl Environment) -> Result<SigningSecret, Failure> {
    let said = table.secret("secret", "secret-env", environment)?;
    let said = said.ok_or_else(|| table.lacks("secret"))?;
    SigningSecret::parse(said.trimmed())
        .ok_or_else(|| said.refused("this is not whsec_ and 24 to 64 bytes as base64"))
}

const EVENTS: &str = "a list of response.completed, response.failed, response.incomplete and \
                      response.cancelled";
const ALLOW: &str =
    "a list of networks, addresses and hosts, as [\"10.0.0.0/8\", \"hooks.internal\"]";

fn event(name: &str) -> Option<WebhookEvent> {
    WebhookEvent::ALL.into_iter().find(|event| event.name() == name)
}
