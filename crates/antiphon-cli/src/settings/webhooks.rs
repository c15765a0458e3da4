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

use super::declaration::{Declaration, Form, NON_EMPTY_LIST, Setting, TEXT, settings};
use super::environment::Environment;
use super::parse;
use super::table::{Table, TableForm};
use super::values::Value;
use crate::failure::Failure;

settings! { KEYS:
    URL: Uri = Setting::new("url", TEXT, url);
    SECRET: SigningSecret = Setting::new("secret", TEXT, secret);
    SECRET_ENV: String = Setting::new("secret-env", TEXT, parse::text);
    TENANTS: Tenant = Setting::new("tenants", TENANT_NAMES, tenant);
    EVENTS: WebhookEvent = Setting::new("events", EVENT_NAMES, event);
    ALLOW: Allowed = Setting::new("allow", DESTINATIONS, allowed);
}

pub(super) static WEBHOOK: TableForm =
    TableForm { plural: "webhooks", one: "a webhook", keys: KEYS };

const TENANT_NAMES: (Form, &str) = (NON_EMPTY_LIST, "a list of tenants");
const EVENT_NAMES: (Form, &str) = (
    NON_EMPTY_LIST,
    "a list of response.completed, response.failed, response.incomplete and response.cancelled",
);
const DESTINATIONS: (Form, &str) = (
    NON_EMPTY_LIST,
    "a list of networks, addresses and hosts, as [\"10.0.0.0/8\", \"hooks.internal\"]",
);

/// Parses the endpoints. Rejects a tenant that cannot exist under these settings.
pub(super) fn webhooks(
    tables: &[Table],
    environment: &impl Environment,
    settings: &Settings,
) -> Result<Vec<Webhook>, Failure> {
    let mut webhooks: Vec<Webhook> = Vec::with_capacity(tables.len());
    for table in tables {
        let webhook = webhook(table, environment)?;
        if webhooks.iter().any(|other| other.url == webhook.url) {
            return Err(table.refused("another webhook has the same url"));
        }
        for (tenant, value) in webhook.tenants.iter().zip(table.values.all(&TENANTS)) {
            tenant_flaw(settings, tenant).map_or(Ok(()), |flaw| Err(value.refused(flaw)))?;
        }
        webhooks.push(webhook);
    }
    Ok(webhooks)
}

fn webhook(table: &Table, environment: &impl Environment) -> Result<Webhook, Failure> {
    let value = table.required(&URL)?;
    let secret = table.secret(&SECRET, &SECRET_ENV, environment)?;
    let mut webhook = Webhook::new(url(value)?, secret.ok_or_else(|| table.lacks(&SECRET))?);
    webhook.tenants = table.values.parse_all(&TENANTS)?;
    webhook.events = table.values.parse_all(&EVENTS)?;
    webhook.allow = table.values.parse_all(&ALLOW)?;
    match webhook.flaw() {
        Some(flaw) => Err(value.refused(flaw)),
        None => Ok(webhook),
    }
}

fn url(value: &Value) -> Result<Uri, Failure> {
    let url = value.text().parse().map_err(|_| value.refused("this is no URL"))?;
    match parse::port_flaw(&url) {
        Some(flaw) => Err(value.refused(flaw)),
        None => Ok(url),
    }
}

fn secret(value: &Value) -> Result<SigningSecret, Failure> {
    SigningSecret::parse(value.text())
        .ok_or_else(|| value.refused("this is not whsec_ and 24 to 64 bytes as base64"))
}

#[expect(clippy::unnecessary_wraps, reason = "every setting has a parser of this type")]
fn tenant(value: &Value) -> Result<Tenant, Failure> {
    Ok(Tenant::new(value.untrimmed()))
}

fn event(value: &Value) -> Result<WebhookEvent, Failure> {
    let event = WebhookEvent::ALL.into_iter().find(|event| event.name() == value.untrimmed());
    event.ok_or_else(|| EVENTS.unexpected(value))
}

fn allowed(value: &Value) -> Result<Allowed, Failure> {
    Allowed::parse(value.untrimmed()).ok_or_else(|| ALLOW.unexpected(value))
}
