//! `/v1/responses/{id}`.

use antiphon_testkit::{Frame, Refusal};
use serde_json::{Value, json};

use super::asked::Asked;
use crate::InputItems;
use crate::answered::Answered;
use crate::page::Page;
use crate::refusals;

pub(super) fn retrieve(asked: &Asked<'_>, id: &str) -> Result<Value, Refusal> {
    let mut world = asked.shared.world();
    match world.look_at(&asked.token, id) {
        Some(object) => Ok(object),
        None => Ok(world.account(&asked.token).0.response(id)?.object.clone()),
    }
}

/// With `?stream=true`, the events behind number `starting_after` of a response in the background.
pub(super) fn stream(asked: &Asked<'_>, id: &str) -> Result<Answered, Refusal> {
    let after = match asked.query.get("starting_after") {
        Some(number) => Some(number.parse::<u64>().map_err(|_| not_a_number(number))?),
        None => None,
    };
    let mut world = asked.shared.world();
    let Some(frames) = world.backgrounds.events_of(&asked.token, id) else {
        world.account(&asked.token).0.response(id)?;
        return Err(refusals::cannot_stream());
    };
    let is_new = |frame: &&Frame| {
        let number = frame.json().and_then(|event| event["sequence_number"].as_u64());
        number.is_none_or(|number| after.is_none_or(|after| number > after))
    };
    Ok(Answered::events(id, frames.iter().filter(is_new).cloned().collect()))
}

pub(super) fn delete(asked: &Asked<'_>, id: &str) -> Result<Value, Refusal> {
    asked.shared.world().remove_response(&asked.token, id)?;
    Ok(json!({"id": id, "object": "response", "deleted": true}))
}

pub(super) fn cancel(asked: &Asked<'_>, id: &str) -> Result<Value, Refusal> {
    let mut world = asked.shared.world();
    if let Some(object) = world.cancel(&asked.token, id) {
        return Ok(object);
    }
    world.account(&asked.token).0.response(id)?;
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

fn not_a_number(text: &str) -> Refusal {
    Refusal::wrong_type("starting_after", "an integer", &text.into())
}
