//! The gateway's own key: random, kept by the store, and shared by all gateways on it. Every hash
//! and every digest is keyed with a key derived from it, one for each purpose.

mod envelope;

use std::io;

use antiphon::IdSource;
use antiphon_store::{Store, StoreError};
use bytes::Bytes;
use ring::hmac;

use crate::entropy::RandomIds;
use crate::settings::Secret;

/// The name under which stores keep it.
pub(crate) const NAME: &str = "secret";

/// How often another gateway may be quicker to put the key in another envelope.
const TRIES: usize = 8;

/// The key that all others are derived from. It is never shown.
pub(crate) struct MasterKey([u8; 32]);

impl MasterKey {
    /// The key that the store keeps, or a new one that it keeps from now on.
    ///
    /// Where the operator has `secrets`, the store keeps it encrypted: any of them may open it, and
    /// the first closes it again, so that the operator's secrets can change and the key does not. To
    /// change them while several gateways run, give all of them both, then both with the new one
    /// first, then the new one alone.
    pub(crate) async fn of(store: &dyn Store, secrets: &[Secret]) -> io::Result<Self> {
        let new = Self(random());
        let mut kept = keep(store, new.closed(secrets.first())).await?;
        for _ in 0..TRIES {
            let (key, is_current) = Self::opened(&kept, secrets)?;
            if is_current {
                return Ok(key);
            }
            let closed = key.closed(secrets.first());
            if store.replace(NAME, kept, closed).await.map_err(io::Error::other)? {
                return Ok(key);
            }
            kept = keep(store, new.closed(secrets.first())).await?;
        }
        Err(io::Error::other("other gateways keep changing the secret; give all of them the same"))
    }

    /// The key that a store was found to keep.
    pub(crate) fn found(kept: &Bytes, secrets: &[Secret]) -> io::Result<Self> {
        Ok(Self::opened(kept, secrets)?.0)
    }

    /// A key for one purpose.
    pub(crate) fn derive(&self, purpose: &str) -> [u8; 32] {
        let key = hmac::Key::new(hmac::HMAC_SHA256, &self.0);
        let mut derived = [0; 32];
        derived.copy_from_slice(hmac::sign(&key, purpose.as_bytes()).as_ref());
        derived
    }

    /// What the store keeps of it.
    fn closed(&self, secret: Option<&Secret>) -> Bytes {
        match secret {
            None => Bytes::copy_from_slice(&self.0),
            Some(secret) => envelope::close(&self.0, secret),
        }
    }

    /// The key, and whether it is kept as it should be.
    fn opened(kept: &Bytes, secrets: &[Secret]) -> io::Result<(Self, bool)> {
        if let Ok(plain) = <[u8; 32]>::try_from(&**kept) {
            return Ok((Self(plain), secrets.is_empty()));
        }
        let open = |(at, secret)| Some((Self(envelope::open(kept, secret)?), at == 0));
        match secrets.iter().enumerate().find_map(open) {
            Some(opened) => Ok(opened),
            None => Err(io::Error::other(if secrets.is_empty() { NO_SECRET } else { NO_FIT })),
        }
    }
}

const NO_SECRET: &str = "the store was opened with --secret before: give the same again";
const NO_FIT: &str = "none of the secrets is the one that the store was last opened with";

async fn keep(store: &dyn Store, candidate: Bytes) -> io::Result<Bytes> {
    store.keep(NAME, candidate).await.map_err(|error: StoreError| io::Error::other(error))
}

fn random<const N: usize>() -> [u8; N] {
    let mut bytes = [0; N];
    RandomIds.fill(&mut bytes);
    bytes
}

#[cfg(test)]
mod tests;
