//! What joins a call and its output.

use super::{CallId, Head, Item, Kind};

/// The key under which a call and its output find each other. Kinds are kept apart: a custom tool's
/// output never answers a function's call.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct CallKey {
    /// The kind of the call.
    pub kind: Kind,
    /// The id that call and output share. Not unique: some servers restart it every turn. Empty
    /// where a call came without.
    pub call_id: CallId,
}

/// Which half of a pair an item is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Side {
    /// It asks.
    Call,
    /// It answers.
    Output,
}

impl Head {
    /// The half that the item is and the key of its pair; `None` for items that do not pair.
    ///
    /// The API lets function outputs, tool searches and their outputs go without a `call_id`: such
    /// an item answers nothing, waits for nothing and is carried as it is.
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
            None if self.kind.may_be_anonymous() => return None,
            None => CallId::from(""),
        };
        Some((side, CallKey { kind, call_id }))
    }
}

impl Kind {
    /// Whether an item of this kind may go without a `call_id`.
    fn may_be_anonymous(&self) -> bool {
        matches!(self, Kind::FunctionCallOutput | Kind::ToolSearchCall | Kind::ToolSearchOutput)
    }
}

impl Item {
    /// A copy of a call or an output that goes by another `call_id`, in whichever field its kind
    /// carries it.
    #[must_use]
    pub fn with_call_id(&self, call_id: &CallId) -> Self {
        let carries_call_id = self.object().get("call_id").is_some();
        let field = match self.head().kind {
            Kind::McpApprovalRequest => "id",
            Kind::McpApprovalResponse => "approval_request_id",
            Kind::LocalShellCallOutput if !carries_call_id => "id",
            _ => "call_id",
        };
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
    fn a_call_without_a_call_id_still_waits_for_an_output() {
        let call = item(r#"{"type":"function_call","name":"f","arguments":"{}"}"#);
        assert_eq!(call_id(&call).as_deref(), Some(""));
    }

    #[test]
    fn a_search_that_the_provider_ran_itself_pairs_with_nothing() {
        let search = item(r#"{"type":"tool_search_call","call_id":null,"execution":"server"}"#);
        let found = item(r#"{"type":"tool_search_output","call_id":null,"tools":[]}"#);
        assert_eq!((search.head().pairing(), found.head().pairing()), (None, None));
    }

    #[test]
    fn every_kind_carries_its_call_id_in_its_own_field() {
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
