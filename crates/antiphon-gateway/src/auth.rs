//! Authenticates callers and determines their tenants.
//!
//! The tenant comes from a key of the operator, from a header that a trusted proxy sets, or from
//! the token that an upstream will check. Tenant names of the last two kinds have their own
//! prefixes, so that the three kinds never collide.

mod refused_callers;

use std::io;

use antiphon::item::push_hex;
use antiphon_store::{Snapshot, Tenant};
use http::{HeaderMap, HeaderName, header};
use ring::hmac;

pub(crate) use self::refused_callers::RefusedCallers;
use crate::caller::Caller;
use crate::error::ApiError;
use crate::request_id::RequestId;
use crate::secret::{self, MasterKey};
use crate::settings::{ApiKey, KeyHash, Secret, Settings};
use crate::span::TraceSpan;
use crate::span::context::{TRACEPARENT, TRACESTATE};

/// The tenant of all callers, if callers are not distinguished.
const EVERYONE: &str = "everyone";
const TOKEN: &str = "token-";
const NAMED: &str = "named-";

/// The purpose of the key that hashes tokens to tenant names.
pub(crate) const TENANT_NAMES: &str = "names of tenants";

/// The header of Anthropic's clients that names beta features.
const ANTHROPIC_BETA: HeaderName = HeaderName::from_static("anthropic-beta");

/// The maximum length of a tenant's name in a header, in bytes.
const MAX_NAME: usize = 256;

/// Determines the tenant of each caller.
pub(crate) struct Authenticator {
    tenant_source: TenantSource,
    /// Whether an upstream receives the callers' own tokens.
    tokens_go_upstream: bool,
    hash_key: hmac::Key,
}

/// The source of tenant names.
enum TenantSource {
    /// A key of the operator. Callers without a valid key are rejected.
    Keys(Vec<ApiKey>),
    /// This header, set by a trusted proxy. Requests without the header are rejected.
    Header(HeaderName),
    /// The token for the upstream. Callers without a token are [`EVERYONE`].
    Token,
    /// None: no upstream receives a token, so no one checks it.
    Nothing,
}

/// Settings that do not clearly determine the tenant of a caller. The error text is for the
/// operator.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum TenantSourceError {
    #[error("keys and a header both identify the tenant of a caller; give one of them")]
    KeysAndHeader,
    #[error("'{0}' is a name that the gateway gives to callers without a key")]
    Reserved(String),
}

/// Whether the gateway assigns this tenant name itself. The tenant of a key must not have such a
/// name.
pub fn is_reserved(name: &str) -> bool {
    name == EVERYONE || name.starts_with(TOKEN) || name.starts_with(NAMED)
}

/// The reason why no caller can be this tenant under these settings, as a sentence for the
/// operator.
pub fn tenant_flaw(settings: &Settings, tenant: &Tenant) -> Option<String> {
    let name = tenant.as_str();
    let tenant_source = TenantSource::new(settings, tokens_go_upstream(settings)).ok()?;
    let expected = match &tenant_source {
        TenantSource::Keys(keys) if keys.iter().any(|key| key.tenant == *tenant) => return None,
        TenantSource::Keys(keys) => {
            let mut names: Vec<&str> = keys.iter().map(|key| key.tenant.as_str()).collect();
            names.sort_unstable();
            names.dedup();
            format!("the tenants of the API keys are {}", names.join(", "))
        }
        TenantSource::Header(_) if name.starts_with(NAMED) => return None,
        TenantSource::Header(header) => {
            format!("'{header}: {name}' names the tenant '{NAMED}{name}'")
        }
        TenantSource::Token if name == EVERYONE || name.starts_with(TOKEN) => return None,
        TenantSource::Token => format!(
            "callers are identified by their tokens, and their tenants begin with '{TOKEN}'; \
             antiphon tenants lists them"
        ),
        TenantSource::Nothing if name == EVERYONE => return None,
        TenantSource::Nothing => {
            format!("without API keys, all callers are the tenant '{EVERYONE}'")
        }
    };
    Some(format!("no caller can be the tenant '{name}': {expected}"))
}

/// Whether an upstream receives the callers' own tokens.
fn tokens_go_upstream(settings: &Settings) -> bool {
    settings.upstreams.iter().any(|upstream| upstream.key.is_none())
}

impl TenantSource {
    fn new(settings: &Settings, tokens_go_upstream: bool) -> Result<Self, TenantSourceError> {
        let keys = &settings.api_keys;
        if let Some(key) = keys.iter().find(|key| is_reserved(key.tenant.as_str())) {
            return Err(TenantSourceError::Reserved(key.tenant.as_str().to_owned()));
        }
        match (keys.is_empty(), &settings.tenant_header) {
            (false, Some(_)) => Err(TenantSourceError::KeysAndHeader),
            (false, None) => Ok(Self::Keys(keys.clone())),
            (true, Some(header)) => Ok(Self::Header(header.clone())),
            (true, None) if tokens_go_upstream => Ok(Self::Token),
            (true, None) => Ok(Self::Nothing),
        }
    }
}

impl Authenticator {
    /// `hash_key` is the key of the hashes that turn tokens into tenant names.
    pub(crate) fn new(settings: &Settings, hash_key: &[u8; 32]) -> Result<Self, TenantSourceError> {
        let tokens_go_upstream = tokens_go_upstream(settings);
        Ok(Self {
            tenant_source: TenantSource::new(settings, tokens_go_upstream)?,
            tokens_go_upstream,
            hash_key: hmac::Key::new(hmac::HMAC_SHA256, hash_key),
        })
    }

    /// The caller with these headers, without a span.
    pub(crate) fn authenticate(
        &self,
        headers: &HeaderMap,
        request_id: RequestId,
    ) -> Result<Caller, ApiError> {
        let token = bearer_token(headers).or_else(|| key_header(headers));
        let tenant = match (&self.tenant_source, token) {
            (TenantSource::Keys(keys), token) => {
                self.tenant_of_key(keys, token.unwrap_or_default())?
            }
            (TenantSource::Header(header), _) => tenant_in_header(header, headers)?,
            (TenantSource::Token, Some(token)) => tenant_from_token(&self.hash_key, token),
            (TenantSource::Token, None) | (TenantSource::Nothing, _) => Tenant::new(EVERYONE),
        };
        let token = token.filter(|_| self.tokens_go_upstream).map(Secret::new);
        let headers = self.provider_headers(headers);
        Ok(Caller { tenant, token, request_id, headers, trace: TraceSpan::default() })
    }

    /// Fails unless the headers have this key of the operator.
    pub(crate) fn check_operator(&self, key: KeyHash, headers: &HeaderMap) -> Result<(), ApiError> {
        let token = bearer_token(headers).unwrap_or_default();
        let shown = hmac::sign(&self.hash_key, KeyHash::from_key(token).as_bytes());
        hmac::verify(&self.hash_key, key.as_bytes(), shown.as_ref())
            .map_err(|_| incorrect_key(token))
    }

    /// Whether all callers are one tenant.
    pub(crate) fn has_one_tenant(&self) -> bool {
        match &self.tenant_source {
            TenantSource::Keys(keys) => keys.iter().all(|key| key.tenant == keys[0].tenant),
            TenantSource::Header(_) | TenantSource::Token => false,
            TenantSource::Nothing => true,
        }
    }

    /// Compares the token with every key in constant time, so that timing reveals nothing about the
    /// keys.
    fn tenant_of_key(&self, keys: &[ApiKey], token: &str) -> Result<Tenant, ApiError> {
        let shown = hmac::sign(&self.hash_key, KeyHash::from_key(token).as_bytes());
        let mut tenant = None;
        for key in keys {
            let matches = hmac::verify(&self.hash_key, key.hash.as_bytes(), shown.as_ref()).is_ok();
            tenant = tenant.or(matches.then_some(&key.tenant));
        }
        tenant.cloned().ok_or_else(|| incorrect_key(token))
    }

    /// The provider's headers for the upstream, without the header that contains the tenant.
    fn provider_headers(&self, headers: &HeaderMap) -> HeaderMap {
        let source = &self.tenant_source;
        let names_tenant =
            |name: &HeaderName| matches!(source, TenantSource::Header(header) if header == name);
        let is_providers = |name: &HeaderName| {
            let is_shared = [ANTHROPIC_BETA, TRACEPARENT, TRACESTATE].contains(name);
            is_shared || name.as_str().starts_with("openai-")
        };
        let kept = headers.iter().filter(|(name, _)| is_providers(name) && !names_tenant(name));
        kept.map(|(name, value)| (name.clone(), value.clone())).collect()
    }
}

/// The tenant of callers with this token in this store, if an upstream checks the token. `None` if
/// no gateway has ever run on the store. The error is a sentence for the operator: none of the
/// secrets decrypts the store's key.
pub async fn tenant_of_token(
    snapshot: &mut dyn Snapshot,
    secrets: &[Secret],
    token: &str,
) -> io::Result<Option<Tenant>> {
    let kept = snapshot.value(secret::NAME).await.map_err(io::Error::other)?;
    let Some(kept) = kept else { return Ok(None) };
    let hash_key = MasterKey::decrypt(&kept, secrets)?.derive(TENANT_NAMES);
    Ok(Some(tenant_from_token(&hmac::Key::new(hmac::HMAC_SHA256, &*hash_key), token)))
}

/// Checks that one of the secrets decrypts the gateway's key in this store, as a gateway does at
/// startup. The error is a sentence for the operator.
pub async fn check_secrets(snapshot: &mut dyn Snapshot, secrets: &[Secret]) -> io::Result<()> {
    match snapshot.value(secret::NAME).await.map_err(io::Error::other)? {
        Some(kept) => MasterKey::decrypt(&kept, secrets).map(drop),
        None => Ok(()),
    }
}

/// The tenant of a token that an upstream checks. Its name is a hash of the token.
fn tenant_from_token(hash_key: &hmac::Key, token: &str) -> Tenant {
    let mut name = String::from(TOKEN);
    push_hex(&mut name, &hmac::sign(hash_key, token.as_bytes()).as_ref()[..16]);
    Tenant::new(name)
}

/// The tenant in the header of a proxy. Two values, also joined with a comma, are rejected, because
/// the caller may have sent one of them.
fn tenant_in_header(header: &HeaderName, headers: &HeaderMap) -> Result<Tenant, ApiError> {
    let mut values = headers.get_all(header).iter();
    let Some(value) = values.next() else {
        return Err(ApiError::MissingTenant { header: header.to_string() });
    };
    let name = value.to_str().ok().filter(|name| {
        let is_short = (1..=MAX_NAME).contains(&name.len());
        is_short && name.bytes().all(|byte| byte.is_ascii_graphic() && byte != b',')
    });
    match (name, values.next()) {
        (Some(name), None) => Ok(Tenant::new(format!("{NAMED}{name}"))),
        _ => Err(ApiError::InvalidTenant { header: header.to_string(), maximum: MAX_NAME }),
    }
}

fn bearer_token(headers: &HeaderMap) -> Option<&str> {
    let value = headers.get(header::AUTHORIZATION)?.to_str().ok()?;
    let (scheme, token) = value.split_once(' ')?;
    (scheme.eq_ignore_ascii_case("bearer") && !token.is_empty()).then_some(token.trim())
}

/// The key in the header of Anthropic's clients, of Azure's or of Google's.
fn key_header(headers: &HeaderMap) -> Option<&str> {
    let names = ["x-api-key", "api-key", "x-goog-api-key"];
    let key = names.into_iter().find_map(|name| headers.get(name))?.to_str().ok()?.trim();
    (!key.is_empty()).then_some(key)
}

fn incorrect_key(token: &str) -> ApiError {
    match token {
        "" => ApiError::MissingKey,
        token => ApiError::IncorrectKey { shown: shown_start(token) },
    }
}

/// The start of a wrong key, so that its owner can recognize it: at most a quarter of the key.
fn shown_start(token: &str) -> String {
    let shown = if token.chars().count() >= 12 { 3 } else { 0 };
    token.chars().take(shown).collect()
}

#[cfg(test)]
mod tests;
