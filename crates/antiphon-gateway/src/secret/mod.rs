//! The gateway's own key: a random key in the store, shared by all gateways on it. The key of each
//! hash and digest is derived from it, with one derived key per purpose.

mod envelope;

use std::io;

use antiphon::IdSource;
use antiphon::item::FingerprintKey;
use antiphon_store::{Store, StoreError};
use bytes::Bytes;
use ring::hmac;
use zeroize::Zeroizing;

use crate::entropy::RandomIds;
use crate::settings::Secret;

/// The name of the key in the store.
pub(crate) const NAME: &str = "secret";

/// The maximum number of attempts to replace the envelope while other gateways also replace it.
const TRIES: usize = 8;

/// The key from which all other keys are derived. It is never shown, and overwritten when it is
/// dropped.
pub(crate) struct MasterKey(Zeroizing<[u8; 32]>);

impl MasterKey {
    /// Loads the key from the store, or creates and stores a new one.
    ///
    /// If the operator has `secrets`, the stored key is encrypted. Any of them can decrypt it, and
    /// the first one encrypts it again, so the secrets can change while the key stays the same. To
    /// change secrets while several gateways run, give all gateways both secrets, then both with
    /// the new one first, then only the new one.
    pub(crate) async fn load(store: &dyn Store, secrets: &[Secret]) -> io::Result<Self> {
        let new = Self(Zeroizing::new(random()));
        let mut kept = keep(store, new.closed(secrets.first())).await?;
        for _ in 0..TRIES {
            let (key, is_current) = Self::opened(&kept, secrets)?;
            if is_current {
                return Ok(key);
            }
            let closed = key.closed(secrets.first());
            if store.replace_value(NAME, kept, closed).await.map_err(io::Error::other)? {
                return Ok(key);
            }
            kept = keep(store, new.closed(secrets.first())).await?;
        }
        Err(io::Error::other("other gateways keep changing the secret; give all of them the same"))
    }

    /// Decrypts a key that was read from the store.
    pub(crate) fn decrypt(kept: &Bytes, secrets: &[Secret]) -> io::Result<Self> {
        Ok(Self::opened(kept, secrets)?.0)
    }

    /// Derives the key for one purpose.
    pub(crate) fn derive(&self, purpose: &str) -> Zeroizing<[u8; 32]> {
        let key = hmac::Key::new(hmac::HMAC_SHA256, &*self.0);
        let mut derived = Zeroizing::new([0; 32]);
        derived.copy_from_slice(hmac::sign(&key, purpose.as_bytes()).as_ref());
        derived
    }

    /// The key of the fingerprints of items.
    pub(crate) fn fingerprint_key(&self) -> FingerprintKey {
        let mut key = [0; 16];
        key.copy_from_slice(&self.derive("fingerprints of items")[..16]);
        FingerprintKey::new(key)
    }

    /// The stored form of the key.
    fn closed(&self, secret: Option<&Secret>) -> Bytes {
        match secret {
            None => Bytes::copy_from_slice(&*self.0),
            Some(secret) => envelope::close(&self.0, secret),
        }
    }

    /// The key, and whether its stored form is up to date.
    fn opened(kept: &Bytes, secrets: &[Secret]) -> io::Result<(Self, bool)> {
        if let Ok(plain) = <[u8; 32]>::try_from(&**kept) {
            return Ok((Self(Zeroizing::new(plain)), secrets.is_empty()));
        }
        let open = |(at, secret)| Some((Self(envelope::open(kept, secret)?), at == 0));
        match secrets.iter().enumerate().find_map(open) {
            Some(opened) => Ok(opened),
            None => Err(io::Error::other(if secrets.is_empty() { NO_SECRET } else { NO_FIT })),
        }
    }
}

const NO_SECRET: &str = "the store was last opened with --secret; give the same secret again";
const NO_FIT: &str = "the store was last opened with a secret that is not among these; add it";

async fn keep(store: &dyn Store, candidate: Bytes) -> io::Result<Bytes> {
    store
        .value_or_insert(NAME, candidate)
        .await
        .map_err(|error: StoreError| io::Error::other(error))
}

fn random<const N: usize>() -> [u8; N] {
    let mut bytes = [0; N];
    RandomIds.fill(&mut bytes);
    bytes
}

#[cfg(test)]
mod tests;
