//! The few fields of an item that decide what happens to it.

use std::borrow::Cow;
use std::fmt;

use serde::de::{Deserializer, IgnoredAny, MapAccess, Visitor};
use serde_json::value::RawValue;

use super::{CallId, ItemId, Kind};
use crate::json;

/// Who speaks in a message.
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
    /// A role that is not known here; its message is carried like any other.
    Other,
}

impl Role {
    /// The role that a message's `role` names.
    pub fn parse(text: &str) -> Self {
        match text {
            "user" => Self::User,
            "assistant" => Self::Assistant,
            "system" => Self::System,
            "developer" => Self::Developer,
            _ => Self::Other,
        }
    }

    /// Whether it instructs the model rather than takes part in the talk.
    pub fn instructs(self) -> bool {
        matches!(self, Self::System | Self::Developer)
    }
}

/// An item's head, read in one pass over its bytes.
#[derive(Clone, Debug, PartialEq)]
pub struct Head {
    /// What the item is.
    pub kind: Kind,
    /// The item's own id, where it has one that is not empty.
    pub id: Option<ItemId>,
    /// What joins call and output: `call_id`; for approvals the request's id; for outputs of a
    /// local shell, whose `id` is that of their call, that.
    pub call_id: Option<CallId>,
    /// Who speaks; messages only.
    pub role: Option<Role>,
    /// Whether `status` says that the item was cut short (`in_progress`, `incomplete`).
    pub unfinished: bool,
    /// Whether the item carries `encrypted_content`, to which its id is bound. An empty one is
    /// none.
    pub encrypted: bool,
}

/// Why a JSON value is no item.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum HeadError {
    /// Not an object at all.
    #[error("expected an object, but got {got} instead")]
    NotAnObject {
        /// What it is, as providers name it.
        got: &'static str,
    },
    /// A field of the head holds something other than a string.
    #[error("'{field}': expected a string, but got {got} instead")]
    WrongType {
        /// The field.
        field: &'static str,
        /// What it holds, as providers name it.
        got: &'static str,
    },
    /// Neither a `type`, nor a `role`, nor the `id` of a reference.
    #[error("missing required parameter 'type'")]
    NoType,
    /// Not JSON.
    #[error("not valid JSON: {0}")]
    Syntax(String),
}

impl Head {
    /// Reads the head of the item that `raw` holds.
    pub fn parse(raw: &[u8]) -> Result<Self, HeadError> {
        let text = std::str::from_utf8(raw);
        Self::of_text(text.map_err(|error| HeadError::Syntax(error.to_string()))?)
    }

    /// Reads the head of the item that `text` is.
    pub(crate) fn of_text(text: &str) -> Result<Self, HeadError> {
        let mut json = serde_json::Deserializer::from_str(text);
        let fields = json
            .deserialize_map(Fields)
            .and_then(|fields| json.end().map(|()| fields))
            .map_err(|error| not_an_item(text, &error))?;
        fields.head()
    }

    /// The message's role, where the item is a message of the talk itself (user or assistant).
    pub fn speaker(&self) -> Option<Role> {
        self.role.filter(|role| matches!(role, Role::User | Role::Assistant))
    }

    /// Whether a model made the item.
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

/// The raw values of the fields that a head is made of.
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
        let (id, call_id) = match kind {
            Kind::McpApprovalRequest => (id.clone(), id),
            Kind::McpApprovalResponse => {
                (id, string("approval_request_id", self.approval_request_id)?)
            }
            Kind::LocalShellCallOutput => (None, call_id.or(id)),
            _ => (id, call_id),
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
    fn a_message_may_leave_its_type_out() {
        let head = head(r#"{"role":"user","content":"hi","id":null,"status":null}"#).unwrap();
        assert_eq!((head.kind, head.role, head.id), (Kind::Message, Some(Role::User), None));
    }

    #[test]
    fn an_id_alone_is_a_reference() {
        assert_eq!(head(r#"{"id":"msg_1"}"#).unwrap().kind, Kind::ItemReference);
    }

    #[test]
    fn an_approval_and_its_request_share_a_key() {
        let request = head(r#"{"type":"mcp_approval_request","id":"mcpr_1"}"#).unwrap();
        let response =
            head(r#"{"type":"mcp_approval_response","approval_request_id":"mcpr_1"}"#).unwrap();
        assert_eq!(request.call_id, response.call_id);
    }

    #[test]
    fn a_local_shells_output_goes_by_the_id_of_its_call() {
        let by_id = head(r#"{"type":"local_shell_call_output","id":"call_1"}"#).unwrap();
        let by_both =
            head(r#"{"type":"local_shell_call_output","id":"lsh_1","call_id":"call_1"}"#).unwrap();
        assert_eq!(by_id, by_both);
        assert_eq!((by_id.id, by_id.call_id), (None, Some("call_1".into())));
    }

    #[test]
    fn encrypted_content_that_is_empty_is_none() {
        let encrypted = |content: &str| {
            let text =
                format!(r#"{{"type":"reasoning","id":"rs_1","encrypted_content":{content}}}"#);
            head(&text).unwrap().encrypted
        };
        assert!(encrypted(r#""gAAAA""#));
        assert!(!encrypted("null") && !encrypted(r#""""#));
    }

    #[test]
    fn bytes_that_are_no_text_are_no_item() {
        let raw = b"{\"role\":\"user\",\"content\":\"\xff\"}";
        assert!(matches!(Head::parse(raw), Err(HeadError::Syntax(_))));
    }

    #[test]
    fn what_is_no_item_is_told_by_field_and_type() {
        assert_eq!(
            head(r#"{"role":7}"#),
            Err(HeadError::WrongType { field: "role", got: "an integer" })
        );
        assert_eq!(head("[]"), Err(HeadError::NotAnObject { got: "an array" }));
        assert_eq!(head("{}"), Err(HeadError::NoType));
        assert!(matches!(head(r#"{"role":"user""#), Err(HeadError::Syntax(_))));
    }
}
