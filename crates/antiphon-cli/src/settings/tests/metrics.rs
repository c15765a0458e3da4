use antiphon_gateway::settings::KeyHash;

use super::*;

#[test]
fn metrics_have_their_own_settings() {
    let none = configuration(SettingsArgs::default(), variables([]), "");
    assert_eq!(none.metrics_listen, None);
    assert!(none.gateway.metrics.key.is_none() && !none.gateway.metrics.names_tenants);

    let environment = variables([("ANTIPHON_METRICS_KEY", "key-of-operator")]);
    let file = "metrics-listen = '127.0.0.1:9464'\nmetrics-tenants = true";
    let given = configuration(SettingsArgs::default(), environment, file);
    assert_eq!(given.metrics_listen, Some("127.0.0.1:9464".parse().unwrap()));
    assert_eq!(given.gateway.metrics.key, Some(KeyHash::from_key("key-of-operator")));
    assert!(given.gateway.metrics.names_tenants);
}

#[test]
fn metrics_key_can_be_a_hash() {
    let hash = KeyHash::from_key("key-of-operator");
    let given = of_file(&format!("metrics-key = '{hash}'")).unwrap();
    assert_eq!(given.gateway.metrics.key, Some(hash));
}

#[test]
fn malformed_metrics_key_is_not_repeated() {
    for key in ["two words", "sha256:12"] {
        let refusal = refusal_of_file(&format!("metrics-key = '{key}'"));
        assert!(refusal.starts_with("antiphon.toml:1: metrics-key: the "), "{refusal}");
        assert!(!refusal.contains(key), "{refusal}");
    }
}

#[test]
fn metrics_key_of_a_caller_is_rejected() {
    let refusal = refusal_of_file("api-keys = ['shared=acme']\nmetrics-key = 'shared'");
    let expected = "antiphon.toml:2: metrics-key: this is also the API key of 'acme'; give a key \
                    of its own";
    assert_eq!(refusal, expected);
}
