//! `/v1/conversations`.

use antiphon_testkit::Refusal;
use serde_json::{Value, json};

use super::asked::Asked;
use super::items;
use crate::account::Conversation;
use crate::request::metadata;

/// When everything was made: a constant, so that nothing depends on the clock.
const CREATED_AT: u64 = 1_760_000_000;

pub(super) fn create(asked: &Asked<'_>) -> Result<Value, Refusal> {
    let body = asked.json_or_nothing()?;
    metadata(&body["metadata"])?;
    let mut world = asked.shared.world();
    let (account, ids) = world.account(&asked.token);
    let items = items::sent(&body, account, ids, asked.shared.options.is_strict())?;
    account.know(&items);
    let given = if body["metadata"].is_null() { json!({}) } else { body["metadata"].clone() };
    let conversation = Conversation::new(ids.next("conv"), CREATED_AT, given, items);
    let object = conversation.object();
    account.add_conversation(conversation);
    Ok(object)
}

pub(super) fn retrieve(asked: &Asked<'_>, id: &str) -> Result<Value, Refusal> {
    let mut world = asked.shared.world();
    let (account, _) = world.account(&asked.token);
    account.conversation(id).map(Conversation::object)
}

pub(super) fn update(asked: &Asked<'_>, id: &str) -> Result<Value, Refusal> {
    let body = asked.json()?;
    let mut world = asked.shared.world();
    let (account, _) = world.account(&asked.token);
    let conversation = account.conversation_mut(id)?;
    if body["metadata"].is_null() {
        return Err(Refusal::missing_parameter("metadata"));
    }
    metadata(&body["metadata"])?;
    conversation.set_metadata(body["metadata"].clone());
    Ok(conversation.object())
}

pub(super) fn delete(asked: &Asked<'_>, id: &str) -> Result<Value, Refusal> {
    let mut world = asked.shared.world();
    let (account, _) = world.account(&asked.token);
    account.remove_conversation(id)?;
    Ok(json!({"id": id, "object": "conversation.deleted", "deleted": true}))
}
