use crate::settings::unknown::warnings;

fn warnings_of(set: &[&str]) -> Vec<String> {
    let set: Vec<String> = set.iter().map(|name| (*name).to_owned()).collect();
    warnings(&set, &["ANTIPHON_KEY_OF_CLAUDE".to_owned()])
}

#[test]
fn known_and_foreign_variables_give_no_warning() {
    assert_eq!(
        warnings_of(&[
            "ANTIPHON_TURN_WAIT",
            "ANTIPHON_LOG",
            "ANTIPHON_LOG_FORMAT",
            "ANTIPHON_CONFIG",
            "ANTIPHON_KEY_OF_CLAUDE",
            "ANTIPHON_PORT",
            "ANTIPHON_SERVICE_HOST",
            "ANTIPHON_SERVICE_PORT_HTTP",
            "ANTIPHON_PORT_8484_TCP_ADDR",
            "PATH",
        ]),
        Vec::<String>::new()
    );
}

#[test]
fn unknown_variable_warns_with_the_nearest_name() {
    let meant = |name: &str, nearest: &str| {
        let warning = warnings_of(&[name]).pop().unwrap();
        let end = format!("no setting has this name; did you mean {nearest}?");
        assert!(warning.starts_with(name) && warning.ends_with(&end), "{warning}");
    };
    meant("ANTIPHON_TURNWAIT", "ANTIPHON_TURN_WAIT");
    meant("ANTIPHON_UPSTREEM_KEY", "ANTIPHON_UPSTREAM_KEY");
    meant("ANTIPHON_API_KEYS", "ANTIPHON_API_KEY");
    meant("antiphon_store", "ANTIPHON_STORE");
    let far = warnings_of(&["ANTIPHON_GREETING"]).pop().unwrap();
    assert!(far.ends_with("antiphon serve --help lists the settings"), "{far}");
}

#[test]
fn limit_of_the_file_is_named_with_its_line() {
    let warning = warnings_of(&["ANTIPHON_MAX_BODY_BYTES"]).pop().unwrap();
    assert!(warning.ends_with("set it in the settings file, below [limits]"), "{warning}");
}
