//! A key, encrypted with an operator's secret.
//!
//! ```text
//! antiphon-key-1 | salt, 16 bytes | nonce, 12 bytes | key and tag, 48 bytes
//! ```
//!
//! The encryption key (AES-256-GCM) is derived from the secret and the salt with HKDF-SHA-256.

use bytes::Bytes;
use ring::aead::{AES_256_GCM, Aad, LessSafeKey, Nonce, UnboundKey};
use ring::hkdf;
use zeroize::Zeroizing;

use super::random;
use crate::settings::Secret;

const VERSION: &[u8] = b"antiphon-key-1";

/// Encrypts `key`.
pub(super) fn close(key: &[u8; 32], secret: &Secret) -> Bytes {
    let (salt, nonce) = (random::<16>(), random::<12>());
    let mut content = key.to_vec();
    encryption(secret, &salt)
        .seal_in_place_append_tag(
            Nonce::assume_unique_for_key(nonce),
            Aad::from(VERSION),
            &mut content,
        )
        .expect("a key is shorter than what may be encrypted");
    [VERSION, &salt, &nonce, &content].concat().into()
}

/// Decrypts an envelope. `None` if it was not encrypted with `secret`.
pub(super) fn open(envelope: &[u8], secret: &Secret) -> Option<Zeroizing<[u8; 32]>> {
    let rest = envelope.strip_prefix(VERSION)?;
    let (salt, rest) = rest.split_first_chunk::<16>()?;
    let (nonce, content) = rest.split_first_chunk::<12>()?;
    let mut content = Zeroizing::new(content.to_vec());
    let nonce = Nonce::assume_unique_for_key(*nonce);
    let opened = encryption(secret, salt).open_in_place(nonce, Aad::from(VERSION), &mut content);
    <[u8; 32]>::try_from(&*opened.ok()?).ok().map(Zeroizing::new)
}

fn encryption(secret: &Secret, salt: &[u8; 16]) -> LessSafeKey {
    let material = hkdf::Salt::new(hkdf::HKDF_SHA256, salt).extract(secret.reveal().as_bytes());
    let key = material.expand(&[VERSION], &AES_256_GCM).expect("a key's length can be derived");
    LessSafeKey::new(UnboundKey::from(key))
}
