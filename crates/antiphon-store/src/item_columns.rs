//! Converts an item to columns. The head can be read back without its bytes.

use antiphon::{Body, CallId, Fingerprint, Head, HeldItem, ItemId, Kind, Origin, Role};
use bytes::Bytes;

/// The columns of an item, in the order in which stores write and read them.
macro_rules! item_columns {
    () => {
        "item_id, own_id, kind, call_id, role, flags, fingerprint, origin, body"
    };
}
pub(crate) use item_columns;

/// The bytes contain an id: the id of the item, unless `own_id` has another.
const OWN_ID: i64 = 1;
const UNFINISHED: i64 = 1 << 1;
const ENCRYPTED: i64 = 1 << 2;
const SUPERSEDES: i64 = 1 << 3;

/// The column values of an item. `B` is the type of the bytes.
#[derive(Debug)]
pub(crate) struct ItemColumns<'a, B> {
    pub(crate) item_id: &'a str,
    /// The id inside the bytes, if it differs from `item_id`.
    pub(crate) own_id: Option<&'a str>,
    pub(crate) kind: &'a str,
    pub(crate) call_id: Option<&'a str>,
    pub(crate) role: Option<&'a str>,
    pub(crate) flags: i64,
    pub(crate) fingerprint: Option<[u8; 16]>,
    pub(crate) origin: Option<&'a str>,
    /// `None` for a tombstone; empty if a provider has the bytes.
    pub(crate) body: Option<B>,
}

impl<'a> ItemColumns<'a, &'a [u8]> {
    pub(crate) fn from_item(item: &'a HeldItem) -> Self {
        let head = &item.head;
        Self {
            item_id: item.id.as_str(),
            own_id: head.id.as_ref().filter(|id| **id != item.id).map(ItemId::as_str),
            kind: head.kind.as_str(),
            call_id: head.call_id.as_ref().map(CallId::as_str),
            role: head.role.map(role_name),
            flags: flags(item),
            fingerprint: item.fingerprint.map(|it| it.as_u128().to_be_bytes()),
            origin: item.origin.as_ref().map(Origin::as_str),
            body: match &item.body {
                Body::Stored(bytes) => Some(bytes),
                Body::StoredElsewhere => Some(&[]),
                Body::Erased => None,
            },
        }
    }
}

impl ItemColumns<'_, Bytes> {
    pub(crate) fn into_item(self) -> HeldItem {
        let id = ItemId::from(self.item_id);
        let own_id = self.own_id.map(ItemId::from);
        let has = |flag: i64| self.flags & flag != 0;
        let head = Head {
            kind: Kind::parse(self.kind),
            id: own_id.or_else(|| has(OWN_ID).then(|| id.clone())),
            call_id: self.call_id.map(CallId::from),
            role: self.role.map(Role::parse),
            unfinished: has(UNFINISHED),
            encrypted: has(ENCRYPTED),
        };
        let fingerprint = self.fingerprint.map(u128::from_be_bytes);
        HeldItem {
            id,
            head,
            fingerprint: fingerprint.map(Fingerprint::from_u128),
            origin: self.origin.map(Origin::new),
            supersedes: has(SUPERSEDES),
            body: match self.body {
                Some(bytes) if bytes.is_empty() => Body::StoredElsewhere,
                Some(bytes) => Body::Stored(bytes),
                None => Body::Erased,
            },
        }
    }
}

fn flags(item: &HeldItem) -> i64 {
    let flag = |is_set: bool, flag: i64| if is_set { flag } else { 0 };
    flag(item.head.id.is_some(), OWN_ID)
        | flag(item.head.unfinished, UNFINISHED)
        | flag(item.head.encrypted, ENCRYPTED)
        | flag(item.supersedes, SUPERSEDES)
}

/// The text that [`Role::parse`] reads back.
fn role_name(role: Role) -> &'static str {
    match role {
        Role::User => "user",
        Role::Assistant => "assistant",
        Role::System => "system",
        Role::Developer => "developer",
        Role::Other => "other",
    }
}
