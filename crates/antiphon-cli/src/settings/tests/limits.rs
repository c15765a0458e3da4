use std::num::{NonZeroU32, NonZeroU64};

use antiphon_gateway::settings::{Limits, Quota, Rate};

use super::*;

const ALL: &str = "[limits]\n\
                   max-body-bytes = 13\n\
                   max-header-bytes = 2\n\
                   max-items = 3\n\
                   max-item-bytes = 4\n\
                   max-open-turns = 5\n\
                   requests-per-second = 6\n\
                   burst = 7\n\
                   max-connections = 8\n\
                   client-timeout = 9\n\
                   header-timeout = 10\n\
                   body-timeout = 11\n\
                   max-websocket-age = 12\n\
                   max-answer-bytes = 13\n\
                   max-tenant-bytes = 5000000000\n\
                   max-tenant-items = 15\n\
                   max-conversation-bytes = 4999999999\n\
                   max-conversation-items = 14\n";

fn limits(args: SettingsArgs, environment: impl Environment, text: &str) -> Limits {
    configuration(args, environment, text).gateway.limits
}

fn quota(max_bytes: u64, max_items: u64) -> Quota {
    Quota { max_bytes: NonZeroU64::new(max_bytes), max_items: NonZeroU64::new(max_items) }
}

fn rate(per_second: u32, burst: u32) -> Rate {
    let number = |number| NonZeroU32::new(number).unwrap();
    Rate { per_second: number(per_second), burst: number(burst) }
}

#[test]
fn every_limit_has_a_key_in_the_file() {
    let given = limits(SettingsArgs::default(), variables([]), ALL);
    let expected = Limits {
        max_body_bytes: 13,
        max_header_bytes: 2,
        max_items: 3,
        max_item_bytes: 4,
        max_open_turns: 5,
        rate: Some(rate(6, 7)),
        max_connections: 8,
        client_timeout: Duration::from_secs(9),
        header_timeout: Duration::from_secs(10),
        body_timeout: Duration::from_secs(11),
        max_websocket_age: Duration::from_secs(12),
        tenant_quota: quota(5_000_000_000, 15),
        conversation_quota: quota(4_999_999_999, 14),
    };
    assert_eq!(given, expected);
}

#[test]
fn max_answer_bytes_applies_to_every_upstream() {
    let upstream = "[[upstreams]]\nmodels = ['*']\nurl = 'https://a.example/v1'\n";
    let bound = |text: &str| of_file(text).unwrap().gateway.upstreams[0].max_answer;
    assert_eq!(bound(upstream), 64 << 20);
    assert_eq!(bound(&format!("{upstream}[limits]\nmax-answer-bytes = 13")), 13);
}

#[test]
fn default_limits_have_no_rate_and_no_quotas() {
    let limits = limits(SettingsArgs::default(), variables([]), "");
    assert_eq!(limits, Limits::default());
    assert_eq!(limits.rate, None);
    assert_eq!((limits.tenant_quota, limits.conversation_quota), (quota(0, 0), quota(0, 0)));
}

#[test]
fn flags_and_variables_win_over_the_table() {
    let args = args(["--max-open-turns", "50"]);
    let environment = variables([("ANTIPHON_REQUESTS_PER_SECOND", "60")]);

    let given = limits(args, environment, ALL);

    assert_eq!(given.max_open_turns, 50);
    assert_eq!(given.rate, Some(rate(60, 7)), "the burst has no other place than the table");
}

#[test]
fn burst_defaults_to_requests_per_second() {
    let given = limits(SettingsArgs::default(), variables([]), "[limits]\nrequests-per-second = 6");
    assert_eq!(given.rate, Some(rate(6, 6)));
}

#[test]
fn invalid_limit_is_rejected_with_its_line() {
    let keys = "max-body-bytes, max-header-bytes, max-items, max-item-bytes, max-open-turns, \
                requests-per-second, burst, max-connections, client-timeout, header-timeout, \
                body-timeout, max-websocket-age, max-answer-bytes, max-tenant-bytes, \
                max-tenant-items, max-conversation-bytes, max-conversation-items";
    let unknown = format!(
        "antiphon.toml:2: unknown key 'listen', which belongs at the top of the file, before the \
         first table; the limits are {keys}"
    );
    let cases = [
        ("limits = 1", "antiphon.toml:1: limits must be a table below [limits]"),
        ("[limits]\nlisten = 1", unknown.as_str()),
        ("[limits]\nmax-items = 0", "antiphon.toml:2: max-items must be a whole number above 0"),
        (
            "[limits]\nmax-open-turns = '5'",
            "antiphon.toml:2: max-open-turns must be a whole number above 0",
        ),
        (
            "[limits]\nmax-tenant-bytes = 0",
            "antiphon.toml:2: max-tenant-bytes must be a whole number above 0",
        ),
        (
            "[limits]\nmax-conversation-items = -1",
            "antiphon.toml:2: max-conversation-items must be a whole number above 0",
        ),
        (
            "[limits]\nmax-body-bytes = 4294967296",
            "antiphon.toml:2: max-body-bytes must be a whole number above 0",
        ),
        (
            "[limits]\nburst = 5",
            "antiphon.toml:2: burst: a burst needs requests-per-second, which is not set",
        ),
    ];
    for (text, sentence) in cases {
        assert_eq!(refusal_of_file(text), sentence, "{text}");
    }
    for (limit, text) in [("burst", "burst = 5"), ("max-body-bytes", "max-body-bytes = 5")] {
        let hint = format!("1: unknown key '{limit}', which belongs below [limits]; the keys are ");
        assert!(refusal_of_file(text).contains(&hint), "{}", refusal_of_file(text));
    }
}

#[test]
fn quotas_have_flags_and_variables() {
    let args = args(["--max-tenant-bytes", "9000000000", "--max-conversation-items", "9"]);
    let environment = variables([
        ("ANTIPHON_MAX_TENANT_ITEMS", "10"),
        ("ANTIPHON_MAX_CONVERSATION_BYTES", "8000000000"),
    ]);

    let given = limits(args, environment, ALL);

    assert_eq!(given.tenant_quota, quota(9_000_000_000, 10));
    assert_eq!(given.conversation_quota, quota(8_000_000_000, 9));
}

#[test]
fn conversation_quota_above_the_tenants_is_rejected() {
    for unit in ["bytes", "items"] {
        let text = format!("[limits]\nmax-tenant-{unit} = 5\nmax-conversation-{unit} = 6");
        assert_eq!(
            refusal_of_file(&text),
            format!(
                "antiphon.toml:3: max-conversation-{unit}: this has no effect above \
                 max-tenant-{unit}, which is 5: raise max-tenant-{unit} too"
            )
        );
        let equal = format!("[limits]\nmax-tenant-{unit} = 5\nmax-conversation-{unit} = 5");
        limits(SettingsArgs::default(), variables([]), &equal);
    }
    // The two limits may come from different sources.
    let args = args(["--max-tenant-items", "13"]);
    let file = "[limits]\nmax-conversation-items = 14";
    let refused = resolved(args, variables([]), file).unwrap_err().to_string();
    assert!(refused.contains("no effect above max-tenant-items, which is 13"), "{refused}");
}
