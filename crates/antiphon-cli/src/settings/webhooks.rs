//! The webhook endpoints of the file, for the outcomes of background responses.

use antiphon_gateway::settings::{Allowed, Settings, SigningSecret, Webhook, WebhookEvent};
use antiphon_gateway::tenant_flaw;
use antiphon_store::Tenant;

use super::file::Table;
use super::parse;
use super::setting::{self, Form, apply};
use super::values::Value;
use crate::failure::Failure;

type Setting = setting::Setting<Webhook>;

/// The keys below `[[webhooks]]`.
pub(super) fn settings() -> Vec<Setting> {
    vec![
        Setting::unparsed("url"),
        Setting::unparsed("secret"),
        Setting::unparsed("secret-env"),
        list(
            "tenants",
            "a list of tenants",
            |name| Some(Tenant::new(name)),
            |it, tenant| {
                it.tenants.push(tenant);
            },
        ),
        list("events", EVENTS, event, |it, event| it.events.push(event)),
        list("allow", DESTINATIONS, Allowed::parse, |it, allowed| it.allow.push(allowed)),
    ]
}

const EVENTS: &str =
    "a list of response.completed, response.failed, response.incomplete and response.cancelled";
const DESTINATIONS: &str =
    "a list of networks, addresses and hosts, as [\"10.0.0.0/8\", \"hooks.internal\"]";

fn list<T: 'static>(
    key: &'static str,
    expected: &'static str,
    parse: fn(&str) -> Option<T>,
    set: fn(&mut Webhook, T),
) -> Setting {
    let parse =
        move |value: &Value| parse(value.untrimmed()).ok_or_else(|| value.unexpected(expected));
    Setting::new(key, (Form::List { may_be_empty: false }, expected), parse, set)
}

fn event(name: &str) -> Option<WebhookEvent> {
    WebhookEvent::ALL.into_iter().find(|event| event.name() == name)
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
        .ok_or_else(|| value.refused("this is not whsec_ and 24 to 64 bytes as base64"))
}
