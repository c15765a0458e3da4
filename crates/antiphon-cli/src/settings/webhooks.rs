//! The webhook endpoints of the file, for the outcomes of background responses.

use antiphon_gateway::settings::{Allowed, Settings, SigningSecret, Webhook, WebhookEvent};
use antiphon_gateway::tenant_flaw;
use antiphon_store::Tenant;

use super::file::Table;
use super::parse;
use super::setting::{Form, Setting, TEXT, apply, settings};
use super::values::Value;
use crate::failure::Failure;

const TENANTS: (Form, &str) = (LIST, "a list of tenants");
const EVENTS: (Form, &str) = (
    LIST,
    "a list of response.completed, response.failed, response.incomplete and response.cancelled",
);
const DESTINATIONS: (Form, &str) =
    (LIST, "a list of networks, addresses and hosts, such as [\"10.0.0.0/8\", \"hooks.internal\"]");
const LIST: Form = Form::List { may_be_empty: false };

/// The keys below `[[webhooks]]`.
pub(super) fn settings() -> Vec<Setting<Webhook>> {
    settings! { Webhook;
        "url": TEXT;
        "secret": TEXT;
        "secret-env": TEXT;
        "tenants": TENANTS, |value| Ok(Tenant::new(value.untrimmed()))
            => |it, tenant| it.tenants.push(tenant);
        "events": EVENTS, event => |it, event| it.events.push(event);
        "allow": DESTINATIONS, destination => |it, allowed| it.allow.push(allowed);
    }
}

fn event(value: &Value) -> Result<WebhookEvent, Failure> {
    let event = WebhookEvent::ALL.into_iter().find(|event| event.name() == value.untrimmed());
    event.ok_or_else(|| value.unexpected(EVENTS.1))
}

fn destination(value: &Value) -> Result<Allowed, Failure> {
    Allowed::parse(value.untrimmed()).ok_or_else(|| value.unexpected(DESTINATIONS.1))
}

/// Parses the endpoints. Rejects a tenant that cannot exist under these settings.
pub(super) fn webhooks(tables: &[Table], settings: &Settings) -> Result<Vec<Webhook>, Failure> {
    let mut webhooks: Vec<Webhook> = Vec::with_capacity(tables.len());
    for table in tables {
        let webhook = webhook(table)?;
        if webhooks.iter().any(|other| other.url == webhook.url) {
            return Err(table.refused("another webhook has the same url"));
        }
        for (tenant, value) in webhook.tenants.iter().zip(table.values.all("tenants")) {
            tenant_flaw(settings, tenant).map_or(Ok(()), |flaw| Err(value.refused(flaw)))?;
        }
        webhooks.push(webhook);
    }
    Ok(webhooks)
}

fn webhook(table: &Table) -> Result<Webhook, Failure> {
    let url = table.required("url")?;
    let mut webhook = Webhook::new(parse::url(url)?, secret(table.required("secret")?)?);
    apply(&settings(), &table.values, &mut webhook)?;
    webhook.flaw().map_or(Ok(webhook), |flaw| Err(url.refused(flaw)))
}

fn secret(value: &Value) -> Result<SigningSecret, Failure> {
    SigningSecret::parse(value.text())
        .ok_or_else(|| value.refused("this is not whsec_ and then 24 to 64 bytes in base64"))
}
