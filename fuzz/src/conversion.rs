//! An upstream's stream in, a client's stream out: what holds of every conversion.

use antiphon::dialect::{Asked, Conversion, ConversionError, Dialect, Writer};
use antiphon::json::Object;
use antiphon::stream::Event;
use antiphon::transcript::Origin;
use serde::de::IgnoredAny;
use serde_json::Value;

use crate::client::{anthropic, responses};
use crate::gateway::{NOW, assembler};
use crate::upstream::stream;

/// Whatever an upstream of this dialect sends, clients of both dialects get one well-formed stream
/// that ends, however the bytes are cut.
pub fn check(from: Dialect, bytes: &[u8]) {
    let stream = stream(from, bytes);
    for to in [Dialect::Responses, Dialect::Anthropic] {
        let told = convert(from, to, std::iter::once(&*stream));
        match to {
            Dialect::Anthropic => anthropic::check(&told.events),
            _ => responses::check(&told.events.iter().map(responses::json).collect::<Vec<Value>>()),
        }
        let size = 1 + usize::from(bytes.last().copied().unwrap_or_default());
        assert!(convert(from, to, stream.chunks(size)) == told, "in pieces of {size} bytes");
    }
}

/// What a client was told.
#[derive(Debug, PartialEq)]
struct Told {
    events: Vec<Event>,
    error: Option<ConversionError>,
}

fn convert<'a>(from: Dialect, to: Dialect, pieces: impl Iterator<Item = &'a [u8]>) -> Told {
    let writer = Writer::new(to).expect("clients speak it");
    let mut conversion = Conversion::new(from, asked(), assembler(true), writer);
    let mut events: Vec<Event> = pieces.flat_map(|piece| conversion.push(piece)).collect();
    let converted = conversion.finish(NOW);
    events.extend(converted.events);
    assert!(serde_json::from_str::<IgnoredAny>(&converted.folded).is_ok(), "it is one JSON value");
    Told { events, error: converted.error }
}

/// A request with a function, and a custom tool by the name of `shell`.
fn asked() -> Asked {
    let request = br#"{"tools":[{"type":"function","name":"f"},{"type":"custom","name":"shell"}]}"#;
    Asked::of(&Object::parse(request).expect("it is an object"), Origin::new("up m-1"))
}
