//! Rules for every encoded request to upstreams of other dialects.

pub mod anthropic;
pub mod chat;
mod given;

use antiphon::Item;
use antiphon::dialect::{Encoded, Request, RequestPath, UpstreamApi};
use antiphon::item::parse_items;
use antiphon::json::Object;
use antiphon::repair::repair;
use antiphon::transcript::Origin;
use bytes::Bytes;
use serde::de::IgnoredAny;

use self::given::ORIGIN;

/// A request: its fields except `input`, as JSON, and its items.
pub struct Given {
    /// The fields, as a JSON object.
    pub fields: String,
    /// The items of `input`.
    pub items: Vec<Item>,
}

impl Given {
    /// Parses a Responses API request with a list as `input`, or the compact form.
    #[must_use]
    pub fn of(bytes: &[u8]) -> Option<Self> {
        if bytes.first() != Some(&b'{') {
            return given::compact(bytes);
        }
        let mut fields = Object::parse(bytes).ok()?;
        let items = parse_items(&Bytes::copy_from_slice(fields.get("input")?.as_bytes())).ok()?;
        fields.remove("input");
        Some(Self { fields: fields.to_text(), items })
    }

    /// Encodes the request with its items unchanged, then with its items repaired as in a gateway.
    /// Each result is valid JSON or a refusal.
    #[must_use]
    pub fn encoded(&self, api: UpstreamApi) -> Option<Encoded> {
        let _ = self.encode(api, &self.items);
        self.encode(api, &repair(&self.items).items)
    }

    fn encode(&self, api: UpstreamApi, items: &[Item]) -> Option<Encoded> {
        let fields = Object::parse(self.fields.as_bytes()).expect("the fields are an object");
        let request = Request { fields: &fields, items, origin: &Origin::new(ORIGIN) };
        let encode = api.encoder().expect("requests of this API are encoded");
        match encode(request) {
            Ok(encoded) => {
                let json = serde_json::from_slice::<IgnoredAny>(&encoded.body);
                assert!(json.is_ok(), "{:?} is not JSON", encoded.body);
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

/// Checks that a refusal names the place of the fault.
fn check(place: &RequestPath, message: &str, items: usize) {
    assert!(!message.is_empty(), "the refusal has a message");
    match place {
        RequestPath::Field(path) => assert!(!path.is_empty(), "a field has a name: {message}"),
        RequestPath::Item(position, _) => {
            assert!(*position < items, "item {position} does not exist")
        }
    }
}
