//! `/v1/responses/{id}`.

use antiphon_testkit::Refusal;
use serde_json::{Value, json};

use super::asked::Asked;
use crate::InputItems;
use crate::page::Page;
use crate::refusals;

pub(super) fn retrieve(asked: &Asked<'_>, id: &str) -> Result<Value, Refusal> {
    let mut world = asked.shared.world();
    let (account, _) = world.account(&asked.token);
    let stored = account.response(id)?;
    if asked.asks_for("stream") {
        return Err(refusals::cannot_stream());
    }
    Ok(stored.object.clone())
}

pub(super) fn delete(asked: &Asked<'_>, id: &str) -> Result<Value, Refusal> {
    let mut world = asked.shared.world();
    let (account, _) = world.account(&asked.token);
    account.remove_response(id)?;
    Ok(json!({"id": id, "object": "response", "deleted": true}))
}

pub(super) fn cancel(asked: &Asked<'_>, id: &str) -> Result<Value, Refusal> {
    let mut world = asked.shared.world();
    let (account, _) = world.account(&asked.token);
    account.response(id)?;
    Err(refusals::cannot_cancel())
}

pub(super) fn input_items(asked: &Asked<'_>, id: &str) -> Result<Value, Refusal> {
    let page = Page::read(&asked.query)?;
    let mut world = asked.shared.world();
    let (account, _) = world.account(&asked.token);
    let context = &account.response(id)?.context;
    let before = match asked.shared.options.input_items {
        InputItems::Own => Vec::new(),
        InputItems::All => context.before.items(),
    };
    let items: Vec<Value> =
        before.iter().chain(&context.input).map(|item| item.value().clone()).collect();
    page.of(&items)
}
