//! Requests of Anthropic's clients. Expectations come from its documentation and the texts of its
//! errors.

mod errors;
mod faults;
mod fields;
mod messages;
mod tools;

use serde_json::{Value, json};

use super::decode_request;
use crate::dialect::{ClientFault, DecodedRequest, InvalidRequest, UpstreamApi};
use crate::json::Object;
use crate::transcript::Origin;

use UpstreamApi::{Anthropic, Chat, Responses};

/// A request with these fields, and the required ones.
fn request(fields: &Value) -> Value {
    let messages = json!([{"role": "user", "content": "Hello"}]);
    let mut request = json!({"model": "m", "max_tokens": 100, "messages": messages});
    for (key, value) in fields.as_object().unwrap() {
        request[key] = value.clone();
    }
    request
}

fn try_decode(request: &Value, upstream: UpstreamApi) -> Result<DecodedRequest, InvalidRequest> {
    let text = request.to_string();
    let request = Object::parse(text.as_bytes()).unwrap();
    decode_request(&request, upstream, &Origin::new("host m"))
}

/// The fields of the decoded request without the required ones, and the paths of its omissions.
fn decode(fields: &Value, upstream: UpstreamApi) -> (Value, Vec<String>) {
    let decoded = try_decode(&request(fields), upstream).unwrap();
    let mut fields: Value = serde_json::from_str(&decoded.fields).unwrap();
    assert_eq!(fields["include"], json!(["reasoning.encrypted_content"]));
    for key in ["model", "include"] {
        fields.as_object_mut().unwrap().remove(key);
    }
    if fields["max_output_tokens"] == 100 {
        fields.as_object_mut().unwrap().remove("max_output_tokens");
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

/// The items of these messages.
fn items(messages: &Value, upstream: UpstreamApi) -> Vec<Value> {
    let decoded = try_decode(&request(&json!({"messages": messages})), upstream).unwrap();
    let items = decoded.items.iter();
    items.map(|item| serde_json::from_slice(item.raw()).unwrap()).collect()
}

fn find_faults(request: &Value) -> Vec<ClientFault> {
    let text = request.to_string();
    super::faults::find_faults(&Object::parse(text.as_bytes()).unwrap())
}
