use antiphon_gateway::settings::{Inspect, InspectSettings};

use super::*;

#[test]
fn inspector_is_local_and_only_reads_by_default() {
    let none = configuration(SettingsArgs::default(), variables([]), "");
    let expected =
        InspectSettings { access: Inspect::Local, allows_writes: false, shows_bodies: true };
    assert_eq!(none.gateway.inspect, expected);
}

#[test]
fn inspector_has_its_own_settings() {
    let environment = variables([("ANTIPHON_INSPECT_BODIES", "false")]);
    let file = "inspect = 'keys'\ninspect-writes = true\napi-keys = ['key=acme']";
    let given = configuration(SettingsArgs::default(), environment, file);
    let expected =
        InspectSettings { access: Inspect::Keys, allows_writes: true, shows_bodies: false };
    assert_eq!(given.gateway.inspect, expected);
}

#[test]
fn inspector_on_every_listener_needs_keys() {
    let refusal = refusal_of_file("inspect = 'keys'");
    let expected = "antiphon.toml:1: inspect: callers have no keys, so everyone could read all \
                    conversations; give api-keys = \"KEY=TENANT\"";
    assert_eq!(refusal, expected);
}

#[test]
fn settings_of_an_inspector_that_is_off_are_rejected() {
    let refusal = refusal_of_file("inspect = 'off'\ninspect-writes = true");
    let expected = "antiphon.toml:2: inspect-writes: this has no effect, because the inspector is \
                    off";
    assert_eq!(refusal, expected);
}
