//! Rules for every conversion of an upstream's stream into a client's stream.

use antiphon::dialect::{Conversion, ConversionError, Dialect, RequestContext, Writer};
use antiphon::json::Object;
use antiphon::stream::Event;
use antiphon::transcript::Origin;
use serde::de::IgnoredAny;
use serde_json::Value;

use crate::client::{anthropic, responses};
use crate::gateway::{NOW, assembler};
use crate::upstream::stream;

/// For any stream of this dialect and any chunk boundaries, clients of both dialects get one
/// well-formed stream that ends.
pub fn check(from: Dialect, bytes: &[u8]) {
    let stream = stream(from, bytes);
    for to in [Dialect::Responses, Dialect::Anthropic] {
        let output = convert(from, to, std::iter::once(&*stream));
        match to {
            Dialect::Anthropic => anthropic::check(&output.events),
            _ => {
                responses::check(&output.events.iter().map(responses::json).collect::<Vec<Value>>())
            }
        }
        let size = 1 + usize::from(bytes.last().copied().unwrap_or_default());
        assert!(convert(from, to, stream.chunks(size)) == output, "in pieces of {size} bytes");
    }
}

/// The output for a client.
#[derive(Debug, PartialEq)]
struct Output {
    events: Vec<Event>,
    error: Option<ConversionError>,
}

fn convert<'a>(from: Dialect, to: Dialect, pieces: impl Iterator<Item = &'a [u8]>) -> Output {
    let writer = Writer::new(to).expect("the dialect has a writer");
    let mut conversion = Conversion::new(from, asked(), assembler(true), writer);
    let mut events: Vec<Event> = pieces.flat_map(|piece| conversion.push(piece)).collect();
    let converted = conversion.finish(NOW);
    events.extend(converted.events);
    assert!(
        serde_json::from_str::<IgnoredAny>(&converted.folded).is_ok(),
        "the folded answer is JSON"
    );
    Output { events, error: converted.error }
}

/// A request with a function and a custom tool named `shell`.
fn asked() -> RequestContext {
    let request = br#"{"tools":[{"type":"function","name":"f"},{"type":"custom","name":"shell"}]}"#;
    RequestContext::from_request(
        &Object::parse(request).expect("the request is an object"),
        &[],
        Origin::new("up m-1"),
    )
}
