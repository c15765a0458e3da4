//! Requests of clients as requests of the Responses API.

mod errors;
mod faults;
mod fields;
mod laws;

use serde_json::{Value, json};

use super::decode_request;
use crate::dialect::{InvalidRequest, UpstreamApi};
use crate::json::Object;
use crate::transcript::Origin;

/// A decoded request.
struct Decoded {
    fields: Value,
    items: Vec<Value>,
    /// The paths of the omissions.
    omitted: Vec<String>,
}

fn origin() -> Origin {
    Origin::new("server model")
}

fn try_decode(request: &Value, upstream: UpstreamApi) -> Result<Decoded, InvalidRequest> {
    let text = request.to_string();
    let decoded = decode_request(&Object::parse_str(&text).unwrap(), upstream, &origin())?;
    let json = |text: &str| serde_json::from_str(text).unwrap();
    Ok(Decoded {
        fields: json(&decoded.fields),
        items: decoded.items.iter().map(|item| json(item.text())).collect(),
        omitted: decoded.omissions.iter().map(|omission| omission.place.to_string()).collect(),
    })
}

/// The request with these fields, for an upstream of the Responses API.
fn decode(fields: &Value) -> Decoded {
    decode_for(UpstreamApi::Responses, fields)
}

fn decode_for(upstream: UpstreamApi, fields: &Value) -> Decoded {
    try_decode(&request(fields), upstream).unwrap()
}

/// A request with these fields.
fn request(fields: &Value) -> Value {
    let mut request = json!({"model": "m", "messages": [{"role": "user", "content": "Hello"}]});
    request.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
    request
}
