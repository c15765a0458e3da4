//! The head of an item: the few fields that decide how it is handled.

use std::borrow::Cow;
use std::fmt;

use serde::de::{Deserializer, IgnoredAny, MapAccess, Visitor};
use serde_json::value::RawValue;

use super::{CallId, CallIdField, ItemId, Kind};
use crate::json;

/// The author of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Role {
    /// `user`
    User,
    /// `assistant`
    Assistant,
    /// `system`
    System,
    /// `developer`
    Developer,
    /// Any other role. Its message is passed on like all others.
    Other,
}

impl Role {
    /// Parses a message's `role`.
    pub fn parse(text: &str) -> Self {
        match text {
            "user" => Self::User,
            "assistant" => Self::Assistant,
            "system" => Self::System,
            "developer" => Self::Developer,
            _ => Self::Other,
        }
    }

    /// Whether messages of this role are instructions to the model.
    pub fn instructs(self) -> bool {
        matches!(self, Self::System | Self::Developer)
    }
}

/// An item's head, read in one pass over its bytes.
#[derive(Clone, Debug, PartialEq)]
pub struct Head {
    /// The item's `type`.
    pub kind: Kind,
    /// The item's own id, unless it is empty.
    pub id: Option<ItemId>,
    /// The id that a call shares with its output: `call_id`; for an approval the id of the request;
    /// for a local shell output without a `call_id` its `id`, which is that of the call.
    pub call_id: Option<CallId>,
    /// The author, for messages only.
    pub role: Option<Role>,
    /// Whether the item was cut short: its `status` is `in_progress` or `incomplete`.
    pub unfinished: bool,
    /// Whether the item has `encrypted_content` that is not empty. Such content is bound to the
    /// item's id.
    pub encrypted: bool,
}

/// The reason why a JSON value is not an item.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum HeadError {
    /// The value is not an object.
    #[error("expected an object, but got {got} instead")]
    NotAnObject {
        /// The type of the value, as providers name it.
        got: &'static str,
    },
    /// A field of the head is not a string.
    #[error("'{field}': expected a string, but got {got} instead")]
    WrongType {
        /// The field.
        field: &'static str,
        /// The type of its value, as providers name it.
        got: &'static str,
    },
    /// The object has neither a `type`, nor a `role`, nor the `id` of a reference.
    #[error("missing required parameter 'type'")]
    NoType,
    /// The value is not JSON.
    #[error("not valid JSON: {0}")]
    Syntax(String),
}

impl Head {
    /// Reads the head of the item in `raw`.
    pub fn parse(raw: &[u8]) -> Result<Self, HeadError> {
        let text = std::str::from_utf8(raw);
        Self::parse_str(text.map_err(|error| HeadError::Syntax(error.to_string()))?)
    }

    /// Reads the head of the item in `text`.
    pub(crate) fn parse_str(text: &str) -> Result<Self, HeadError> {
        let mut json = serde_json::Deserializer::from_str(text);
        let fields = json
            .deserialize_map(Fields)
            .and_then(|fields| json.end().map(|()| fields))
            .map_err(|error| not_an_item(text, &error))?;
        fields.head()
    }

    /// The role of a user or assistant message; `None` for instructions and other items.
    pub fn speaker(&self) -> Option<Role> {
        self.role.filter(|role| matches!(role, Role::User | Role::Assistant))
    }

    /// Whether the item is a model's output.
    pub fn is_model_made(&self) -> bool {
        self.role == Some(Role::Assistant) || self.kind.is_model_made()
    }
}

fn not_an_item(text: &str, error: &serde_json::Error) -> HeadError {
    let text = text.trim();
    if error.is_data() && !text.starts_with('{') {
        let got = json::type_name(text);
        return HeadError::NotAnObject { got };
    }
    HeadError::Syntax(error.to_string())
}

/// The raw values of the head's fields.
#[derive(Default)]
struct RawFields<'a> {
    kind: Option<&'a str>,
    id: Option<&'a str>,
    call_id: Option<&'a str>,
    approval_request_id: Option<&'a str>,
    role: Option<&'a str>,
    status: Option<&'a str>,
    encrypted: bool,
}

impl RawFields<'_> {
    fn head(&self) -> Result<Head, HeadError> {
        let id = string("id", self.id)?.filter(|id| !id.is_empty());
        let role = string("role", self.role)?.map(|role| Role::parse(&role));
        let kind = match string("type", self.kind)? {
            Some(kind) => Kind::parse(&kind),
            None if role.is_some() => Kind::Message,
            None if id.is_some() => Kind::ItemReference,
            None => return Err(HeadError::NoType),
        };
        let call_id = string("call_id", self.call_id)?;
        let (id, call_id) = match kind.call_id_field() {
            CallIdField::CallId => (id, call_id),
            CallIdField::Id => (id.clone(), id),
            CallIdField::ApprovalRequestId => {
                (id, string("approval_request_id", self.approval_request_id)?)
            }
            CallIdField::CallIdOrId => (None, call_id.or(id)),
        };
        let unfinished =
            matches!(string("status", self.status)?.as_deref(), Some("in_progress" | "incomplete"));
        Ok(Head {
            role: role.filter(|_| kind == Kind::Message),
            kind,
            id: id.map(|id| ItemId::from(&*id)),
            call_id: call_id.map(|id| CallId::from(&*id)),
            unfinished,
            encrypted: self.encrypted,
        })
    }
}

fn string<'a>(
    field: &'static str,
    raw: Option<&'a str>,
) -> Result<Option<Cow<'a, str>>, HeadError> {
    match raw {
        None | Some("null") => Ok(None),
        Some(raw) => json::unquote(raw)
            .map(Some)
            .ok_or_else(|| HeadError::WrongType { field, got: json::type_name(raw) }),
    }
}

struct Fields;

impl<'de> Visitor<'de> for Fields {
    type Value = RawFields<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<RawFields<'de>, A::Error> {
        let mut fields = RawFields::default();
        while let Some(json::Key(key)) = map.next_key()? {
            let field = match &*key {
                "type" => &mut fields.kind,
                "id" => &mut fields.id,
                "call_id" => &mut fields.call_id,
                "approval_request_id" => &mut fields.approval_request_id,
                "role" => &mut fields.role,
                "status" => &mut fields.status,
                "encrypted_content" => {
                    let content = map.next_value::<&RawValue>()?.get();
                    fields.encrypted = !matches!(content, "null" | r#""""#);
                    continue;
                }
                _ => {
                    map.next_value::<IgnoredAny>()?;
                    continue;
                }
            };
            *field = Some(map.next_value::<&'de RawValue>()?.get());
        }
        Ok(fields)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn head(text: &str) -> Result<Head, HeadError> {
        Head::parse(text.as_bytes())
    }

    #[test]
    fn message_may_omit_its_type() {
        let head = head(r#"{"role":"user","content":"hi","id":null,"status":null}"#).unwrap();
        assert_eq!((head.kind, head.role, head.id), (Kind::Message, Some(Role::User), None));
    }

    #[test]
    fn id_alone_is_a_reference() {
        assert_eq!(head(r#"{"id":"msg_1"}"#).unwrap().kind, Kind::ItemReference);
    }

    #[test]
    fn approval_and_request_share_a_key() {
        let request = head(r#"{"type":"mcp_approval_request","id":"mcpr_1"}"#).unwrap();
        let response =
            head(r#"{"type":"mcp_approval_response","approval_request_id":"mcpr_1"}"#).unwrap();
        assert_eq!(request.call_id, response.call_id);
    }

    #[test]
    fn local_shell_output_uses_its_calls_id() {
        let by_id = head(r#"{"type":"local_shell_call_output","id":"call_1"}"#).unwrap();
        let by_both =
            head(r#"{"type":"local_shell_call_output","id":"lsh_1","call_id":"call_1"}"#).unwrap();
        assert_eq!(by_id, by_both);
        assert_eq!((by_id.id, by_id.call_id), (None, Some("call_1".into())));
    }

    #[test]
    fn empty_encrypted_content_counts_as_absent() {
        let encrypted = |content: &str| {
            let text =
                format!(r#"{{"type":"reasoning","id":"rs_1","encrypted_content":{content}}}"#);
            head(&text).unwrap().encrypted
        };
        assert!(encrypted(r#""gAAAA""#));
        assert!(!encrypted("null") && !encrypted(r#""""#));
    }

    #[test]
    fn invalid_utf8_is_rejected() {
        let raw = b"{\"role\":\"user\",\"content\":\"\xff\"}";
        assert!(matches!(Head::parse(raw), Err(HeadError::Syntax(_))));
    }

    #[test]
    fn invalid_item_error_names_field_and_type() {
        assert_eq!(
            head(r#"{"role":7}"#),
            Err(HeadError::WrongType { field: "role", got: "an integer" })
        );
        assert_eq!(head("[]"), Err(HeadError::NotAnObject { got: "an array" }));
        assert_eq!(head("{}"), Err(HeadError::NoType));
        assert!(matches!(head(r#"{"role":"user""#), Err(HeadError::Syntax(_))));
    }
}
