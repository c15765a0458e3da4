//! What a message says, as a keyed hash: equal text, equal fingerprint, whatever form it came in.

use std::fmt;
use std::hash::Hasher;

use siphasher::sip128::{Hasher128, SipHasher13};

use super::{Item, Kind, Role};
use crate::json::{self, Object};

/// The key under which fingerprints are made. With a secret key a fingerprint tells nothing of the
/// text, so it may outlive a deleted message.
#[derive(Clone, Copy)]
pub struct FingerprintKey([u8; 16]);

impl FingerprintKey {
    /// A key of 16 bytes. All zeros will do where fingerprints are not kept.
    pub const fn new(bytes: [u8; 16]) -> Self {
        Self(bytes)
    }

    /// A digest of any bytes under this key.
    pub(crate) fn digest(self, bytes: &[u8]) -> u128 {
        let mut hasher = SipHasher13::new_with_key(&self.0);
        hasher.write(bytes);
        hasher.finish128().as_u128()
    }
}

impl fmt::Debug for FingerprintKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("FingerprintKey(…)")
    }
}

/// The fingerprint of a message: its role and what it says.
///
/// `"hi"` and `[{"type":"input_text","text":"hi"}]` have one fingerprint: ids, status, annotations,
/// log probabilities and fabricated nulls do not count. Parts that are no text count by what they
/// point at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Fingerprint(u128);

impl Fingerprint {
    /// The fingerprint of a message; `None` for items of other kinds.
    pub fn of(key: FingerprintKey, item: &Item) -> Option<Self> {
        if item.head().kind != Kind::Message {
            return None;
        }
        let mut hasher = SipHasher13::new_with_key(&key.0);
        hasher.write_u8(item.head().role.map_or(0, role_tag));
        if let Some(content) = item.object().present("content") {
            hash_content(&mut hasher, content);
        }
        Some(Self(hasher.finish128().as_u128()))
    }

    /// As a number, to be stored.
    pub fn as_u128(self) -> u128 {
        self.0
    }

    /// From the number that was stored.
    pub fn from_u128(number: u128) -> Self {
        Self(number)
    }
}

fn role_tag(role: Role) -> u8 {
    match role {
        Role::User => 1,
        Role::Assistant => 2,
        Role::System => 3,
        Role::Developer => 4,
        Role::Other => 5,
    }
}

/// Whether two raw contents say the same, as a string or as parts.
pub(super) fn same_content(one: &str, two: &str) -> bool {
    let print = |content| {
        let mut hasher = SipHasher13::new();
        hash_content(&mut hasher, content);
        hasher.finish128().as_u128()
    };
    print(one) == print(two)
}

fn hash_content(hasher: &mut SipHasher13, content: &str) {
    if let Some(text) = json::unquote(content) {
        hasher.write(text.as_bytes());
    } else if let Ok(parts) = serde_json::from_str::<Vec<Object<'_>>>(content) {
        for part in &parts {
            hash_part(hasher, part);
        }
    } else {
        hash_field(hasher, "", content);
    }
}

/// What a part points at, where it is no text.
const POINTERS: [&str; 6] =
    ["image_url", "file_id", "file_url", "file_data", "filename", "input_audio"];

/// Texts run together, since clients join and split them; a part of another type is set off. A part
/// that nobody knows counts whole.
fn hash_part(hasher: &mut SipHasher13, part: &Object<'_>) {
    let text = part.string("text").or_else(|| part.string("refusal"));
    if let Some(text) = text {
        hasher.write(text.as_bytes());
        return;
    }
    let is_known = POINTERS.iter().any(|key| part.present(key).is_some());
    let counts = |key: &str, raw: &str| raw != "null" && (!is_known || POINTERS.contains(&key));
    let mut fields: Vec<_> = part.iter().filter(|(key, raw)| counts(key, raw)).collect();
    fields.sort_unstable();
    for (key, raw) in fields {
        hash_field(hasher, key, raw);
    }
}

/// No text holds the byte 0xff, so what is set off by it is never taken for text.
fn hash_field(hasher: &mut SipHasher13, key: &str, raw: &str) {
    hasher.write_u8(0xff);
    hasher.write(key.as_bytes());
    hasher.write_u8(0xff);
    match json::unquote(raw) {
        Some(text) => hasher.write(text.as_bytes()),
        None => hasher.write(raw.as_bytes()),
    }
    hasher.write_u8(0xff);
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEY: FingerprintKey = FingerprintKey::new([7; 16]);

    fn fingerprint(text: &'static str) -> Option<Fingerprint> {
        Fingerprint::of(KEY, &Item::parse(text.into()).unwrap())
    }

    #[test]
    fn form_does_not_count_and_text_does() {
        let easy = fingerprint(r#"{"role":"user","content":"h\u0069"}"#);
        let full = fingerprint(
            r#"{"type":"message","role":"user","id":"msg_1","status":"completed",
                "content":[{"type":"input_text","text":"h"},{"type":"input_text","text":"i"}]}"#,
        );
        assert_eq!(easy, full);
        assert_ne!(easy, fingerprint(r#"{"role":"user","content":"ho"}"#));
        assert_ne!(easy, fingerprint(r#"{"role":"assistant","content":"hi"}"#));
    }

    #[test]
    fn images_differ_by_what_they_show() {
        let image = |url: &str| {
            Item::parse(
                format!(
                    r#"{{"role":"user","content":[{{"type":"input_image","image_url":"{url}"}}]}}"#
                )
                .into(),
            )
            .unwrap()
        };
        let of = |url| Fingerprint::of(KEY, &image(url));
        assert_ne!(of("https://a/1.png"), of("https://a/2.png"));
    }

    #[test]
    fn parts_that_nobody_knows_count_whole() {
        let one =
            fingerprint(r#"{"role":"user","content":[{"type":"input_scent","scent":"rose"}]}"#);
        let other =
            fingerprint(r#"{"role":"user","content":[{"type":"input_scent","scent":"oak"}]}"#);
        let none = fingerprint(r#"{"role":"user","content":[]}"#);
        assert_ne!(one, other);
        assert_ne!(one, none);
    }

    #[test]
    fn the_order_of_a_parts_fields_does_not_count() {
        let one = fingerprint(
            r#"{"role":"user","content":[{"type":"input_file","file_id":"f","filename":"a.pdf"}]}"#,
        );
        let two = fingerprint(
            r#"{"role":"user","content":[{"filename":"a.pdf","file_id":"f","type":"input_file"}]}"#,
        );
        assert_eq!(one, two);
    }

    #[test]
    fn only_messages_have_one() {
        assert_eq!(fingerprint(r#"{"type":"reasoning","id":"rs_1","summary":[]}"#), None);
    }
}
