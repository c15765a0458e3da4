//! The settings that have a flag or belong to `[limits]`, in the order of `--help`.

use std::net::SocketAddr;
use std::num::{NonZeroU32, NonZeroU64};
use std::time::Duration;

use antiphon::dialect::UpstreamApi;
use antiphon::stream::Form as EventNames;
use antiphon_gateway::settings::{
    ApiKey, Faults, HostName, Ledger, OnDisconnect, Origin, PassThrough, Secret, State,
};
use http::HeaderName;

use super::declaration::{COUNT, Declaration, Form, LARGE_COUNT, LIST, Setting, TEXT, settings};
use super::{callers, parse};

settings! { SETTINGS:
    LISTEN: SocketAddr = Setting::new("listen", TEXT, parse::listen).flag(
        "ADDR",
        "IP address and port to listen on; port 0 selects a free port [default: 127.0.0.1:8484]",
    );
    STORE: String = Setting::new("store", TEXT, parse::store)
        .flag("URL", "URL of the store for conversations [default: sqlite:antiphon.db]");
    UPSTREAM: String = Setting::new("upstream", ONE_UPSTREAM, parse::text)
        .flag("URL", "Base URL, ending in /v1, of the upstream for all models except `sim`");
    UPSTREAM_API: UpstreamApi = Setting::new("upstream-api", TEXT, parse::upstream_api)
        .flag("API", "API of the upstream: responses, chat or anthropic [default: responses]");
    UPSTREAM_KEY: Secret = Setting::new("upstream-key", TEXT, parse::upstream_key)
        .flag("KEY", "API key for the upstream; without it, callers' own tokens are forwarded");
    STATE: State = Setting::new("state", TEXT, parse::state).flag(
        "OWNER",
        "Owner of conversations, responses and their items: antiphon or upstream \
         [default: antiphon]",
    );
    LEDGER: Ledger = Setting::new("ledger", TEXT, parse::ledger).flag(
        "WHAT",
        "Stored part of each item that an upstream owns: heads or bodies [default: heads]",
    );
    FAULTS: Faults = Setting::new("faults", TEXT, parse::faults).flag(
        "WAY",
        "Handling of input that a provider would reject: repair or reject [default: repair]",
    );
    API_KEYS: ApiKey = Setting::new("api-keys", KEYS, callers::api_key).flag_named(
        "api-key",
        "KEY=TENANT",
        "API key for callers, or its hash (antiphon hash-key), and the tenant that it identifies",
    );
    TENANT_HEADER: HeaderName = Setting::new("tenant-header", TEXT, callers::tenant_header).flag(
        "NAME",
        "Header in which a trusted proxy names the tenant; the proxy must not let callers set it",
    );
    ALLOW_ORIGINS: Origin = Setting::new("allow-origins", STRINGS, parse::origin).flag_named(
        "allow-origin",
        "ORIGIN",
        "Origin of a web page that may use the gateway: a scheme and a host",
    );
    ALLOW_HOSTS: HostName = Setting::new("allow-hosts", STRINGS, parse::host_name).flag_named(
        "allow-host",
        "NAME",
        "Additional host name by which clients reach a gateway that listens on a loopback address \
         without API keys",
    );
    SECRETS: Secret = Setting::new("secrets", STRINGS, callers::secret).flag_named(
        "secret",
        "SECRET",
        "Secret that encrypts the gateway's key in its store, 16 characters or more; to rotate it, \
         give the new secret and then the old one",
    );
    TURN_WAIT: Duration = Setting::new("turn-wait", SECONDS, parse::seconds).flag(
        "SECONDS",
        "Seconds that a turn waits for another open turn of its conversation [default: 30]",
    );
    ON_DISCONNECT: OnDisconnect = Setting::new("on-disconnect", TEXT, parse::on_disconnect).flag(
        "WAY",
        "Handling of a turn whose caller disconnects: settle or finish [default: settle]",
    );
    EVENT_NAMES: EventNames = Setting::new("event-names", TEXT, parse::event_names)
        .flag("WHOSE", "Event names of raw reasoning: openai or open-responses [default: openai]");
    RETENTION: Option<Duration> = Setting::new("retention", DAYS, parse::retention)
        .flag("DAYS", "Days to store responses; 0 or never keeps them until deleted [default: 30]");
    SHUTDOWN_GRACE: Duration = Setting::new("shutdown-grace", SECONDS, parse::seconds).flag(
        "SECONDS",
        "Seconds that a stop waits for open turns before it settles them [default: 25]",
    );

    MAX_BODY_BYTES: usize = Setting::new("max-body-bytes", COUNT, parse::size).limit();
    MAX_HEADER_BYTES: usize = Setting::new("max-header-bytes", COUNT, parse::size).limit();
    MAX_ITEMS: usize = Setting::new("max-items", COUNT, parse::size).limit();
    MAX_ITEM_BYTES: usize = Setting::new("max-item-bytes", COUNT, parse::size).limit();
    MAX_OPEN_TURNS: usize = Setting::new("max-open-turns", COUNT, parse::size)
        .limit()
        .flag("COUNT", "Maximum number of open turns per tenant [default: 10000]");
    REQUESTS_PER_SECOND: NonZeroU32 =
        Setting::new("requests-per-second", COUNT, parse::count).limit().flag(
            "COUNT",
            "Maximum number of requests per second, per tenant and process [default: unlimited]",
        );
    BURST: NonZeroU32 = Setting::new("burst", COUNT, parse::count).limit();
    MAX_CONNECTIONS: usize = Setting::new("max-connections", COUNT, parse::size).limit();
    CLIENT_TIMEOUT: Duration = Setting::new("client-timeout", COUNT, parse::seconds).limit();
    HEADER_TIMEOUT: Duration = Setting::new("header-timeout", COUNT, parse::seconds).limit();
    BODY_TIMEOUT: Duration = Setting::new("body-timeout", COUNT, parse::seconds).limit();
    MAX_WEBSOCKET_AGE: Duration =
        Setting::new("max-websocket-age", COUNT, parse::seconds).limit();
    MAX_ANSWER_BYTES: usize = Setting::new("max-answer-bytes", COUNT, parse::size).limit();
    MAX_TENANT_BYTES: NonZeroU64 =
        Setting::new("max-tenant-bytes", LARGE_COUNT, parse::count).limit().flag(
            "BYTES",
            "Maximum size in bytes of the stored items of one tenant [default: unlimited]",
        );
    MAX_TENANT_ITEMS: NonZeroU64 =
        Setting::new("max-tenant-items", LARGE_COUNT, parse::count)
            .limit()
            .flag("COUNT", "Maximum number of stored items of one tenant [default: unlimited]");
    MAX_CONVERSATION_BYTES: NonZeroU64 =
        Setting::new("max-conversation-bytes", LARGE_COUNT, parse::count).limit().flag(
            "BYTES",
            "Maximum size in bytes of the stored items of one conversation [default: unlimited]",
        );
    MAX_CONVERSATION_ITEMS: NonZeroU64 =
        Setting::new("max-conversation-items", LARGE_COUNT, parse::count).limit().flag(
            "COUNT",
            "Maximum number of stored items of one conversation [default: unlimited]",
        );

    PASS_THROUGH: PassThrough = Setting::new("pass-through", TEXT, parse::pass_through).flag(
        "WHAT",
        "API requests to forward to upstreams if the gateway has no route for them: all, stateless \
         or none [default: stateless if several tenants share an --upstream-key, else all]",
    );
}

const ONE_UPSTREAM: (Form, &str) =
    (Form::Text, "a string; several upstreams stand below [[upstreams]]");
const KEYS: (Form, &str) = (LIST, "a list of \"KEY=TENANT\" strings");
const STRINGS: (Form, &str) = (LIST, "a list of strings");
const SECONDS: (Form, &str) = (Form::Integer, "a whole number of seconds");
const DAYS: (Form, &str) = (Form::IntegerOrText, "a whole number of days, or \"never\"");
