//! Requests to upstreams of other dialects: what holds of all that is encoded.

pub mod anthropic;
pub mod chat;
mod given;

use antiphon::Item;
use antiphon::dialect::{Dialect, Encoded, Place, Request, encode};
use antiphon::item::items_of;
use antiphon::json::Object;
use antiphon::repair::repair;
use antiphon::transcript::Origin;
use bytes::Bytes;
use serde::de::IgnoredAny;

use self::given::ORIGIN;

/// A request: its fields but `input`, as JSON, and its items.
pub struct Given {
    /// A JSON object.
    pub fields: String,
    /// The input.
    pub items: Vec<Item>,
}

impl Given {
    /// A request of the Responses API with a list as `input`, or the compact form.
    #[must_use]
    pub fn of(bytes: &[u8]) -> Option<Self> {
        if bytes.first() != Some(&b'{') {
            return given::compact(bytes);
        }
        let mut fields = Object::parse(bytes).ok()?;
        let items = items_of(&Bytes::copy_from_slice(fields.get("input")?.as_bytes())).ok()?;
        fields.remove("input");
        Some(Self { fields: fields.to_text(), items })
    }

    /// The request in a dialect, with its items as they are: JSON, or refused. Then with its items
    /// repaired, as a gateway sends them, if that is not refused.
    #[must_use]
    pub fn encoded(&self, dialect: Dialect) -> Option<Encoded> {
        let _ = self.encode(dialect, &self.items);
        self.encode(dialect, &repair(&self.items).items)
    }

    fn encode(&self, dialect: Dialect, items: &[Item]) -> Option<Encoded> {
        let fields = Object::parse(self.fields.as_bytes()).expect("it is an object");
        let request = Request { fields: &fields, items, origin: &Origin::new(ORIGIN) };
        match encode(dialect, request) {
            Ok(encoded) => {
                let json = serde_json::from_slice::<IgnoredAny>(&encoded.body);
                assert!(json.is_ok(), "{:?} is no JSON", encoded.body);
                for omission in &encoded.omissions {
                    check(&omission.place, &omission.message, items.len());
                }
                Some(encoded)
            }
            Err(unsupported) => {
                check(&unsupported.place, &unsupported.message, items.len());
                None
            }
        }
    }
}

/// Whoever reads it finds the place.
fn check(place: &Place, message: &str, items: usize) {
    assert!(!message.is_empty(), "it says what is wrong");
    match place {
        Place::Field(path) => assert!(!path.is_empty(), "a field has a name: {message}"),
        Place::Item(position, _) => assert!(*position < items, "item {position} is not there"),
    }
}
