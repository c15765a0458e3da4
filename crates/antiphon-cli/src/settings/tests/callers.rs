//! Access for callers.

use antiphon_gateway::settings::{ApiKey, Origin, Secret};

use super::*;

/// Source: the one-block example of FIPS 180-4's test vectors.
const OF_ABC: &str = "sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";

fn said(text: &str) -> Result<Configuration, String> {
    of_file(text).map_err(|failure| failure.to_string())
}

#[test]
fn key_can_be_set_as_its_hash() {
    let given = said(&format!("api-keys = ['{OF_ABC}=acme']")).unwrap();
    assert_eq!(given.gateway.api_keys, [ApiKey::new("abc", Tenant::new("acme"))]);
    let twice = said(&format!("api-keys = ['{OF_ABC}=acme', 'abc=globex']")).unwrap_err();
    assert!(twice.contains("'acme' and 'globex' have the same key"), "{twice}");
    let wrong = said("api-keys = ['sha256:abc=acme']").unwrap_err();
    assert!(wrong.contains("the hash of 'acme' is not 'sha256:' and then 64"), "{wrong}");
}

#[test]
fn key_gives_no_access_to_data_of_anonymous_callers() {
    for name in ["everyone", "token-0123", "named-acme"] {
        let refused = said(&format!("api-keys = ['key={name}']")).unwrap_err();
        assert!(refused.contains("a name that the gateway gives to callers"), "{refused}");
    }
}

#[test]
fn proxy_header_names_tenants_on_any_address() {
    let given = said("listen = '0.0.0.0:80'\ntenant-header = 'X-Tenant'").unwrap();
    assert_eq!(given.gateway.tenant_header.unwrap(), "x-tenant");
    for (text, sentence) in [
        ("tenant-header = 'Authorization'", "'Authorization' is not a header that can name"),
        ("tenant-header = 'x tenant'", "'x tenant' is not a header that can name"),
        ("tenant-header = 'x'\napi-keys = ['k=acme']", "both identify the tenant of a caller"),
        ("listen = '0.0.0.0:80'", "tenant-header = \"NAME\" if a trusted proxy sets it"),
        ("listen = '[::]:80'", "can be reached from other machines"),
    ] {
        let refused = said(text).unwrap_err();
        assert!(refused.contains(sentence), "{refused}");
    }
    for loopback in ["[::1]:80", "127.8.8.8:80", "[::ffff:127.0.0.1]:80"] {
        assert!(said(&format!("listen = '{loopback}'")).is_ok(), "{loopback}");
    }
}

#[test]
fn pages_and_hosts_are_lists_of_names() {
    let given = said(
        "allow-origins = ['https://App.example/', 'http://localhost:3000']\n\
         allow-hosts = ['host.docker.internal']",
    )
    .unwrap();
    let origins: Vec<&str> = given.gateway.allowed_origins.iter().map(Origin::as_str).collect();
    assert_eq!(origins, ["https://app.example", "http://localhost:3000"]);
    assert_eq!(given.gateway.allowed_hosts[0].as_str(), "host.docker.internal");
    for text in ["*", "null", "app.example", "https://app.example/page"] {
        let refused = said(&format!("allow-origins = ['{text}']")).unwrap_err();
        assert!(refused.contains("is not the origin of a web page"), "{refused}");
    }
    let refused = said("allow-hosts = ['gateway:8484']").unwrap_err();
    assert!(refused.contains("'gateway:8484' is not a host name without a port"), "{refused}");
}

#[test]
fn secrets_are_a_list_and_not_short() {
    let given = said("secrets = ['the-new-and-first-one', 'the-old-one-of-2025']").unwrap();
    let expected = ["the-new-and-first-one", "the-old-one-of-2025"].map(Secret::new);
    assert_eq!(given.gateway.secrets, expected);
    for unfit in ["sesame", "sesame-and-sesame,and-sesame"] {
        let refused = said(&format!("secrets = ['{unfit}']")).unwrap_err();
        assert!(refused.contains("a secret has at least 16 characters and no comma"), "{refused}");
        assert!(!refused.contains("sesame"), "{refused}");
    }
}
