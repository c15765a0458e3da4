//! The settings at the top of the file and below `[limits]`, in the order of `--help`.

use antiphon_gateway::settings::{
    Faults, Inspect, Ledger, OnDisconnect, PassThrough, Rate, Settings,
};

use super::parse::{self, EVENT_NAMES, count, one_of, size, timeout};
use super::setting::{BOOLEAN, COUNT, Form, Setting, TEXT, settings};

const LIST: Form = Form::List { may_be_empty: true };
const ONE_UPSTREAM: (Form, &str) =
    (Form::Text, "a string; several upstreams are tables below [[upstreams]]");
const STRINGS: (Form, &str) = (LIST, "a list of strings");
const SECONDS: (Form, &str) = (Form::Integer, "a whole number of seconds");
const KEYS: (Form, &str) = (LIST, "a list of \"KEY=TENANT\" strings");
const DAYS: (Form, &str) = (Form::IntegerOrText, "a whole number of days, or \"never\"");

const LEDGERS: [(&str, Ledger); 2] = [("heads", Ledger::Heads), ("bodies", Ledger::Bodies)];
const FAULTS: [(&str, Faults); 2] = [("repair", Faults::Repair), ("reject", Faults::Reject)];
const ON_DISCONNECT: [(&str, OnDisconnect); 2] =
    [("settle", OnDisconnect::Settle), ("finish", OnDisconnect::Finish)];
const INSPECT: [(&str, Inspect); 3] =
    [("off", Inspect::Off), ("local", Inspect::Local), ("keys", Inspect::Keys)];
const PASS_THROUGH: [(&str, PassThrough); 3] = [
    ("all", PassThrough::All),
    ("stateless", PassThrough::Stateless),
    ("none", PassThrough::Nothing),
];

/// All settings, except those of the tables `[[upstreams]]` and `[[webhooks]]`.
pub(super) fn settings() -> Vec<Setting<Settings>> {
    settings! { Settings;
        /// IP address and port to listen on; port 0 selects a free port [default: 127.0.0.1:8484]
        "listen" ["ADDR"]: TEXT;
        /// URL of the store for conversations [default: sqlite:antiphon.db]
        "store" ["URL"]: TEXT;
        /// Base URL, ending in /v1, of the upstream for all models except `sim`
        "upstream" ["URL"]: ONE_UPSTREAM;
        /// API of the upstream: responses, chat or anthropic [default: responses]
        "upstream-api" ["API"]: TEXT;
        /// API key for the upstream; without it, callers' own tokens are forwarded
        "upstream-key" ["KEY"]: TEXT;
        /// PEM file of the authorities that may sign the upstream's certificate [default: the
        /// public authorities]
        "upstream-ca-file" ["FILE"]: TEXT;
        /// Owner of conversations, responses and their items: antiphon or upstream [default:
        /// antiphon]
        "state" ["OWNER"]: TEXT;
        /// Form of the reasoning of Chat Completions and Anthropic upstreams: summary or content
        /// [default: summary]
        "reasoning-as" ["FORM"]: TEXT;
        /// Stored part of each item that an upstream owns: heads or bodies [default: heads]
        "ledger" ["WHAT"]: TEXT, one_of(LEDGERS) => |it, ledger| it.ledger = ledger;
        /// Handling of input that a provider would reject: repair or reject [default: repair]
        "faults" ["WAY"]: TEXT, one_of(FAULTS) => |it, faults| it.faults = faults;
        /// API key for callers, or its hash (antiphon hash-key), and the tenant that it identifies
        "api-keys" ["api-key", "KEY=TENANT"]: KEYS, parse::api_key
            => |it, key| it.api_keys.push(key);
        /// Header in which a trusted proxy names the tenant; the proxy must not let callers set it
        "tenant-header" ["NAME"]: TEXT, parse::tenant_header
            => |it, name| it.tenant_header = Some(name);
        /// Origin of a web page that may use the gateway: a scheme and a host
        "allow-origins" ["allow-origin", "ORIGIN"]: STRINGS, parse::origin
            => |it, origin| it.allowed_origins.push(origin);
        /// Additional host name by which clients reach a gateway that listens on a loopback address
        /// without API keys
        "allow-hosts" ["allow-host", "NAME"]: STRINGS, parse::host_name
            => |it, name| it.allowed_hosts.push(name);
        /// Secret that encrypts the gateway's key in its store, 16 characters or more; to rotate
        /// it, give the new secret and then the old one
        "secrets" ["secret", "SECRET"]: STRINGS, parse::secret
            => |it, secret| it.secrets.push(secret);
        /// Seconds that a turn waits for another open turn of its conversation [default: 30]
        "turn-wait" ["SECONDS"]: SECONDS, parse::seconds => |it, wait| it.turn_wait = wait;
        /// Handling of a turn whose caller disconnects: settle or finish [default: settle]
        "on-disconnect" ["WAY"]: TEXT, one_of(ON_DISCONNECT) => |it, way| it.on_disconnect = way;
        /// Event names of raw reasoning: openai or open-responses [default: openai]
        "event-names" ["WHOSE"]: TEXT, one_of(EVENT_NAMES) => |it, names| it.event_names = names;
        /// Days to store responses; 0 or never keeps them until deleted [default: 30]
        "retention" ["DAYS"]: DAYS, parse::retention => |it, time| it.retention = time;
        /// Seconds that a stop waits for open turns before it settles them [default: 25]
        "shutdown-grace" ["SECONDS"]: SECONDS, parse::seconds
            => |it, time| it.shutdown_grace = time;
        /// IP address and port of a listener that serves only GET /metrics
        "metrics-listen" ["ADDR"]: TEXT;
        /// Key for GET /metrics, or its hash (antiphon hash-key); with it, the main listener serves
        /// the metrics too
        "metrics-key" ["KEY"]: TEXT, parse::metrics_key => |it, key| it.metrics.key = Some(key);
        /// Whether turns, tokens and cost are also counted by tenant: true or false [default:
        /// false]
        "metrics-tenants" ["BOOLEAN"]: BOOLEAN, parse::boolean
            => |it, names| it.metrics.names_tenants = names;
        /// Listeners that serve the inspector at /inspect: off, local (a loopback address) or keys
        /// (any, with the callers' keys) [default: local]
        "inspect" ["WHERE"]: TEXT, one_of(INSPECT) => |it, access| it.inspect.access = access;
        /// Whether the inspector's pages may change conversations and ask models: true or false
        /// [default: false]
        "inspect-writes" ["BOOLEAN"]: BOOLEAN, parse::boolean
            => |it, allows| it.inspect.allows_writes = allows;
        /// Whether the inspector shows the content of items: true or false [default: true]
        "inspect-bodies" ["BOOLEAN"]: BOOLEAN, parse::boolean
            => |it, shows| it.inspect.shows_bodies = shows;
        "limits.max-body-bytes": COUNT, size => |it, max| it.limits.max_body_bytes = max;
        "limits.max-header-bytes": COUNT, size => |it, max| it.limits.max_header_bytes = max;
        "limits.max-items": COUNT, size => |it, max| it.limits.max_items = max;
        "limits.max-item-bytes": COUNT, size => |it, max| it.limits.max_item_bytes = max;
        /// Maximum number of open turns per tenant [default: 10000]
        "limits.max-open-turns" ["COUNT"]: COUNT, size => |it, max| it.limits.max_open_turns = max;
        /// Maximum number of requests per second, per tenant and process [default: unlimited]
        "limits.requests-per-second" ["COUNT"]: COUNT, count
            => |it, per_second| it.limits.rate = Some(Rate { per_second, burst: per_second });
        "limits.burst": COUNT, count
            => |it, burst| it.limits.rate = it.limits.rate.map(|rate| Rate { burst, ..rate });
        "limits.max-connections": COUNT, size => |it, max| it.limits.max_connections = max;
        "limits.client-timeout": COUNT, timeout => |it, time| it.limits.client_timeout = time;
        "limits.header-timeout": COUNT, timeout => |it, time| it.limits.header_timeout = time;
        "limits.body-timeout": COUNT, timeout => |it, time| it.limits.body_timeout = time;
        "limits.max-websocket-age": COUNT, timeout => |it, age| it.limits.max_websocket_age = age;
        "limits.max-answer-bytes": COUNT;
        /// Maximum size in bytes of the stored items of one tenant [default: unlimited]
        "limits.max-tenant-bytes" ["BYTES"]: COUNT, count
            => |it, max| it.limits.tenant_quota.max_bytes = Some(max);
        /// Maximum number of stored items of one tenant [default: unlimited]
        "limits.max-tenant-items" ["COUNT"]: COUNT, count
            => |it, max| it.limits.tenant_quota.max_items = Some(max);
        /// Maximum size in bytes of the stored items of one conversation [default: unlimited]
        "limits.max-conversation-bytes" ["BYTES"]: COUNT, count
            => |it, max| it.limits.conversation_quota.max_bytes = Some(max);
        /// Maximum number of stored items of one conversation [default: unlimited]
        "limits.max-conversation-items" ["COUNT"]: COUNT, count
            => |it, max| it.limits.conversation_quota.max_items = Some(max);
        /// API requests to forward to upstreams if the gateway has no route for them: all,
        /// stateless or none [default: stateless if several tenants share an --upstream-key, else
        /// all]
        "pass-through" ["WHAT"]: TEXT, one_of(PASS_THROUGH)
            => |it, requests| it.pass_through = Some(requests);
    }
}
