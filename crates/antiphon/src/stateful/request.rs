//! The request of a turn.

use std::sync::Arc;

use bytes::Bytes;

use super::{ContinueFrom, OpenError};
use crate::item::{FingerprintKey, Item, parse_items};
use crate::json::{Object, range_of_slice, replace_array};
use crate::reconcile::ReplayStyle;
use crate::stream::Envelope;

/// An original body, and the items of its input.
#[derive(Clone, Debug)]
pub(super) struct Request {
    body: Bytes,
    /// How the client resends its history.
    pub(super) style: ReplayStyle,
    /// The items of the input: slices of the body. A text is represented by its message.
    pub(super) input: Arc<[Item]>,
    pub(super) continues: Continues,
    /// Whether its response is stored.
    pub(super) stores: bool,
    /// Whether its response runs in the background and is polled by its id.
    pub(super) in_background: bool,
}

/// The state that a request continues.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Continues {
    /// Nothing: the request is complete.
    Nothing,
    /// A conversation.
    Conversation(String),
    /// A response, and the chain before it.
    Response(String),
    /// Several states at once, or an invalid id. The provider has an error for that.
    Unclear,
}

impl Request {
    pub(super) fn parse(body: Bytes) -> Result<Self, OpenError> {
        let fields = Object::parse(&body).map_err(|error| no_object(&error))?;
        let input = match fields.present("input") {
            None => Vec::new(),
            Some(raw) if raw.starts_with('"') => vec![message_of(raw)],
            Some(raw) => parse_items(&body.slice_ref(raw.as_bytes()))?,
        };
        let (input, continues) = (input.into(), Continues::from_fields(&fields));
        let stores = fields.get("store") != Some("false");
        let in_background = fields.is_true("background");
        drop(fields);
        let style = ReplayStyle::Unknown;
        Ok(Self { body, style, input, continues, stores, in_background })
    }

    pub(super) fn with_style(self, style: ReplayStyle) -> Self {
        Self { style, ..self }
    }

    /// Reads items for delivery to a conversation, without a turn.
    pub(super) fn for_delivery(conversation: &str, items: &Bytes) -> Result<Self, OpenError> {
        Ok(Self {
            body: format!(r#"{{"items":{}}}"#, String::from_utf8_lossy(items)).into(),
            style: ReplayStyle::Unknown,
            input: parse_items(items)?.into(),
            continues: Continues::Conversation(conversation.to_owned()),
            stores: true,
            in_background: false,
        })
    }

    /// The envelope of the response. `id` is for a server that gives none, and so is `now`, in Unix
    /// seconds.
    pub(super) fn envelope(&self, id: &str, now: i64) -> Envelope {
        let fields = Object::parse(&self.body).expect("it was read as an object");
        let conversation = match &self.continues {
            Continues::Conversation(id) => Some(id.as_str()),
            Continues::Nothing | Continues::Response(_) | Continues::Unclear => None,
        };
        Envelope::new(id, now, &fields, conversation)
    }

    /// A digest of the original bytes.
    pub(super) fn digest(&self, key: FingerprintKey) -> u128 {
        key.digest(&self.body)
    }

    /// The original bytes.
    pub(super) fn unchanged(&self) -> Bytes {
        self.body.clone()
    }

    /// The body with these items as its input; the original bytes if the items are the original
    /// ones.
    pub(super) fn with_input(&self, items: &[Item]) -> Bytes {
        self.with_items("input", items)
    }

    /// The same, but continuing another point in the server's state.
    pub(super) fn with_input_after(&self, continue_from: &ContinueFrom, items: &[Item]) -> Bytes {
        let body = self.with_input(items);
        if *continue_from == ContinueFrom::AsRequested {
            return body;
        }
        let mut fields = Object::parse(&body).expect("it was read as an object");
        continue_from.write(&mut fields);
        fields.to_bytes()
    }

    /// The body for the delivery of these items.
    pub(super) fn with_delivered(&self, items: &[Item]) -> Bytes {
        self.with_items("items", items)
    }

    fn with_items(&self, key: &str, items: &[Item]) -> Bytes {
        let raws = |items: &[Item]| items.iter().map(|it| it.raw().clone()).collect::<Vec<_>>();
        if raws(items) == raws(&self.input) {
            return self.body.clone();
        }
        let text = std::str::from_utf8(&self.body).expect("it was read as JSON");
        let mut fields = Object::parse_str(text).expect("it was read as an object");
        let elements = items.iter().map(Item::text);
        if let Some(value) = fields.get(key).map(|raw| range_of_slice(text, raw)) {
            return replace_array(text, value, elements).into();
        }
        fields.set(key.to_owned(), replace_array("[]", 0..2, elements));
        fields.to_bytes()
    }
}

impl Continues {
    fn from_fields(fields: &Object<'_>) -> Self {
        let conversation = fields.present("conversation").filter(|raw| *raw != r#""""#);
        let previous = fields.present("previous_response_id").filter(|raw| *raw != r#""""#);
        let found = match (conversation, previous) {
            (None, None) => Some(Self::Nothing),
            (Some(raw), None) => id_of(raw).map(Self::Conversation),
            (None, Some(raw)) => crate::json::unquote(raw).map(|id| Self::Response(id.into())),
            (Some(_), Some(_)) => None,
        };
        found.unwrap_or(Self::Unclear)
    }
}

/// The id of a conversation: a string, or a field of an object.
fn id_of(raw: &str) -> Option<String> {
    let alone = || crate::json::unquote(raw).map(String::from);
    let inside = || Object::parse_str(raw).ok()?.string("id").map(String::from);
    alone().or_else(inside)
}

/// The message for a text as input.
fn message_of(raw: &str) -> Item {
    let message = format!(r#"{{"type":"message","role":"user","content":{raw}}}"#);
    Item::parse(message.into()).expect("the text above is an item")
}

fn no_object(error: &serde_json::Error) -> OpenError {
    OpenError::NotAnObject(error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(body: &'static str) -> Request {
        Request::parse(Bytes::from_static(body.as_bytes())).unwrap()
    }

    #[test]
    fn continued_state_is_read_in_each_form() {
        let conversation = || Continues::Conversation("conv_1".into());
        let bodies = [
            (r#"{"conversation":"conv_1"}"#, conversation()),
            (r#"{"conversation":{"id":"conv_1"},"previous_response_id":null}"#, conversation()),
            (r#"{"previous_response_id":"resp_1"}"#, Continues::Response("resp_1".into())),
            (r#"{"conversation":null,"previous_response_id":""}"#, Continues::Nothing),
            (r#"{"conversation":"conv_1","previous_response_id":"resp_1"}"#, Continues::Unclear),
            (r#"{"conversation":7}"#, Continues::Unclear),
        ];
        for (body, continues) in bodies {
            assert_eq!(parse(body).continues, continues, "{body}");
        }
    }

    #[test]
    fn only_the_input_is_rewritten() {
        let body = r#"{ "n": 1e2, "input": [ {"role":"user","content":"a"}, {"id":"rs_1"} ] }"#;
        let request = parse(body);
        assert_eq!(request.with_input(&request.input), body);
        let sent = request.with_input(&request.input[1..]);
        assert_eq!(sent, r#"{ "n": 1e2, "input": [ {"id":"rs_1"} ] }"#);
    }

    #[test]
    fn text_input_is_a_user_message() {
        let body = r#"{"input":"h\u0069","model":"sim"}"#;
        let request = parse(body);
        assert_eq!(request.with_input(&request.input), body);
        let twice = [request.input[0].clone(), request.input[0].clone()];
        let message = r#"{"type":"message","role":"user","content":"h\u0069"}"#;
        let sent = format!(r#"{{"input":[{message},{message}],"model":"sim"}}"#);
        assert_eq!(request.with_input(&twice), sent);
    }

    #[test]
    fn invalid_request_is_an_error() {
        assert!(matches!(Request::parse("[]".into()), Err(OpenError::NotAnObject(_))));
        assert!(matches!(Request::parse(r#"{"input":[7]}"#.into()), Err(OpenError::Input(_))));
    }
}
