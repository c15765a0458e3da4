//! Requests for a route that the upstream of their state does not have. The gateway's own route
//! answers them, for the items that the upstream stores.

use std::collections::HashSet;

use antiphon::json::{Object, replace_array};
use antiphon::provider_api::ServerError;
use antiphon::{Item, item};
use bytes::Bytes;
use http::StatusCode;

use super::forwarded::ForwardedAnswer;
use crate::caller::Caller;
use crate::owner::Provider;
use crate::request::Continues;
use crate::upstream::{HttpUpstream, UpstreamError};

/// Whether the upstream has no such route. If it has the route, it names the missing object.
pub(super) fn lacks_route(answer: &ForwardedAnswer, continues: &Continues) -> bool {
    let names = |noun, id| ServerError::parse(&answer.body).is_missing(noun, id);
    match (answer.status, continues) {
        (StatusCode::METHOD_NOT_ALLOWED | StatusCode::NOT_IMPLEMENTED, _) => true,
        (StatusCode::NOT_FOUND, Continues::Conversation(id)) => !names("conversation", id),
        (StatusCode::NOT_FOUND, Continues::Response(id)) => !names("response", id),
        (StatusCode::NOT_FOUND, Continues::Nothing) => !names("model", "model_not_found"),
        _ => false,
    }
}

/// The request that continues nothing: its input starts with the items that the upstream stores.
pub(super) async fn without_state(
    body: Bytes,
    continues: &Continues,
    http: &HttpUpstream,
    caller: &Caller,
) -> Result<Bytes, UpstreamError> {
    let provider = Provider::new(http, caller);
    let stored = match continues {
        Continues::Nothing => return Ok(body),
        Continues::Conversation(id) => provider.conversation_items(id).await?,
        Continues::Response(id) => provider.chain_items(id).await?,
    };
    let mut fields = Object::parse(&body).expect("its owner was found by its fields");
    // An input that is no list of items is rejected by the route.
    if let Some(input) = input_items(&body, fields.present("input")) {
        let known: HashSet<_> = stored.iter().filter_map(|item| item.head().id.as_ref()).collect();
        let is_new = |item: &&Item| item.head().id.as_ref().is_none_or(|id| !known.contains(id));
        let items = stored.iter().chain(input.iter().filter(is_new));
        fields.set("input", replace_array("[]", 0..2, items.map(Item::text)));
    }
    fields.remove("conversation");
    fields.remove("previous_response_id");
    Ok(fields.to_bytes())
}

/// The items of an input; a text is a message of the user.
fn input_items(body: &Bytes, input: Option<&str>) -> Option<Vec<Item>> {
    match input {
        None => Some(Vec::new()),
        Some(text) if text.starts_with('"') => {
            let message = format!(r#"[{{"type":"message","role":"user","content":{text}}}]"#);
            item::parse_items(&message.into()).ok()
        }
        Some(list) => item::parse_items(&body.slice_ref(list.as_bytes())).ok(),
    }
}
