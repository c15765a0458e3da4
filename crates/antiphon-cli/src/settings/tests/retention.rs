use super::*;

fn retention(args: SettingsArgs, environment: impl Environment, text: &str) -> Option<Duration> {
    configuration(args, environment, text).gateway.retention
}

fn days(days: u64) -> Duration {
    Duration::from_hours(days * 24)
}

#[test]
fn every_source_accepts_days_or_never() {
    let flag = |text: &str| args(["--retention", text]);
    for (text, expected) in
        [("7", Some(days(7))), ("0", None), ("never", None), ("65535", Some(days(65_535)))]
    {
        assert_eq!(retention(flag(text), variables([]), "retention = 1"), expected, "{text}");
        let environment = variables([("ANTIPHON_RETENTION", text)]);
        assert_eq!(retention(SettingsArgs::default(), environment, ""), expected, "{text}");
    }
    for (text, expected) in
        [("retention = 7", Some(days(7))), ("retention = 0", None), ("retention = 'never'", None)]
    {
        assert_eq!(retention(SettingsArgs::default(), variables([]), text), expected, "{text}");
    }
}

#[test]
fn invalid_retention_is_rejected() {
    for (text, sentence) in [
        (
            "retention = -1",
            "antiphon.toml:1: retention: '-1' is neither a whole number of days up to 65535 nor \
             'never'",
        ),
        (
            "retention = 1.5",
            "antiphon.toml:1: retention must be a whole number of days, or \"never\"",
        ),
    ] {
        assert_eq!(refusal_of_file(text), sentence);
    }
}
