//! Finding out who is calling.
//!
//! A tenant is named by a key of the operator's, by a header that a trusted proxy sets, or by the
//! token that an upstream will judge. The names of the last two have prefixes of their own, so that
//! none of the three can be taken for another.

use antiphon::item::push_hex;
use antiphon_store::Tenant;
use http::{HeaderMap, HeaderName, StatusCode, header};
use ring::hmac;

use crate::caller::Caller;
use crate::error::ApiError;
use crate::settings::{ApiKey, KeyHash, Secret, Settings};

/// The tenant of all callers where nothing tells them apart.
const EVERYONE: &str = "everyone";
const TOKEN: &str = "token-";
const NAMED: &str = "named-";

/// The bound on a tenant's name in a header, in bytes.
const MAX_NAME: usize = 256;

/// Tells callers apart.
pub(crate) struct Authenticator {
    keys: Vec<ApiKey>,
    header: Option<HeaderName>,
    tokens_go_upstream: bool,
    hash_key: hmac::Key,
}

/// Whether a tenant's name is one that the gateway gives itself, which no key may open.
pub fn is_reserved(name: &str) -> bool {
    name == EVERYONE || name.starts_with(TOKEN) || name.starts_with(NAMED)
}

impl Authenticator {
    /// `hash_key` keys the hashes by which tokens name tenants.
    pub(crate) fn new(settings: &Settings, hash_key: [u8; 32]) -> Self {
        let mut upstreams = settings.upstreams.iter();
        let takes_tokens = upstreams.any(|upstream| upstream.key.is_none());
        Self {
            keys: settings.api_keys.clone(),
            header: settings.tenant_header.clone(),
            tokens_go_upstream: settings.upstreams.is_empty() || takes_tokens,
            hash_key: hmac::Key::new(hmac::HMAC_SHA256, &hash_key),
        }
    }

    /// The caller that these headers name.
    pub(crate) fn authenticate(&self, headers: &HeaderMap) -> Result<Caller, ApiError> {
        let token = bearer_token(headers);
        let tenant = match (&self.header, token) {
            (Some(header), _) => named(header, headers)?,
            (None, token) if !self.keys.is_empty() => {
                self.tenant_of_key(token.unwrap_or_default())?
            }
            (None, Some(token)) if self.tokens_go_upstream => self.tenant_of_token(token),
            (None, _) => Tenant::new(EVERYONE),
        };
        let token = token.filter(|_| self.tokens_go_upstream).map(Secret::new);
        Ok(Caller { tenant, token, headers: self.provider_headers(headers) })
    }

    /// Compares with every key, each in constant time, so that time tells nothing about them.
    fn tenant_of_key(&self, token: &str) -> Result<Tenant, ApiError> {
        let shown = hmac::sign(&self.hash_key, KeyHash::of(token).as_bytes());
        let mut tenant = None;
        for key in &self.keys {
            let matches = hmac::verify(&self.hash_key, key.hash.as_bytes(), shown.as_ref()).is_ok();
            tenant = tenant.or(matches.then_some(&key.tenant));
        }
        tenant.cloned().ok_or_else(|| incorrect_key(token))
    }

    /// A token that an upstream will judge names a tenant by its hash.
    fn tenant_of_token(&self, token: &str) -> Tenant {
        let mut name = String::from(TOKEN);
        push_hex(&mut name, &hmac::sign(&self.hash_key, token.as_bytes()).as_ref()[..16]);
        Tenant::new(name)
    }

    /// The provider's headers that go upstream; the one that names the tenant stays here.
    fn provider_headers(&self, headers: &HeaderMap) -> HeaderMap {
        let is_providers = |name: &HeaderName| {
            let text = name.as_str();
            Some(name) != self.header.as_ref()
                && (text.starts_with("openai-") || text == "traceparent")
        };
        let kept = headers.iter().filter(|(name, _)| is_providers(name));
        kept.map(|(name, value)| (name.clone(), value.clone())).collect()
    }
}

/// The tenant that a proxy names. Two names are none: a caller may have sent one of them.
fn named(header: &HeaderName, headers: &HeaderMap) -> Result<Tenant, ApiError> {
    let mut values = headers.get_all(header).iter();
    let Some(value) = values.next() else {
        let message = format!("The header '{header}', which names the caller, is missing.");
        return Err(unauthorized(message));
    };
    let name = value.to_str().ok().filter(|name| {
        let is_short = (1..=MAX_NAME).contains(&name.len());
        is_short && name.bytes().all(|byte| byte.is_ascii_graphic())
    });
    match (name, values.next()) {
        (Some(name), None) => Ok(Tenant::new(format!("{NAMED}{name}"))),
        _ => Err(ApiError::invalid(format!(
            "The header '{header}' must stand once, with 1 to {MAX_NAME} visible ASCII characters."
        ))),
    }
}

fn bearer_token(headers: &HeaderMap) -> Option<&str> {
    let value = headers.get(header::AUTHORIZATION)?.to_str().ok()?;
    let (scheme, token) = value.split_once(' ')?;
    (scheme.eq_ignore_ascii_case("bearer") && !token.is_empty()).then_some(token.trim())
}

fn incorrect_key(token: &str) -> ApiError {
    let message = match token {
        "" => "You didn't provide an API key. You need to provide your API key in an \
               Authorization header using Bearer auth (i.e. Authorization: Bearer YOUR_KEY)."
            .to_owned(),
        token => format!("Incorrect API key provided: {}.", masked(token)),
    };
    unauthorized(message).code("invalid_api_key")
}

fn unauthorized(message: String) -> ApiError {
    ApiError::of(StatusCode::UNAUTHORIZED, "invalid_request_error", message)
}

/// Enough of a wrong key to recognize it by, never half of it.
fn masked(token: &str) -> String {
    let shown = if token.chars().count() >= 12 { 3 } else { 0 };
    let head: String = token.chars().take(shown).collect();
    format!("{head}...")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn authenticator(settings: &Settings) -> Authenticator {
        Authenticator::new(settings, [0; 32])
    }

    fn headers(given: &[(&'static str, &str)]) -> HeaderMap {
        let mut headers = HeaderMap::new();
        for (name, value) in given {
            headers.append(HeaderName::from_static(name), value.parse().unwrap());
        }
        headers
    }

    fn bearer(token: &str) -> HeaderMap {
        headers(&[("authorization", &format!("Bearer {token}"))])
    }

    #[test]
    fn a_key_names_its_tenant_and_a_wrong_one_none() {
        let api_keys = vec![ApiKey::new("key-of-acme", Tenant::new("acme"))];
        let authenticator = authenticator(&Settings { api_keys, ..Settings::default() });
        let caller = authenticator.authenticate(&bearer("key-of-acme")).unwrap();
        assert_eq!(caller.tenant, Tenant::new("acme"));
        let refused = authenticator.authenticate(&bearer("sk-0123456789abcdef")).unwrap_err();
        assert_eq!(refused.status(), StatusCode::UNAUTHORIZED);
        assert_eq!(refused.message(), "Incorrect API key provided: sk-....");
        assert!(authenticator.authenticate(&HeaderMap::new()).is_err());
    }

    #[test]
    fn the_hash_of_a_key_is_no_key() {
        let api_keys = vec![ApiKey::new("key-of-acme", Tenant::new("acme"))];
        let authenticator = authenticator(&Settings { api_keys, ..Settings::default() });
        let hash = KeyHash::of("key-of-acme").to_string();
        assert!(authenticator.authenticate(&bearer(&hash)).is_err());
        assert!(authenticator.authenticate(&bearer(&hash[7..])).is_err());
    }

    #[test]
    fn without_keys_every_token_is_a_tenant_of_its_own() {
        let authenticator = authenticator(&Settings::default());
        let tenant = |token| authenticator.authenticate(&bearer(token)).unwrap().tenant;
        assert_eq!(tenant("one"), tenant("one"));
        assert_ne!(tenant("one"), tenant("two"));
        assert!(is_reserved(tenant("one").as_str()));
    }

    #[test]
    fn a_proxy_names_the_tenant_whatever_the_token() {
        let tenant_header = Some(HeaderName::from_static("openai-tenant"));
        let authenticator = authenticator(&Settings { tenant_header, ..Settings::default() });
        let of = |given: &[_]| authenticator.authenticate(&headers(given));
        let one = of(&[("openai-tenant", "acme"), ("authorization", "Bearer a")]).unwrap();
        let two = of(&[("openai-tenant", "acme"), ("authorization", "Bearer b")]).unwrap();
        assert_eq!(one.tenant, two.tenant);
        assert_eq!(one.token.map(|token| token.reveal().to_owned()).as_deref(), Some("a"));
        assert!(one.headers.is_empty(), "the name stays here");
        assert_ne!(of(&[("openai-tenant", "other")]).unwrap().tenant, one.tenant);
        assert!(is_reserved(one.tenant.as_str()), "a key's tenant has another name");
        assert_eq!(of(&[]).unwrap_err().status(), StatusCode::UNAUTHORIZED);
        let long = "a".repeat(257);
        for wrong in ["", "a b", &long] {
            let refused = of(&[("openai-tenant", wrong)]).unwrap_err();
            assert_eq!(refused.status(), StatusCode::BAD_REQUEST, "{wrong}");
        }
        let twice = of(&[("openai-tenant", "acme"), ("openai-tenant", "other")]);
        assert_eq!(twice.unwrap_err().status(), StatusCode::BAD_REQUEST);
    }
}
