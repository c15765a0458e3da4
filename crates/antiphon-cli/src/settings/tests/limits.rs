use std::num::NonZeroU32;

use antiphon_gateway::settings::{Limits, Rate};

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
                   max-answer-bytes = 13\n";

fn limits(args: ServeArgs, environment: impl Environment, text: &str) -> Limits {
    configuration(args, environment, file(text)).gateway.limits
}

fn rate(per_second: u32, burst: u32) -> Rate {
    let number = |number| NonZeroU32::new(number).unwrap();
    Rate { per_second: number(per_second), burst: number(burst) }
}

#[test]
fn every_limit_has_a_key_in_the_file() {
    let given = limits(ServeArgs::default(), variables([]), ALL);
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
    };
    assert_eq!(given, expected);
}

#[test]
fn the_bound_on_answers_is_that_of_every_upstream() {
    let upstream = "[[upstreams]]\nmodels = ['*']\nurl = 'https://a.example/v1'\n";
    let bound = |text: &str| {
        let settings = configuration(ServeArgs::default(), variables([]), file(text)).gateway;
        settings.upstreams[0].max_answer
    };
    assert_eq!(bound(upstream), 64 << 20);
    assert_eq!(bound(&format!("{upstream}[limits]\nmax-answer-bytes = 13")), 13);
}

#[test]
fn nothing_said_gives_limits_without_a_rate() {
    assert_eq!(limits(ServeArgs::default(), variables([]), ""), Limits::default());
    assert_eq!(Limits::default().rate, None);
}

#[test]
fn flags_and_variables_win_over_the_table() {
    let args = ServeArgs { max_open_turns: Some("50".to_owned()), ..ServeArgs::default() };
    let environment = variables([("ANTIPHON_REQUESTS_PER_SECOND", "60")]);

    let given = limits(args, environment, ALL);

    assert_eq!(given.max_open_turns, 50);
    assert_eq!(given.rate, Some(rate(60, 7)), "the burst has no other place than the table");
}

#[test]
fn as_many_requests_may_come_at_once_as_in_a_second() {
    let given = limits(ServeArgs::default(), variables([]), "[limits]\nrequests-per-second = 6");
    assert_eq!(given.rate, Some(rate(6, 6)));
}

#[test]
fn what_is_no_limit_is_refused_with_its_line() {
    let keys = "max-body-bytes, max-header-bytes, max-items, max-item-bytes, max-open-turns, \
                requests-per-second, burst, max-connections, client-timeout, header-timeout, \
                body-timeout, max-websocket-age, max-answer-bytes";
    let unknown = format!("antiphon.toml:2: unknown key 'listen'; the limits are {keys}");
    let cases = [
        ("limits = 1", "antiphon.toml:1: limits must be a table below [limits]"),
        ("[limits]\nlisten = 1", unknown.as_str()),
        ("[limits]\nmax-items = 0", "antiphon.toml:2: max-items must be a whole number above 0"),
        (
            "[limits]\nmax-open-turns = '5'",
            "antiphon.toml:2: max-open-turns must be a whole number above 0",
        ),
        (
            "[limits]\nburst = 5",
            "antiphon.toml:2: burst: a burst needs requests-per-second, which is not given",
        ),
    ];
    for (text, sentence) in cases {
        assert_eq!(refusal_of_file(text), sentence, "{text}");
    }
    assert!(refusal_of_file("max-open-turns = 5").contains("unknown key 'max-open-turns'"));
}
