//! `POST /v1/responses/compact`.

use serde_json::{Value, json};

use super::route_request::RouteRequest;
use crate::request::Create;
use crate::stream::CREATED_AT;
use crate::turn::Turn;
use crate::{Refusal, encrypted_content};

/// Compacts the context and the input of a request: returns all messages of the user, then one
/// compaction item in place of all other items. Stores nothing.
pub(super) fn create(request: &RouteRequest<'_>) -> Result<Value, Refusal> {
    let body = request.json()?;
    let options = &request.shared.options;
    let create = Create::read(&body, options)?;
    let mut world = request.shared.world();
    let (account, ids) = world.account(&request.token);
    let turn = Turn::read(&create, &request.token, (account, ids), options.is_strict())?;
    let id = ids.next_item_id("compaction");
    let sealed = encrypted_content(create.model, &id);
    let compaction = json!({"type": "compaction", "id": id, "encrypted_content": sealed});
    let from_user = turn.model_input().into_iter().filter(|item| item["role"] == "user");
    Ok(json!({
        "id": ids.next("resp"),
        "object": "response.compaction",
        "created_at": CREATED_AT,
        "output": from_user.chain([compaction]).collect::<Vec<_>>(),
        "usage": {
            "input_tokens": 0,
            "input_tokens_details": {"cached_tokens": 0},
            "output_tokens": 0,
            "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": 0,
        },
    }))
}
