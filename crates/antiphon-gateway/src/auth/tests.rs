use super::*;
use crate::settings::UpstreamSettings;
use http::StatusCode;

fn authenticator(settings: &Settings) -> Authenticator {
    Authenticator::new(settings, &[0; 32]).unwrap()
}

fn refused(settings: &Settings) -> Option<TenantSourceError> {
    Authenticator::new(settings, &[0; 32]).err()
}

fn headers(given: &[(&'static str, &str)]) -> HeaderMap {
    let mut headers = HeaderMap::new();
    for (name, value) in given {
        headers.append(HeaderName::from_static(name), value.parse().unwrap());
    }
    headers
}

fn authenticate(authenticator: &Authenticator, headers: &HeaderMap) -> Result<Caller, ApiError> {
    authenticator.authenticate(headers, RequestId::issue())
}

fn bearer(token: &str) -> HeaderMap {
    headers(&[("authorization", &format!("Bearer {token}"))])
}

fn keyed(key: &str, tenant: &str) -> Settings {
    Settings { api_keys: vec![ApiKey::new(key, Tenant::new(tenant))], ..Settings::default() }
}

/// One upstream with a key of the gateway, or one that receives the callers' own tokens.
fn upstream(key: Option<&str>) -> UpstreamSettings {
    UpstreamSettings::new("http://upstream/v1".parse().unwrap(), key.map(Secret::new))
}

fn forwarding() -> Settings {
    Settings { upstreams: vec![upstream(None)], ..Settings::default() }
}

fn behind_a_proxy(settings: Settings) -> Settings {
    Settings { tenant_header: Some(HeaderName::from_static("openai-tenant")), ..settings }
}

#[test]
fn only_correct_keys_name_a_tenant() {
    let authenticator = authenticator(&keyed("key-of-acme", "acme"));
    let caller = authenticate(&authenticator, &bearer("key-of-acme")).unwrap();
    assert_eq!(caller.tenant, Tenant::new("acme"));
    let refused = authenticate(&authenticator, &bearer("sk-0123456789abcdef")).unwrap_err();
    assert_eq!(refused.status(), StatusCode::UNAUTHORIZED);
    assert_eq!(refused.to_string(), "Incorrect API key provided: sk-....");
    assert!(authenticate(&authenticator, &HeaderMap::new()).is_err());
}

#[test]
fn hash_of_a_key_is_not_a_key() {
    let authenticator = authenticator(&keyed("key-of-acme", "acme"));
    let hash = KeyHash::from_key("key-of-acme").to_string();
    assert!(authenticate(&authenticator, &bearer(&hash)).is_err());
    assert!(authenticate(&authenticator, &bearer(&hash[7..])).is_err());
}

#[test]
fn each_forwarded_token_is_its_own_tenant() {
    let authenticator = authenticator(&forwarding());
    let tenant = |token| authenticate(&authenticator, &bearer(token)).unwrap().tenant;
    assert_eq!(tenant("one"), tenant("one"));
    assert_ne!(tenant("one"), tenant("two"));
    assert!(is_reserved(tenant("one").as_str()));
    let nobody = authenticate(&authenticator, &HeaderMap::new()).unwrap();
    assert_eq!(nobody.tenant, Tenant::new(EVERYONE));
}

#[test]
fn unforwarded_token_names_no_tenant() {
    let with_key = vec![upstream(Some("key-of-the-gateway"))];
    for upstreams in [Vec::new(), with_key] {
        let authenticator = authenticator(&Settings { upstreams, ..Settings::default() });
        let caller = authenticate(&authenticator, &bearer("one")).unwrap();
        assert_eq!((caller.tenant.as_str(), caller.token), (EVERYONE, None));
    }
}

#[test]
fn tenant_header_outranks_the_token() {
    let authenticator = authenticator(&behind_a_proxy(forwarding()));
    let of = |given: &[_]| authenticate(&authenticator, &headers(given));
    let one = of(&[("openai-tenant", "acme"), ("authorization", "Bearer a")]).unwrap();
    let two = of(&[("openai-tenant", "acme"), ("authorization", "Bearer b")]).unwrap();
    assert_eq!(one.tenant, two.tenant);
    assert_eq!(one.token, Some(Secret::new("a")), "it still goes upstream");
    assert!(one.headers.is_empty(), "the name stays here");
    assert_ne!(of(&[("openai-tenant", "other")]).unwrap().tenant, one.tenant);
    assert!(is_reserved(one.tenant.as_str()), "a key's tenant has another name");
    assert_eq!(of(&[]).unwrap_err().status(), StatusCode::UNAUTHORIZED);
}

/// A proxy that appends to the caller's header, or joins both values, lets the caller choose the
/// tenant.
#[test]
fn tenant_header_must_have_one_short_value() {
    let authenticator = authenticator(&behind_a_proxy(Settings::default()));
    let of = |given: &[_]| authenticate(&authenticator, &headers(given));
    let longest = "a".repeat(256);
    assert!(of(&[("openai-tenant", &longest)]).is_ok());
    let long = "a".repeat(257);
    for wrong in ["", "a b", "mallory,acme", "mallory, acme", &long] {
        let refused = of(&[("openai-tenant", wrong)]).unwrap_err();
        assert_eq!(refused.status(), StatusCode::BAD_REQUEST, "{wrong}");
    }
    let twice = of(&[("openai-tenant", "mallory"), ("openai-tenant", "acme")]);
    assert_eq!(twice.unwrap_err().status(), StatusCode::BAD_REQUEST);
}

#[test]
fn ambiguous_tenant_settings_are_refused() {
    let both = behind_a_proxy(keyed("key-of-acme", "acme"));
    assert_eq!(refused(&both), Some(TenantSourceError::KeysAndHeader));
    for name in [EVERYONE, "token-0123", "named-acme"] {
        let reserved = Some(TenantSourceError::Reserved(name.to_owned()));
        assert_eq!(refused(&keyed("key-of-acme", name)), reserved);
    }
}
