//! Requests of Gemini clients. Expectations come from Google's documentation of `generateContent`.

mod contents;
mod fields;
mod tools;

use serde_json::{Value, json};

use super::{decode_count_request, decode_request};
use crate::dialect::{DecodedRequest, InvalidRequest, UpstreamApi};
use crate::json::Object;
use crate::transcript::Origin;

use UpstreamApi::{Anthropic, Chat, Responses};

/// A request with these fields, and the required ones.
fn request(fields: &Value) -> Value {
    let contents = json!([{"role": "user", "parts": [{"text": "Hello"}]}]);
    let mut request = json!({"model": "m", "stream": false, "contents": contents});
    for (key, value) in fields.as_object().unwrap() {
        request[key] = value.clone();
    }
    request
}

fn origin() -> Origin {
    Origin::new("host m")
}

fn try_decode(fields: &Value, upstream: UpstreamApi) -> Result<DecodedRequest, InvalidRequest> {
    let text = request(fields).to_string();
    decode_request(&Object::parse_str(&text).unwrap(), upstream, &origin())
}

/// The fields of the decoded request without the required ones, and the paths of its omissions.
fn decode(fields: &Value, upstream: UpstreamApi) -> (Value, Vec<String>) {
    let decoded = try_decode(fields, upstream).unwrap();
    let mut fields: Value = serde_json::from_str(&decoded.fields).unwrap();
    assert_eq!(fields["include"], json!(["reasoning.encrypted_content"]));
    for key in ["model", "include", "stream"] {
        fields.as_object_mut().unwrap().remove(key);
    }
    let omissions = decoded.omissions.iter().map(|omission| {
        let place = omission.place.to_string();
        assert!(omission.message.starts_with(&format!("'{place}' is ")), "{}", omission.message);
        place
    });
    (fields, omissions.collect())
}

/// The decoded request of which nothing is left out.
fn decode_all(fields: &Value, upstream: UpstreamApi) -> Value {
    let (fields, omissions) = decode(fields, upstream);
    assert_eq!(omissions, [""; 0]);
    fields
}

/// The items of these contents, of which nothing is left out.
fn items(contents: &Value) -> Vec<Value> {
    let decoded = try_decode(&json!({"contents": contents}), Responses).unwrap();
    assert!(decoded.omissions.is_empty(), "{:?}", decoded.omissions);
    decoded.items.iter().map(|item| serde_json::from_str(item.text()).unwrap()).collect()
}

fn error(fields: &Value) -> String {
    try_decode(fields, Responses).unwrap_err().message
}
