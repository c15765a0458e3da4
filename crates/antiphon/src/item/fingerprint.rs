//! Fingerprints of messages: keyed hashes of role and content, independent of the JSON form.

use std::fmt;
use std::hash::Hasher;

use siphasher::sip128::{Hasher128, SipHasher13};

use super::{Item, Kind, Role};
use crate::json::{self, Object};

/// The key of the fingerprint hash. If the key is secret, a fingerprint reveals nothing about the
/// text, so it may be stored longer than the message.
#[derive(Clone, Copy)]
pub struct FingerprintKey([u8; 16]);

impl FingerprintKey {
    /// A key of 16 bytes. If fingerprints are not stored, all zeros are good enough.
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

/// The fingerprint of a message's role and content.
///
/// `"hi"` and `[{"type":"input_text","text":"hi"}]` have the same fingerprint. Ids, status,
/// annotations, log probabilities and null fields do not count. Images and files count by their
/// URL, id, name or data.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Fingerprint(u128);

impl Fingerprint {
    /// The fingerprint of a message; `None` for items of other kinds.
    pub fn from_item(key: FingerprintKey, item: &Item) -> Option<Self> {
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

    /// The fingerprint as a number, for storage.
    pub fn as_u128(self) -> u128 {
        self.0
    }

    /// The fingerprint from a stored number.
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

/// Whether two raw contents, each a string or an array of parts, are equal.
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
    } else if let Some(parts) = parts(content) {
        for part in &parts {
            hash_part(hasher, part);
        }
    } else {
        hash_field(hasher, "", content);
    }
}

/// The parts of a content; `None` if it is not a list of objects.
fn parts(content: &str) -> Option<Vec<Object<'_>>> {
    json::elements(content)?.into_iter().map(|part| Object::parse_str(part).ok()).collect()
}

/// The fields that identify an image or a file.
const POINTERS: [&str; 6] =
    ["image_url", "file_id", "file_url", "file_data", "filename", "input_audio"];

/// Consecutive texts are hashed as one, because clients join and split them. Other parts are
/// delimited. All fields of an unknown part count.
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

/// UTF-8 text never contains the byte 0xff, so a field between two of them cannot equal a text.
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
        Fingerprint::from_item(KEY, &Item::parse(text.into()).unwrap())
    }

    #[test]
    fn fingerprint_depends_on_text_not_form() {
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
    fn fingerprint_depends_on_the_image_url() {
        let image = |url: &str| {
            Item::parse(
                format!(
                    r#"{{"role":"user","content":[{{"type":"input_image","image_url":"{url}"}}]}}"#
                )
                .into(),
            )
            .unwrap()
        };
        let of = |url| Fingerprint::from_item(KEY, &image(url));
        assert_ne!(of("https://a/1.png"), of("https://a/2.png"));
    }

    #[test]
    fn unknown_parts_count_entirely() {
        let one =
            fingerprint(r#"{"role":"user","content":[{"type":"input_scent","scent":"rose"}]}"#);
        let other =
            fingerprint(r#"{"role":"user","content":[{"type":"input_scent","scent":"oak"}]}"#);
        let none = fingerprint(r#"{"role":"user","content":[]}"#);
        assert_ne!(one, other);
        assert_ne!(one, none);
    }

    #[test]
    fn order_of_part_fields_is_ignored() {
        let one = fingerprint(
            r#"{"role":"user","content":[{"type":"input_file","file_id":"f","filename":"a.pdf"}]}"#,
        );
        let two = fingerprint(
            r#"{"role":"user","content":[{"filename":"a.pdf","file_id":"f","type":"input_file"}]}"#,
        );
        assert_eq!(one, two);
    }

    #[test]
    fn only_messages_have_a_fingerprint() {
        assert_eq!(fingerprint(r#"{"type":"reasoning","id":"rs_1","summary":[]}"#), None);
    }
}
