//! Identifies a request, so that a retry by the client is recognized.

use antiphon_store::RequestDigest;
use http::HeaderMap;
use ring::hmac;

use crate::error::ApiError;

/// A key chosen by the client. Requests with the same key are the same request.
const KEY: &str = "idempotency-key";
/// The retry count of the client. Source: the provider's own clients, which send it with every
/// request and use no key by default.
const RETRIES: &str = "x-stainless-retry-count";

/// The maximum length of a key in bytes.
const MAX_KEY: usize = 255;

/// The key for the digests of requests.
pub(crate) struct DigestKey(hmac::Key);

/// The identity of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Identity {
    /// A digest of the body and of the client's key, if any.
    pub(crate) digest: RequestDigest,
    /// The evidence that the request is a retry.
    pub(crate) evidence: RetryEvidence,
}

/// Whether a request may be a retry, according to its headers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RetryEvidence {
    /// It is not a retry.
    None,
    /// The client's retry count is above zero.
    RetryCount,
    /// It has an idempotency key. A retry has the same key.
    IdempotencyKey,
}

impl DigestKey {
    /// Creates the key from its bytes.
    pub(crate) fn new(key: &[u8; 32]) -> Self {
        Self(hmac::Key::new(hmac::HMAC_SHA256, key))
    }

    /// The identity of a request with these headers and this body.
    pub(crate) fn identify(&self, headers: &HeaderMap, body: &[u8]) -> Result<Identity, ApiError> {
        let key = headers.get(KEY).map(http::HeaderValue::as_bytes).filter(|key| !key.is_empty());
        if key.is_some_and(|key| key.len() > MAX_KEY) {
            return Err(ApiError::HeaderTooLong { name: KEY, maximum: MAX_KEY });
        }
        let evidence = match key {
            Some(_) => RetryEvidence::IdempotencyKey,
            None if counts_retries(headers) => RetryEvidence::RetryCount,
            None => RetryEvidence::None,
        };
        Ok(Identity { digest: self.digest(key, body), evidence })
    }

    fn digest(&self, key: Option<&[u8]>, body: &[u8]) -> RequestDigest {
        let mut signing = hmac::Context::with_key(&self.0);
        signing.update(&[key.map_or(0, |key| u8::try_from(key.len()).unwrap_or(u8::MAX))]);
        signing.update(key.unwrap_or_default());
        signing.update(body);
        let mut digest = [0; 16];
        digest.copy_from_slice(&signing.sign().as_ref()[..16]);
        RequestDigest(digest)
    }
}

fn counts_retries(headers: &HeaderMap) -> bool {
    let count = headers.get(RETRIES).and_then(|value| value.to_str().ok());
    count.and_then(|count| count.trim().parse::<u32>().ok()).is_some_and(|count| count > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn identity(headers: &[(&'static str, &str)], body: &str) -> Identity {
        let headers = headers
            .iter()
            .map(|(name, value)| (http::HeaderName::from_static(name), value.parse().unwrap()));
        DigestKey::new(&[7; 32]).identify(&headers.collect(), body.as_bytes()).unwrap()
    }

    #[test]
    fn retry_has_the_digest_of_its_first_attempt() {
        let first = identity(&[(RETRIES, "0")], "{}");
        let evidence = identity(&[(RETRIES, "1")], "{}");
        assert_eq!(
            (first.evidence, evidence.evidence),
            (RetryEvidence::None, RetryEvidence::RetryCount)
        );
        assert_eq!(first.digest, evidence.digest);
        assert_ne!(first.digest, identity(&[], "{ }").digest);
    }

    #[test]
    fn equal_bodies_with_different_keys_differ() {
        let one = identity(&[(KEY, "one")], "{}");
        assert_eq!(one.evidence, RetryEvidence::IdempotencyKey);
        assert_eq!(one, identity(&[(KEY, "one"), (RETRIES, "2")], "{}"));
        assert_ne!(one.digest, identity(&[(KEY, "two")], "{}").digest);
        assert_ne!(one.digest, identity(&[], "{}").digest);
        assert_ne!(one.digest, identity(&[(KEY, "on")], "e{}").digest);
    }

    #[test]
    fn invalid_retry_counts_are_ignored() {
        for count in ["0", "", "-1", "many"] {
            assert_eq!(identity(&[(RETRIES, count)], "{}").evidence, RetryEvidence::None);
        }
        assert_eq!(identity(&[(KEY, "")], "{}").evidence, RetryEvidence::None);
    }

    #[test]
    fn key_length_is_limited() {
        let headers = [(http::HeaderName::from_static(KEY), "k".repeat(256).parse().unwrap())];
        let refused = DigestKey::new(&[7; 32]).identify(&headers.into_iter().collect(), b"{}");
        let message = "The header 'idempotency-key' is longer than 255 bytes.";
        assert_eq!(refused.unwrap_err().to_string(), message);
    }
}
