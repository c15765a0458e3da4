//! Finding out who is calling.
//!
//! A tenant is named by a key of the operator's, by a header that a trusted proxy sets, or by the
//! token that an upstream will judge. The names of the last two have prefixes of their own, so that
//! none of the three can be taken for another.

mod refused;

use std::io;

use antiphon::item::push_hex;
use antiphon_store::{Snapshot, Tenant};
use http::{HeaderMap, HeaderName, StatusCode, header};
use ring::hmac;

pub(crate) use self::refused::RefusedCallers;
use crate::caller::Caller;
use crate::error::ApiError;
use crate::request_id::RequestId;
use crate::secret::{self, MasterKey};
use crate::settings::{ApiKey, KeyHash, Secret, Settings};

/// The tenant of all callers where nothing tells them apart.
const EVERYONE: &str = "everyone";
const TOKEN: &str = "token-";
const NAMED: &str = "named-";

/// What the key is for by which tokens name tenants.
pub(crate) const NAMES: &str = "names of tenants";

/// The bound on a tenant's name in a header, in bytes.
const MAX_NAME: usize = 256;

/// Tells callers apart.
pub(crate) struct Authenticator {
    naming: Naming,
    /// Whether an upstream is shown the callers' own tokens.
    tokens_go_upstream: bool,
    hash_key: hmac::Key,
}

/// What names a caller's tenant.
enum Naming {
    /// A key of the operator's; who shows none is refused.
    Keys(Vec<ApiKey>),
    /// A trusted proxy, in this header; what does not come through it is refused.
    Header(HeaderName),
    /// The token that goes upstream; who shows none is [`EVERYONE`].
    Token,
    /// Nothing: no token goes anywhere, so that nobody judges it.
    Nothing,
}

/// Settings of which it is not clear whose data a caller sees, as a sentence for the operator.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum NamingError {
    #[error("keys and a header both say whose data a caller sees; give one of them")]
    KeysAndHeader,
    #[error("'{0}' is a name that the gateway gives to callers without a key")]
    Reserved(String),
}

/// Whether a tenant's name is one that the gateway gives itself, which no key may open.
pub fn is_reserved(name: &str) -> bool {
    name == EVERYONE || name.starts_with(TOKEN) || name.starts_with(NAMED)
}

/// The reason why no caller can be this tenant under these settings, as a sentence for the operator.
pub fn tenant_flaw(settings: &Settings, tenant: &Tenant) -> Option<String> {
    let name = tenant.as_str();
    let naming = Naming::of(settings, tokens_go_upstream(settings)).ok()?;
    let expected = match &naming {
        Naming::Keys(keys) if keys.iter().any(|key| key.tenant == *tenant) => return None,
        Naming::Keys(keys) => {
            let mut names: Vec<&str> = keys.iter().map(|key| key.tenant.as_str()).collect();
            names.sort_unstable();
            names.dedup();
            format!("the tenants of the API keys are {}", names.join(", "))
        }
        Naming::Header(_) if name.starts_with(NAMED) => return None,
        Naming::Header(header) => format!("'{header}: {name}' names the tenant '{NAMED}{name}'"),
        Naming::Token if name == EVERYONE || name.starts_with(TOKEN) => return None,
        Naming::Token => format!(
            "callers are told apart by their tokens, and their tenants begin with '{TOKEN}'; \
             antiphon tenants lists them"
        ),
        Naming::Nothing if name == EVERYONE => return None,
        Naming::Nothing => format!("without API keys, all callers are the tenant '{EVERYONE}'"),
    };
    Some(format!("no caller can be the tenant '{name}': {expected}"))
}

/// Whether an upstream is shown the callers' own tokens.
fn tokens_go_upstream(settings: &Settings) -> bool {
    settings.upstreams.iter().any(|upstream| upstream.key.is_none())
}

impl Naming {
    fn of(settings: &Settings, tokens_go_upstream: bool) -> Result<Self, NamingError> {
        let keys = &settings.api_keys;
        if let Some(key) = keys.iter().find(|key| is_reserved(key.tenant.as_str())) {
            return Err(NamingError::Reserved(key.tenant.as_str().to_owned()));
        }
        match (keys.is_empty(), &settings.tenant_header) {
            (false, Some(_)) => Err(NamingError::KeysAndHeader),
            (false, None) => Ok(Self::Keys(keys.clone())),
            (true, Some(header)) => Ok(Self::Header(header.clone())),
            (true, None) if tokens_go_upstream => Ok(Self::Token),
            (true, None) => Ok(Self::Nothing),
        }
    }
}

impl Authenticator {
    /// `hash_key` keys the hashes by which tokens name tenants.
    pub(crate) fn new(settings: &Settings, hash_key: [u8; 32]) -> Result<Self, NamingError> {
        let tokens_go_upstream = tokens_go_upstream(settings);
        Ok(Self {
            naming: Naming::of(settings, tokens_go_upstream)?,
            tokens_go_upstream,
            hash_key: hmac::Key::new(hmac::HMAC_SHA256, &hash_key),
        })
    }

    /// The caller that these headers name.
    pub(crate) fn authenticate(
        &self,
        headers: &HeaderMap,
        request_id: RequestId,
    ) -> Result<Caller, ApiError> {
        let token = bearer_token(headers).or_else(|| anthropic_key(headers));
        let tenant = match (&self.naming, token) {
            (Naming::Keys(keys), token) => self.tenant_of_key(keys, token.unwrap_or_default())?,
            (Naming::Header(header), _) => named(header, headers)?,
            (Naming::Token, Some(token)) => hashed(&self.hash_key, token),
            (Naming::Token, None) | (Naming::Nothing, _) => Tenant::new(EVERYONE),
        };
        let token = token.filter(|_| self.tokens_go_upstream).map(Secret::new);
        Ok(Caller { tenant, token, request_id, headers: self.provider_headers(headers) })
    }

    /// Whether all callers are one tenant.
    pub(crate) fn has_one_tenant(&self) -> bool {
        match &self.naming {
            Naming::Keys(keys) => keys.iter().all(|key| key.tenant == keys[0].tenant),
            Naming::Header(_) | Naming::Token => false,
            Naming::Nothing => true,
        }
    }

    /// Compares with every key, each in constant time, so that time tells nothing about them.
    fn tenant_of_key(&self, keys: &[ApiKey], token: &str) -> Result<Tenant, ApiError> {
        let shown = hmac::sign(&self.hash_key, KeyHash::of(token).as_bytes());
        let mut tenant = None;
        for key in keys {
            let matches = hmac::verify(&self.hash_key, key.hash.as_bytes(), shown.as_ref()).is_ok();
            tenant = tenant.or(matches.then_some(&key.tenant));
        }
        tenant.cloned().ok_or_else(|| incorrect_key(token))
    }

    /// The provider's headers that go upstream; the one that names the tenant stays here.
    fn provider_headers(&self, headers: &HeaderMap) -> HeaderMap {
        let names_tenant =
            |name: &HeaderName| matches!(&self.naming, Naming::Header(header) if header == name);
        let is_providers = |name: &str| name.starts_with("openai-") || name == "traceparent";
        let kept =
            headers.iter().filter(|(name, _)| is_providers(name.as_str()) && !names_tenant(name));
        kept.map(|(name, value)| (name.clone(), value.clone())).collect()
    }
}

/// The tenant that callers with this token are, where an upstream judges it, in the store of this
/// snapshot. `None` where no gateway has ever been started on it. The error is a sentence for the
/// operator: none of the secrets opens the store's key.
pub async fn tenant_of_token(
    snapshot: &mut dyn Snapshot,
    secrets: &[Secret],
    token: &str,
) -> io::Result<Option<Tenant>> {
    let kept = snapshot.kept(secret::NAME).await.map_err(io::Error::other)?;
    let Some(kept) = kept else { return Ok(None) };
    let hash_key = MasterKey::found(&kept, secrets)?.derive(NAMES);
    Ok(Some(hashed(&hmac::Key::new(hmac::HMAC_SHA256, &hash_key), token)))
}

/// Whether one of the secrets opens the key that the store of this snapshot keeps, as a gateway
/// would open it when it starts. The error is a sentence for the operator.
pub async fn check_secrets(snapshot: &mut dyn Snapshot, secrets: &[Secret]) -> io::Result<()> {
    match snapshot.kept(secret::NAME).await.map_err(io::Error::other)? {
        Some(kept) => MasterKey::found(&kept, secrets).map(drop),
        None => Ok(()),
    }
}

/// A token that an upstream will judge names a tenant by its hash.
fn hashed(hash_key: &hmac::Key, token: &str) -> Tenant {
    let mut name = String::from(TOKEN);
    push_hex(&mut name, &hmac::sign(hash_key, token.as_bytes()).as_ref()[..16]);
    Tenant::new(name)
}

/// The tenant that a proxy names. Two names are none, and so are two that a proxy joined with a
/// comma: a caller may have sent one of them.
fn named(header: &HeaderName, headers: &HeaderMap) -> Result<Tenant, ApiError> {
    let mut values = headers.get_all(header).iter();
    let Some(value) = values.next() else {
        let message = format!("The header '{header}', which names the caller, is missing.");
        return Err(unauthorized(message));
    };
    let name = value.to_str().ok().filter(|name| {
        let is_short = (1..=MAX_NAME).contains(&name.len());
        is_short && name.bytes().all(|byte| byte.is_ascii_graphic() && byte != b',')
    });
    match (name, values.next()) {
        (Some(name), None) => Ok(Tenant::new(format!("{NAMED}{name}"))),
        _ => Err(ApiError::invalid(format!(
            "The header '{header}' must stand once, with 1 to {MAX_NAME} visible ASCII characters \
             and no comma."
        ))),
    }
}

fn bearer_token(headers: &HeaderMap) -> Option<&str> {
    let value = headers.get(header::AUTHORIZATION)?.to_str().ok()?;
    let (scheme, token) = value.split_once(' ')?;
    (scheme.eq_ignore_ascii_case("bearer") && !token.is_empty()).then_some(token.trim())
}

/// The key as Anthropic's clients show it.
fn anthropic_key(headers: &HeaderMap) -> Option<&str> {
    let key = headers.get("x-api-key")?.to_str().ok()?.trim();
    (!key.is_empty()).then_some(key)
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
mod tests;
