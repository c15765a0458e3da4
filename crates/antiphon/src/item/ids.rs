//! Identifiers. Item ids and call ids have different types, because confusing them makes one tool
//! call appear as two items.

use std::fmt;
use std::sync::Arc;

/// A source of new identifiers. The engine itself has no randomness.
pub trait IdSource {
    /// Fills `bytes` so that the next identifier is unique, usually with random bytes.
    fn fill(&mut self, bytes: &mut [u8]);

    /// Fills the bytes of an identifier that a store sorts by. A source that knows the time begins
    /// them with it, so that a store keeps recent identifiers close together.
    fn fill_in_order(&mut self, bytes: &mut [u8]) {
        self.fill(bytes);
    }

    /// A new identifier: `prefix`, an underscore, 48 hexadecimal digits.
    fn issue(&mut self, prefix: &str) -> String {
        let mut bytes = [0; 24];
        self.fill_in_order(&mut bytes);
        identifier(prefix, &bytes)
    }

    /// A new `call_id`: `call_` and 24 hexadecimal digits. Chat Completions accepts at most 40
    /// characters.
    fn issue_call_id(&mut self) -> CallId {
        let mut bytes = [0; 24];
        self.fill(&mut bytes);
        CallId::from(identifier("call", &bytes[12..]))
    }
}

fn identifier(prefix: &str, bytes: &[u8]) -> String {
    let mut id = String::with_capacity(prefix.len() + 1 + 2 * bytes.len());
    id.push_str(prefix);
    id.push('_');
    push_hex(&mut id, bytes);
    id
}

/// Appends `bytes` to `text` as lowercase hexadecimal digits.
pub fn push_hex(text: &mut String, bytes: &[u8]) {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    text.reserve(bytes.len() * 2);
    for byte in bytes {
        text.push(char::from(DIGITS[usize::from(byte >> 4)]));
        text.push(char::from(DIGITS[usize::from(byte & 15)]));
    }
}

macro_rules! identifier {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub struct $name(Arc<str>);

        impl $name {
            /// The identifier as text.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl<T: Into<Arc<str>>> From<T> for $name {
            fn from(text: T) -> Self {
                Self(text.into())
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(&self.0)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Debug::fmt(&self.0, f)
            }
        }
    };
}

identifier!(
    /// The id of one item: `msg_…`, `fc_…`, `rs_…`. Issued by the server that stores the item.
    ItemId
);
identifier!(
    /// The id that a call and its output share: `call_…`. The model issues it.
    CallId
);
