//! The key that a call shares with its output.

use super::facts::CallIdNeed;
use super::{CallId, Head, Item, Kind};

/// The key that a call shares with its output. It includes the kind: the output of a custom tool
/// never answers a function call.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct CallKey {
    /// The kind of the call.
    pub kind: Kind,
    /// The id that call and output share. It is not unique: some servers restart it every turn. It
    /// is empty for a call without one.
    pub call_id: CallId,
}

/// The half of a pair that an item is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Side {
    /// The call.
    Call,
    /// The output.
    Output,
}

impl Head {
    /// The item's half of its pair and the key of the pair; `None` for items that do not pair.
    ///
    /// Function outputs, tool searches and their outputs may omit their `call_id`. Such an item
    /// pairs with nothing.
    pub fn pairing(&self) -> Option<(Side, CallKey)> {
        let (side, kind) = match self.kind.call() {
            Some(call) => (Side::Output, call),
            None => (Side::Call, self.kind.clone()),
        };
        if side == Side::Call && kind.output().is_none() {
            return None;
        }
        let call_id = match &self.call_id {
            Some(call_id) => call_id.clone(),
            None if self.kind.call_id_need() == CallIdNeed::Required => CallId::from(""),
            None => return None,
        };
        Some((side, CallKey { kind, call_id }))
    }
}

impl Head {
    /// Whether the item is a tool search that the client runs. One that the provider runs has no
    /// `call_id`.
    pub fn is_client_search(&self) -> bool {
        self.kind == Kind::ToolSearchCall && self.call_id.is_some()
    }
}

impl Item {
    /// Whether the item is a call or an output without the `call_id` that the API requires for it.
    pub(crate) fn lacks_call_id(&self) -> bool {
        let head = self.head();
        let is_half = head.kind.call().is_some() || head.kind.output().is_some();
        let is_lacking = || match (&head.call_id, head.kind.call_id_need()) {
            (Some(call_id), _) => call_id.as_str().is_empty(),
            (None, CallIdNeed::Required) => true,
            (None, CallIdNeed::Optional) => false,
            (None, CallIdNeed::WithoutName) => self.object().present("name").is_none(),
        };
        is_half && is_lacking()
    }

    /// A copy of a call or an output with another `call_id`, set in the field that the item's kind
    /// has for it.
    #[must_use]
    pub fn with_call_id(&self, call_id: &CallId) -> Self {
        let has_call_id = self.object().get("call_id").is_some();
        let field = self.head().kind.call_id_field().name(has_call_id);
        self.with(|object| object.set_string(field, call_id.as_str()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn item(text: &'static str) -> Item {
        Item::parse(text.into()).unwrap()
    }

    fn call_id(item: &Item) -> Option<String> {
        let (_, key) = item.head().pairing()?;
        Some(key.call_id.as_str().to_owned())
    }

    #[test]
    fn call_without_call_id_waits_for_an_output() {
        let call = item(r#"{"type":"function_call","name":"f","arguments":"{}"}"#);
        assert_eq!(call_id(&call).as_deref(), Some(""));
    }

    #[test]
    fn hosted_tool_search_has_no_pair() {
        let search = item(r#"{"type":"tool_search_call","call_id":null,"execution":"server"}"#);
        let found = item(r#"{"type":"tool_search_output","call_id":null,"tools":[]}"#);
        assert_eq!((search.head().pairing(), found.head().pairing()), (None, None));
    }

    #[test]
    fn call_id_is_replaced_in_the_field_of_its_kind() {
        let new = CallId::from("new");
        for text in [
            r#"{"type":"function_call","call_id":"old","name":"f","arguments":"{}"}"#,
            r#"{"type":"function_call_output","call_id":"old","output":""}"#,
            r#"{"type":"local_shell_call_output","id":"old","output":""}"#,
            r#"{"type":"local_shell_call_output","call_id":"old","output":""}"#,
            r#"{"type":"mcp_approval_request","id":"old","name":"f"}"#,
            r#"{"type":"mcp_approval_response","approval_request_id":"old","approve":true}"#,
        ] {
            let renamed = item(text).with_call_id(&new);
            assert_eq!(renamed.text(), text.replace("old", "new"));
            assert_eq!(call_id(&renamed).as_deref(), Some("new"));
        }
    }
}
