//! Access for callers: API keys, the tenant header of a trusted proxy, and secrets.

use antiphon_gateway::settings::{ApiKey, KeyHash, Secret};
use antiphon_store::Tenant;
use http::HeaderName;

use super::parse::{A_KEY, is_token};
use super::values::Value;
use crate::failure::Failure;

/// The minimum length of a secret, in characters.
const SHORTEST: usize = 16;

/// Parses the API keys with their tenants. Rejects a key that occurs twice.
pub(super) fn api_keys(values: &[Value]) -> Result<Vec<ApiKey>, Failure> {
    let mut keys: Vec<ApiKey> = Vec::with_capacity(values.len());
    for value in values {
        let key = api_key(value)?;
        if let Some(first) = keys.iter().find(|known| known.hash == key.hash) {
            let (first, second) = (first.tenant.as_str(), key.tenant.as_str());
            return Err(value.refused(format!("'{first}' and '{second}' are given the same key")));
        }
        keys.push(key);
    }
    Ok(keys)
}

/// Parses `KEY=TENANT`. The last `=` separates the two: keys in base64 may end in `=`, and names of
/// tenants do not need it.
pub(super) fn api_key(value: &Value) -> Result<ApiKey, Failure> {
    let (key, tenant) = value
        .text()
        .rsplit_once('=')
        .filter(|(key, tenant)| !key.is_empty() && !tenant.is_empty())
        .ok_or_else(|| value.refused("an entry is not of the form KEY=TENANT"))?;
    if tenant.trim() != tenant {
        return Err(value.refused(format!("the tenant '{tenant}' begins with a blank")));
    }
    if antiphon_gateway::is_reserved(tenant) {
        return Err(value.refused(format!(
            "'{tenant}' is a name that the gateway gives to callers without a key; choose another"
        )));
    }
    let hash = match KeyHash::is_meant_by(key) {
        true => KeyHash::parse(key).ok_or_else(|| {
            value
                .refused(format!("the hash of '{tenant}' is not sha256: and 64 hexadecimal digits"))
        })?,
        false if is_token(key) => KeyHash::of(key),
        false => return Err(value.refused(format!("the key of '{tenant}' {A_KEY}"))),
    };
    Ok(ApiKey { hash, tenant: Tenant::new(tenant) })
}

/// Headers that hold a caller's token. As a tenant header, such a header would put tokens into the
/// store and the log.
const OF_TOKENS: [&str; 5] =
    ["authorization", "proxy-authorization", "cookie", "x-api-key", "api-key"];

/// Parses the name of a header that can name tenants. Rejects headers that hold a token.
pub(super) fn tenant_header(value: &Value) -> Result<HeaderName, Failure> {
    let name = value.text();
    let parsed = name.parse::<HeaderName>().ok();
    parsed
        .filter(|name| !OF_TOKENS.contains(&name.as_str()))
        .ok_or_else(|| value.refused(format!("'{name}' is not a header that can name a tenant")))
}

/// Parses a secret. Commas are rejected because they separate the secrets in the environment
/// variable.
pub(super) fn secret(value: &Value) -> Result<Secret, Failure> {
    let text = value.text();
    if text.chars().count() < SHORTEST || text.contains(',') {
        let sentence = format!("a secret has at least {SHORTEST} characters and no comma");
        return Err(value.refused(sentence));
    }
    Ok(Secret::new(text))
}
