//! The settings at the top of the file and below `[limits]`, in the order of `--help`.

use antiphon_gateway::settings::{
    Faults, Ledger, Limits, OnDisconnect, PassThrough, Rate, Settings,
};

use super::parse::{self, EVENT_NAMES, count, one_of, size, timeout};
use super::setting::{self, COUNT, Form, TEXT};
use super::values::Value;
use crate::failure::Failure;

type Setting = setting::Setting<Settings>;

const LIST: Form = Form::List { may_be_empty: true };
const ONE_UPSTREAM: (Form, &str) =
    (Form::Text, "a string; several upstreams stand below [[upstreams]]");
const STRINGS: (Form, &str) = (LIST, "a list of strings");
const SECONDS: (Form, &str) = (Form::Integer, "a whole number of seconds");
const DAYS: (Form, &str) = (Form::IntegerOrText, "a whole number of days, or \"never\"");

/// All settings, except those of the tables `[[upstreams]]` and `[[webhooks]]`.
#[expect(clippy::too_many_lines, reason = "a table")]
pub(super) fn settings() -> Vec<Setting> {
    vec![
        Setting::unparsed("listen").flag(
            "ADDR",
            "IP address and port to listen on; port 0 selects a free port [default: \
             127.0.0.1:8484]",
        ),
        Setting::unparsed("store")
            .flag("URL", "URL of the store for conversations [default: sqlite:antiphon.db]"),
        Setting::new("upstream", ONE_UPSTREAM, |_| Ok(()), |_, ()| ())
            .flag("URL", "Base URL, ending in /v1, of the upstream for all models except `sim`"),
        Setting::unparsed("upstream-api")
            .flag("API", "API of the upstream: responses, chat or anthropic [default: responses]"),
        Setting::unparsed("upstream-key")
            .flag("KEY", "API key for the upstream; without it, callers' own tokens are forwarded"),
        Setting::unparsed("state").flag(
            "OWNER",
            "Owner of conversations, responses and their items: antiphon or upstream [default: \
             antiphon]",
        ),
        Setting::new(
            "ledger",
            TEXT,
            one_of([("heads", Ledger::Heads), ("bodies", Ledger::Bodies)]),
            |it, ledger| it.ledger = ledger,
        )
        .flag(
            "WHAT",
            "Stored part of each item that an upstream owns: heads or bodies [default: heads]",
        ),
        Setting::new(
            "faults",
            TEXT,
            one_of([("repair", Faults::Repair), ("reject", Faults::Reject)]),
            |it, faults| it.faults = faults,
        )
        .flag(
            "WAY",
            "Handling of input that a provider would reject: repair or reject [default: repair]",
        ),
        Setting::new(
            "api-keys",
            (LIST, "a list of \"KEY=TENANT\" strings"),
            parse::api_key,
            |it, key| it.api_keys.push(key),
        )
        .flag_named(
            "api-key",
            "KEY=TENANT",
            "API key for callers, or its hash (antiphon hash-key), and the tenant that it \
             identifies",
        ),
        Setting::new("tenant-header", TEXT, parse::tenant_header, |it, header| {
            it.tenant_header = Some(header);
        })
        .flag(
            "NAME",
            "Header in which a trusted proxy names the tenant; the proxy must not let callers set \
             it",
        ),
        Setting::new("allow-origins", STRINGS, parse::origin, |it, origin| {
            it.allowed_origins.push(origin);
        })
        .flag_named(
            "allow-origin",
            "ORIGIN",
            "Origin of a web page that may use the gateway: a scheme and a host",
        ),
        Setting::new("allow-hosts", STRINGS, parse::host_name, |it, name| {
            it.allowed_hosts.push(name);
        })
        .flag_named(
            "allow-host",
            "NAME",
            "Additional host name by which clients reach a gateway that listens on a loopback \
             address without API keys",
        ),
        Setting::new("secrets", STRINGS, parse::secret, |it, secret| it.secrets.push(secret))
            .flag_named(
                "secret",
                "SECRET",
                "Secret that encrypts the gateway's key in its store, 16 characters or more; to \
                 rotate it, give the new secret and then the old one",
            ),
        Setting::new("turn-wait", SECONDS, parse::seconds, |it, wait| it.turn_wait = wait).flag(
            "SECONDS",
            "Seconds that a turn waits for another open turn of its conversation [default: 30]",
        ),
        Setting::new(
            "on-disconnect",
            TEXT,
            one_of([("settle", OnDisconnect::Settle), ("finish", OnDisconnect::Finish)]),
            |it, handling| it.on_disconnect = handling,
        )
        .flag(
            "WAY",
            "Handling of a turn whose caller disconnects: settle or finish [default: settle]",
        ),
        Setting::new("event-names", TEXT, one_of(EVENT_NAMES), |it, names| it.event_names = names)
            .flag(
                "WHOSE",
                "Event names of raw reasoning: openai or open-responses [default: openai]",
            ),
        Setting::new("retention", DAYS, parse::retention, |it, time| it.retention = time).flag(
            "DAYS",
            "Days to store responses; 0 or never keeps them until deleted [default: 30]",
        ),
        Setting::new("shutdown-grace", SECONDS, parse::seconds, |it, time| {
            it.shutdown_grace = time;
        })
        .flag(
            "SECONDS",
            "Seconds that a stop waits for open turns before it settles them [default: 25]",
        ),
        limit("max-body-bytes", size, |it, max| it.max_body_bytes = max),
        limit("max-header-bytes", size, |it, max| it.max_header_bytes = max),
        limit("max-items", size, |it, max| it.max_items = max),
        limit("max-item-bytes", size, |it, max| it.max_item_bytes = max),
        limit("max-open-turns", size, |it, max| it.max_open_turns = max)
            .flag("COUNT", "Maximum number of open turns per tenant [default: 10000]"),
        limit("requests-per-second", count, |it, per_second| {
            it.rate = Some(Rate { per_second, burst: per_second });
        })
        .flag(
            "COUNT",
            "Maximum number of requests per second, per tenant and process [default: unlimited]",
        ),
        limit("burst", count, |it, burst| it.rate = it.rate.map(|rate| Rate { burst, ..rate })),
        limit("max-connections", size, |it, max| it.max_connections = max),
        limit("client-timeout", timeout, |it, time| it.client_timeout = time),
        limit("header-timeout", timeout, |it, time| it.header_timeout = time),
        limit("body-timeout", timeout, |it, time| it.body_timeout = time),
        limit("max-websocket-age", timeout, |it, age| it.max_websocket_age = age),
        limit("max-answer-bytes", size, |_, _| ()),
        limit("max-tenant-bytes", count, |it, max| it.tenant_quota.max_bytes = Some(max)).flag(
            "BYTES",
            "Maximum size in bytes of the stored items of one tenant [default: unlimited]",
        ),
        limit("max-tenant-items", count, |it, max| it.tenant_quota.max_items = Some(max))
            .flag("COUNT", "Maximum number of stored items of one tenant [default: unlimited]"),
        limit("max-conversation-bytes", count, |it, max| {
            it.conversation_quota.max_bytes = Some(max);
        })
        .flag(
            "BYTES",
            "Maximum size in bytes of the stored items of one conversation [default: unlimited]",
        ),
        limit("max-conversation-items", count, |it, max| {
            it.conversation_quota.max_items = Some(max);
        })
        .flag("COUNT", "Maximum number of stored items of one conversation [default: unlimited]"),
        Setting::new(
            "pass-through",
            TEXT,
            one_of([
                ("all", PassThrough::All),
                ("stateless", PassThrough::Stateless),
                ("none", PassThrough::Nothing),
            ]),
            |it, requests| it.pass_through = Some(requests),
        )
        .flag(
            "WHAT",
            "API requests to forward to upstreams if the gateway has no route for them: all, \
             stateless or none [default: stateless if several tenants share an --upstream-key, \
             else all]",
        ),
    ]
}

/// A setting below `[limits]`.
fn limit<T: 'static>(
    key: &'static str,
    parse: fn(&Value) -> Result<T, Failure>,
    set: fn(&mut Limits, T),
) -> Setting {
    let set = move |settings: &mut Settings, value| set(&mut settings.limits, value);
    Setting { is_limit: true, ..Setting::new(key, COUNT, parse, set) }
}
