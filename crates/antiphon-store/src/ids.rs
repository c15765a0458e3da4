//! Ids of stored objects.

use std::fmt;
use std::sync::Arc;

use antiphon::item::{IdSource, push_hex};

/// The owner of stored data. Every look-up names one.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Tenant(Arc<str>);

impl Tenant {
    /// Creates a tenant with this name.
    pub fn new(name: impl Into<Arc<str>>) -> Self {
        Self(name.into())
    }

    /// The name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Tenant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.0, f)
    }
}

/// The root of a tree of forks. All threads of the tree are in its shard, and the ids of its
/// conversations and responses contain it, so a turn touches one shard only. A store sorts threads
/// by their shards.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Shard(pub u64);

/// One append-only log of items within a shard.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ThreadId(pub u64);

impl Shard {
    /// Creates a new shard.
    pub fn issue(ids: &mut dyn IdSource) -> Self {
        let mut bytes = [0; 8];
        ids.fill_in_order(&mut bytes);
        Self(u64::from_be_bytes(bytes))
    }
}

impl ThreadId {
    /// Creates a new thread id.
    pub fn issue(ids: &mut dyn IdSource) -> Self {
        let mut bytes = [0; 8];
        ids.fill(&mut bytes);
        Self(u64::from_be_bytes(bytes))
    }
}

/// An id that contains the shard of its object.
pub(crate) trait ShardedId {
    fn shard(&self) -> Shard;
    fn as_str(&self) -> &str;
}

macro_rules! sharded_id {
    ($(#[$doc:meta])* $name:ident, $prefix:literal) => {
        $(#[$doc])*
        #[derive(Clone, PartialEq, Eq, Hash)]
        pub struct $name(Arc<str>);

        impl $name {
            /// Creates a new id in `shard`.
            pub fn issue(shard: Shard, ids: &mut dyn IdSource) -> Self {
                let mut bytes = [0; 16];
                ids.fill(&mut bytes);
                let mut text = String::with_capacity(53);
                text.push_str(concat!($prefix, "_"));
                push_hex(&mut text, &shard.0.to_be_bytes());
                push_hex(&mut text, &bytes);
                Self(text.into())
            }

            /// Parses an id. `None` if the text has another form, so that no stored object can have
            /// it.
            pub fn parse(text: &str) -> Option<Self> {
                let digits = text.strip_prefix(concat!($prefix, "_"))?;
                let is_ours = digits.len() == 48
                    && digits.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'));
                is_ours.then(|| Self(text.into()))
            }

            /// The id in its wire form.
            pub fn as_str(&self) -> &str {
                &self.0
            }

            /// The shard that is part of the id.
            pub fn shard(&self) -> Shard {
                let digits = &self.0[concat!($prefix, "_").len()..][..16];
                Shard(u64::from_str_radix(digits, 16).expect("the digits were checked"))
            }
        }

        impl ShardedId for $name {
            fn shard(&self) -> Shard {
                self.shard()
            }

            fn as_str(&self) -> &str {
                self.as_str()
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Debug::fmt(&self.0, f)
            }
        }
    };
}

sharded_id!(
    /// The id of a conversation: `conv_`, the shard in 16 hexadecimal digits, 32 random ones.
    ConversationId,
    "conv"
);
sharded_id!(
    /// The id of a response: `resp_`, the shard in 16 hexadecimal digits, 32 random ones.
    ResponseId,
    "resp"
);

#[cfg(test)]
mod tests {
    use super::*;

    struct Ones;

    impl IdSource for Ones {
        fn fill(&mut self, bytes: &mut [u8]) {
            bytes.fill(0x11);
        }
    }

    #[test]
    fn id_contains_its_shard() {
        let id = ResponseId::issue(Shard(u64::MAX - 1), &mut Ones);
        assert_eq!(id.as_str(), format!("resp_fffffffffffffffe{}", "11".repeat(16)));
        assert_eq!(ResponseId::parse(id.as_str()).unwrap().shard(), Shard(u64::MAX - 1));
    }

    #[test]
    fn foreign_id_form_is_rejected() {
        let conversation = ConversationId::issue(Shard(1), &mut Ones);
        assert_eq!(ResponseId::parse(conversation.as_str()), None);
        assert_eq!(ResponseId::parse("resp_é"), None);
        assert_eq!(ResponseId::parse(&format!("resp_{}", "F".repeat(48))), None);
    }
}
