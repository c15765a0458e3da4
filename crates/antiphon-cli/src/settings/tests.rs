use std::collections::HashMap;
use std::time::Duration;

use antiphon::dialect::UpstreamApi;
use antiphon::stream::{Form, ReasoningForm};
use antiphon_gateway::settings::{ApiKey, Faults, ModelPattern, OnDisconnect, PassThrough, Secret};
use antiphon_store::Tenant;
use clap::{Args as _, Command, FromArgMatches as _};

use super::flags::flags;
use super::*;

mod callers;
mod inspect;
mod limits;
mod metrics;
mod prices;
mod retention;
mod state;
mod unknown;
mod webhooks;

/// An environment with exactly these variables.
fn variables<const N: usize>(pairs: [(&str, &str); N]) -> impl Environment {
    let pairs: HashMap<String, String> =
        pairs.iter().map(|&(name, text)| (name.to_owned(), text.to_owned())).collect();
    move |name: &str| Ok(pairs.get(name).cloned())
}

/// The arguments of `serve` with these flags.
fn args<const N: usize>(flags: [&str; N]) -> SettingsArgs {
    let command = SettingsArgs::augment_args(Command::new("serve").no_binary_name(true));
    SettingsArgs::from_arg_matches(&command.get_matches_from(flags)).unwrap()
}

fn resolved(
    args: SettingsArgs,
    environment: impl Environment,
    text: &str,
) -> Result<Configuration, Failure> {
    merge(args, environment, File::parse("antiphon.toml", text)?, &[])
}

fn configuration(args: SettingsArgs, environment: impl Environment, text: &str) -> Configuration {
    resolved(args, environment, text).unwrap()
}

/// The configuration of a file, with `KEY_OF_CLAUDE` as the only variable.
fn of_file(text: &str) -> Result<Configuration, Failure> {
    resolved(SettingsArgs::default(), variables([("KEY_OF_CLAUDE", "sk-ant")]), text)
}

fn refusal_of_file(text: &str) -> String {
    let refused = of_file(text).unwrap_err();
    assert!(matches!(refused, Failure::Usage(_)));
    refused.to_string()
}

#[test]
fn empty_settings_have_the_documented_defaults() {
    let given = configuration(SettingsArgs::default(), variables([]), "");
    assert_eq!(given.listen, "127.0.0.1:8484".parse().unwrap());
    assert_eq!(given.store, "sqlite:antiphon.db");
    assert!(given.gateway.upstreams.is_empty());
    assert!(given.gateway.api_keys.is_empty());
    assert_eq!(given.gateway.faults, Faults::Repair);
    assert_eq!(given.gateway.turn_wait, Duration::from_secs(30));
    assert_eq!(given.gateway.on_disconnect, OnDisconnect::Settle);
    assert_eq!(given.gateway.pass_through, None);
    assert_eq!(given.gateway.retention, Some(Duration::from_hours(30 * 24)));
}

#[test]
fn flag_overrides_variable_and_variable_overrides_file() {
    let environment = [("ANTIPHON_LISTEN", "127.0.0.1:2"), ("ANTIPHON_TURN_WAIT", "2")];
    let file = "listen = '127.0.0.1:3'\nturn-wait = 3\non-disconnect = 'finish'";
    let args = args(["--listen", "127.0.0.1:1"]);

    let given = configuration(args, variables(environment), file);

    assert_eq!(given.listen.port(), 1);
    assert_eq!(given.gateway.turn_wait, Duration::from_secs(2));
    assert_eq!(given.gateway.on_disconnect, OnDisconnect::Finish);
}

#[test]
fn api_keys_of_two_sources_are_not_merged() {
    let environment = [("ANTIPHON_API_KEY", "k2=acme,k3=globex")];
    let file = "api-keys = ['k1=initech']";
    let given = configuration(SettingsArgs::default(), variables(environment), file);
    let expected = [("k2", "acme"), ("k3", "globex")]
        .map(|(key, tenant)| ApiKey::new(key, Tenant::new(tenant)));
    assert_eq!(given.gateway.api_keys, expected);
}

#[test]
fn every_setting_has_a_key_in_the_file() {
    let file = "listen = '0.0.0.0:80'\n\
         store = 'sqlite:other.db'\n\
         upstream = 'https://models.example/v1/'\n\
         upstream-api = 'chat'\n\
         upstream-key = 'sk-theirs'\n\
         state = 'antiphon'\n\
         reasoning-as = 'content'\n\
         faults = 'reject'\n\
         api-keys = ['b2Vy==acme']\n\
         turn-wait = 5\n\
         on-disconnect = 'finish'\n\
         event-names = 'open-responses'\n\
         retention = 90\n\
         shutdown-grace = 6\n\
         pass-through = 'none'\n";
    let given = configuration(SettingsArgs::default(), variables([]), file);
    let upstream = &given.gateway.upstreams[0];
    assert_eq!(given.listen, "0.0.0.0:80".parse().unwrap());
    assert_eq!(given.store, "sqlite:other.db");
    assert_eq!(upstream.url, "https://models.example/v1");
    assert_eq!(upstream.key, Some(Secret::new("sk-theirs")));
    assert_eq!((upstream.api, upstream.reasoning), (UpstreamApi::Chat, ReasoningForm::Content));
    assert_eq!(given.gateway.faults, Faults::Reject);
    assert_eq!(given.gateway.api_keys, [ApiKey::new("b2Vy=", Tenant::new("acme"))]);
    assert_eq!(given.gateway.turn_wait, Duration::from_secs(5));
    assert_eq!(given.gateway.on_disconnect, OnDisconnect::Finish);
    assert_eq!(given.gateway.event_names, Form::OpenResponses);
    assert_eq!(given.gateway.retention, Some(Duration::from_hours(90 * 24)));
    assert_eq!(given.gateway.shutdown_grace, Duration::from_secs(6));
    assert_eq!(given.gateway.pass_through, Some(PassThrough::Nothing));
}

#[test]
fn every_setting_has_a_flag_and_a_variable() {
    let names: Vec<_> = flags().map(|(.., flag)| (flag.option(), flag.variable())).collect();
    let expected = [
        ("--listen", "ANTIPHON_LISTEN"),
        ("--store", "ANTIPHON_STORE"),
        ("--upstream", "ANTIPHON_UPSTREAM"),
        ("--upstream-api", "ANTIPHON_UPSTREAM_API"),
        ("--upstream-key", "ANTIPHON_UPSTREAM_KEY"),
        ("--upstream-ca-file", "ANTIPHON_UPSTREAM_CA_FILE"),
        ("--state", "ANTIPHON_STATE"),
        ("--reasoning-as", "ANTIPHON_REASONING_AS"),
        ("--ledger", "ANTIPHON_LEDGER"),
        ("--faults", "ANTIPHON_FAULTS"),
        ("--api-key", "ANTIPHON_API_KEY"),
        ("--tenant-header", "ANTIPHON_TENANT_HEADER"),
        ("--allow-origin", "ANTIPHON_ALLOW_ORIGIN"),
        ("--allow-host", "ANTIPHON_ALLOW_HOST"),
        ("--secret", "ANTIPHON_SECRET"),
        ("--turn-wait", "ANTIPHON_TURN_WAIT"),
        ("--on-disconnect", "ANTIPHON_ON_DISCONNECT"),
        ("--event-names", "ANTIPHON_EVENT_NAMES"),
        ("--retention", "ANTIPHON_RETENTION"),
        ("--shutdown-grace", "ANTIPHON_SHUTDOWN_GRACE"),
        ("--metrics-listen", "ANTIPHON_METRICS_LISTEN"),
        ("--metrics-key", "ANTIPHON_METRICS_KEY"),
        ("--metrics-tenants", "ANTIPHON_METRICS_TENANTS"),
        ("--inspect", "ANTIPHON_INSPECT"),
        ("--inspect-writes", "ANTIPHON_INSPECT_WRITES"),
        ("--inspect-bodies", "ANTIPHON_INSPECT_BODIES"),
        ("--max-open-turns", "ANTIPHON_MAX_OPEN_TURNS"),
        ("--requests-per-second", "ANTIPHON_REQUESTS_PER_SECOND"),
        ("--max-tenant-bytes", "ANTIPHON_MAX_TENANT_BYTES"),
        ("--max-tenant-items", "ANTIPHON_MAX_TENANT_ITEMS"),
        ("--max-conversation-bytes", "ANTIPHON_MAX_CONVERSATION_BYTES"),
        ("--max-conversation-items", "ANTIPHON_MAX_CONVERSATION_ITEMS"),
        ("--pass-through", "ANTIPHON_PASS_THROUGH"),
    ];
    assert_eq!(names, expected.map(|(flag, name)| (flag.to_owned(), name.to_owned())));
}

#[test]
fn named_settings_file_must_exist() {
    let args = args(["--config", "absent.toml"]);
    let refused = resolve(args, variables([]), &[]).unwrap_err();
    assert!(refused.to_string().starts_with("absent.toml cannot be read: "));

    let environment = variables([("ANTIPHON_CONFIG", "missing.toml")]);
    let refused = resolve(SettingsArgs::default(), environment, &[]).unwrap_err();
    assert!(refused.to_string().starts_with("missing.toml cannot be read: "));
}

#[test]
fn invalid_file_value_is_rejected_with_its_line() {
    let keys = "listen, store, upstream, upstream-api, upstream-key, upstream-ca-file, state, \
                reasoning-as, ledger, faults, api-keys, tenant-header, allow-origins, \
                allow-hosts, secrets, turn-wait, on-disconnect, event-names, retention, \
                shutdown-grace, metrics-listen, metrics-key, metrics-tenants, inspect, \
                inspect-writes, inspect-bodies, pass-through, upstreams, webhooks, limits, prices";
    let unknown = format!("antiphon.toml:3: unknown key 'foo'; the keys are {keys}");
    let cases = [
        ("state = 'antiphon'\n\nfoo = 1", unknown.as_str()),
        ("state = 'antiphon'\n\n[foo]\nbar = 1", &unknown),
        ("listen = 8484", "antiphon.toml:1: listen must be a string"),
        (
            "pass-through = 'some'",
            "antiphon.toml:1: pass-through: 'some' is none of 'all', 'stateless' and 'none'",
        ),
        ("\nturn-wait = '5'", "antiphon.toml:2: turn-wait must be a whole number of seconds"),
        ("turn-wait = -5", "antiphon.toml:1: turn-wait: '-5' is not a whole number of seconds"),
        (
            "[api-keys]\nsk-1 = 'acme'",
            "antiphon.toml:1: api-keys must be a list of \"KEY=TENANT\" strings",
        ),
        (
            "api-keys = [\n  'k=acme',\n  7,\n]",
            "antiphon.toml:3: api-keys must be a list of \"KEY=TENANT\" strings",
        ),
        (
            "api-keys = [\n  'k=acme',\n  'k=globex',\n]",
            "antiphon.toml:3: api-keys: 'acme' and 'globex' have the same key",
        ),
        (
            "\nfaults = 'ignore'",
            "antiphon.toml:2: faults: 'ignore' is neither 'repair' nor 'reject'",
        ),
    ];
    for (text, sentence) in cases {
        assert_eq!(refusal_of_file(text), sentence, "{text}");
    }
}

#[test]
fn upstreams_of_the_file_come_before_the_default() {
    let text = "upstream = 'https://other.example/v1'\n\
                [[upstreams]]\n\
                models = ['claude-*', 'opus']\n\
                api = 'anthropic'\n\
                url = 'https://api.example/v1'\n\
                key-env = 'KEY_OF_CLAUDE'\n\
                connect-timeout = 3\n\
                first-byte-timeout = 6\n\
                idle-timeout = 4\n\
                total-timeout = 7\n\
                max-retries = 0\n\
                max-open-requests = 5\n\
                context-window = 8192\n\
                [[upstreams]]\n\
                models = ['local-*']\n\
                api = 'chat'\n\
                url = 'http://localhost:11434/openai/'\n";

    let given = of_file(text).unwrap();

    let [claude, local, others] = &given.gateway.upstreams[..] else { panic!("there are three") };
    assert_eq!(claude.models, ["claude-*", "opus"].map(ModelPattern::new));
    assert_eq!((claude.api, claude.max_open), (UpstreamApi::Anthropic, Some(5)));
    assert_eq!((claude.context_window, local.context_window), (Some(8192), None));
    assert_eq!(claude.key, Some(Secret::new("sk-ant")));
    assert_eq!(claude.connect_timeout, Duration::from_secs(3));
    assert_eq!(claude.first_byte_timeout, Duration::from_secs(6));
    assert_eq!(claude.idle_timeout, Duration::from_secs(4));
    assert_eq!(claude.total_timeout, Duration::from_secs(7));
    assert_eq!((claude.retries.max, others.retries.max), (0, 2));
    assert_eq!((local.api, &local.key), (UpstreamApi::Chat, &None));
    assert_eq!(local.url, "http://localhost:11434/openai");
    assert_eq!((others.api, others.max_open), (UpstreamApi::Responses, None));
    assert_eq!(others.models, [ModelPattern::new("*")]);
}

#[test]
fn invalid_upstream_is_rejected_with_its_line() {
    let entry = |lines: &str| format!("[[upstreams]]\nmodels = ['m']\n{lines}");
    let good = "url = 'http://host/v1'\n";
    let cases = [
        (
            "upstreams = 1".to_owned(),
            "antiphon.toml:1: upstreams must be tables, each below [[upstreams]]",
        ),
        (entry(""), "antiphon.toml:1: this upstream lacks 'url'"),
        (format!("[[upstreams]]\n{good}"), "antiphon.toml:1: this upstream lacks 'models'"),
        (
            format!("[[upstreams]]\nmodels = 'm'\n{good}"),
            "antiphon.toml:2: models must be a list of names, in which * stands for any characters",
        ),
        (
            entry(&format!("{good}listen = 1")),
            "antiphon.toml:4: unknown key 'listen', which belongs at the top of the file, before \
             the first table; an upstream's keys are name, models, api, url, \
             key, key-env, ca-file, connect-timeout, first-byte-timeout, idle-timeout, \
             always-stream, total-timeout, max-retries, max-open-requests, context-window, \
             reasoning-as, state, preset, conversations, chains, item-deletion, input-items",
        ),
        (
            entry(&format!("{good}api = 'ai-sdk'")),
            "antiphon.toml:4: api: 'ai-sdk' is none of 'responses', 'chat' and 'anthropic'",
        ),
        (
            entry("url = 'http://host/v2'"),
            "antiphon.toml:3: url: this must be an http or https URL without a key, whose path \
             ends in /v1, such as https://api.openai.com/v1",
        ),
        (
            entry(&format!("{good}idle-timeout = 0")),
            "antiphon.toml:4: idle-timeout must be a whole number above 0",
        ),
        (
            entry(&format!("{good}max-retries = -1")),
            "antiphon.toml:4: max-retries must be a whole number",
        ),
        (
            entry(&format!("{good}key-env = 'ABSENT'")),
            "antiphon.toml:4: key-env: the variable ABSENT is not set, or is empty",
        ),
        (
            entry(&format!("{good}key = 'k'\nkey-env = 'ABSENT'")),
            "antiphon.toml:5: key-env: an upstream has 'key' or 'key-env', not both",
        ),
    ];
    for (text, sentence) in cases {
        assert_eq!(refusal_of_file(&text), sentence, "{text}");
    }
}

/// If only some upstreams authenticate tokens, a stranger could use the others at the operator's
/// cost.
#[test]
fn one_upstream_key_requires_authentication() {
    let text = "listen = '0.0.0.0:80'\n\
                [[upstreams]]\nmodels = ['a']\nurl = 'http://host/v1'\n\
                [[upstreams]]\nmodels = ['b']\nurl = 'http://host/v1'\n";
    assert!(of_file(text).is_ok());
    let refusal = refusal_of_file(&format!("{text}key = 'sk'"));
    assert!(refusal.contains("nothing authenticates the callers"), "{refusal}");
}

#[test]
fn invalid_toml_is_rejected_without_its_text() {
    let refusal = refusal_of_file("state = 'antiphon'\nupstream-key = sk-secret\n");
    assert!(refusal.starts_with("antiphon.toml:2: this is not TOML: "), "{refusal}");
    assert!(!refusal.contains("sk-secret"), "{refusal}");

    let refusal = refusal_of_file("upstream-key = 'a'\nupstream-key = 'b'\n");
    assert_eq!(refusal, "antiphon.toml:2: this is not TOML: duplicate key");
}

#[test]
fn upstream_must_be_a_base_url() {
    let base_url = |text: &str| {
        let args = args(["--upstream", text]);
        resolved(args, variables([]), "").map(|given| given.gateway.upstreams[0].url.to_string())
    };
    assert_eq!(base_url("http://localhost:9000/v1").unwrap(), "http://localhost:9000/v1");
    assert_eq!(
        base_url("https://host.example/openai/v1/").unwrap(),
        "https://host.example/openai/v1"
    );
    for text in [
        "",
        "localhost:9000/v1",
        "/v1",
        "ftp://host.example/v1",
        "https://host.example",
        "https://host.example/v2",
        "https://host.example/v1//",
        "https://host.example/v1?key=a",
        "https://host.example/v1#a",
        "https://user:password@host.example/v1",
    ] {
        let refusal = base_url(text).unwrap_err().to_string();
        let sentence = "--upstream: this must be an http or https URL without a key, whose path \
                        ends in /v1, such as https://api.openai.com/v1";
        assert_eq!(refusal, sentence, "{text}");
    }
}
