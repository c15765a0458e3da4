//! Finding out who is calling.

use antiphon::item::push_hex;
use antiphon_store::Tenant;
use http::{HeaderMap, StatusCode, header};
use ring::hmac;

use crate::caller::Caller;
use crate::error::ApiError;
use crate::settings::{Secret, Settings};

/// Tells callers apart.
pub(crate) struct Authenticator {
    keys: Vec<(Secret, Tenant)>,
    tokens_go_upstream: bool,
    hash_key: hmac::Key,
}

impl Authenticator {
    /// `secret` keys the hashes by which tokens name tenants.
    pub(crate) fn new(settings: &Settings, secret: &[u8; 32]) -> Self {
        let mut upstreams = settings.upstreams.iter();
        let takes_tokens = upstreams.any(|upstream| upstream.key.is_none());
        Self {
            keys: settings.api_keys.clone(),
            tokens_go_upstream: settings.upstreams.is_empty() || takes_tokens,
            hash_key: hmac::Key::new(hmac::HMAC_SHA256, secret),
        }
    }

    /// The caller that these headers name.
    pub(crate) fn authenticate(&self, headers: &HeaderMap) -> Result<Caller, ApiError> {
        let token = bearer_token(headers);
        let tenant = match (self.keys.is_empty(), token) {
            (false, token) => self.tenant_of_key(token.unwrap_or_default())?,
            (true, Some(token)) if self.tokens_go_upstream => self.tenant_of_token(token),
            (true, _) => Tenant::new("everyone"),
        };
        let token = token.filter(|_| self.tokens_go_upstream).map(Secret::new);
        Ok(Caller { tenant, token, headers: provider_headers(headers) })
    }

    /// Compares with every key, each in constant time, so that time tells nothing about them.
    fn tenant_of_key(&self, token: &str) -> Result<Tenant, ApiError> {
        let shown = hmac::sign(&self.hash_key, token.as_bytes());
        let mut tenant = None;
        for (key, name) in &self.keys {
            let matches =
                hmac::verify(&self.hash_key, key.reveal().as_bytes(), shown.as_ref()).is_ok();
            tenant = tenant.or(matches.then_some(name));
        }
        tenant.cloned().ok_or_else(|| incorrect_key(token))
    }

    /// A token that an upstream will judge names a tenant by its hash.
    fn tenant_of_token(&self, token: &str) -> Tenant {
        let mut name = String::from("token-");
        push_hex(&mut name, &hmac::sign(&self.hash_key, token.as_bytes()).as_ref()[..16]);
        Tenant::new(name)
    }
}

fn bearer_token(headers: &HeaderMap) -> Option<&str> {
    let value = headers.get(header::AUTHORIZATION)?.to_str().ok()?;
    let (scheme, token) = value.split_once(' ')?;
    (scheme.eq_ignore_ascii_case("bearer") && !token.is_empty()).then_some(token.trim())
}

fn provider_headers(headers: &HeaderMap) -> HeaderMap {
    let is_providers = |name: &str| name.starts_with("openai-") || name == "traceparent";
    let kept = headers.iter().filter(|(name, _)| is_providers(name.as_str()));
    kept.map(|(name, value)| (name.clone(), value.clone())).collect()
}

fn incorrect_key(token: &str) -> ApiError {
    let message = match token {
        "" => "You didn't provide an API key. You need to provide your API key in an \
               Authorization header using Bearer auth (i.e. Authorization: Bearer YOUR_KEY)."
            .to_owned(),
        token => format!("Incorrect API key provided: {}.", masked(token)),
    };
    ApiError::of(StatusCode::UNAUTHORIZED, "invalid_request_error", message).code("invalid_api_key")
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

    fn headers(token: &str) -> HeaderMap {
        [(header::AUTHORIZATION, format!("Bearer {token}").parse().unwrap())].into_iter().collect()
    }

    #[test]
    fn a_key_names_its_tenant_and_a_wrong_one_none() {
        let settings = Settings {
            api_keys: vec![(Secret::new("key-of-acme"), Tenant::new("acme"))],
            ..Settings::default()
        };
        let authenticator = Authenticator::new(&settings, &[0; 32]);
        let caller = authenticator.authenticate(&headers("key-of-acme")).unwrap();
        assert_eq!(caller.tenant, Tenant::new("acme"));
        let refused = authenticator.authenticate(&headers("sk-0123456789abcdef")).unwrap_err();
        assert_eq!(refused.status(), StatusCode::UNAUTHORIZED);
        assert_eq!(refused.message(), "Incorrect API key provided: sk-....");
        assert!(authenticator.authenticate(&HeaderMap::new()).is_err());
    }

    #[test]
    fn without_keys_every_token_is_a_tenant_of_its_own() {
        let authenticator = Authenticator::new(&Settings::default(), &[0; 32]);
        let tenant = |token| authenticator.authenticate(&headers(token)).unwrap().tenant;
        assert_eq!(tenant("one"), tenant("one"));
        assert_ne!(tenant("one"), tenant("two"));
    }
}
