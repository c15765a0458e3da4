//! `/v1/responses/{id}`.

use serde_json::{Value, json};

use super::route_request::RouteRequest;
use crate::page::Page;
use crate::route_reply::RouteReply;
use crate::{Frame, InputItems, Refusal};

pub(super) fn retrieve(request: &RouteRequest<'_>, id: &str) -> Result<Value, Refusal> {
    let mut world = request.shared.world();
    match world.advance(&request.token, id) {
        Some(object) => Ok(object),
        None => Ok(world.account(&request.token).0.response(id)?.object.clone()),
    }
}

/// With `?stream=true`, streams a background response's events after number `starting_after`.
pub(super) fn stream(request: &RouteRequest<'_>, id: &str) -> Result<RouteReply, Refusal> {
    let after = match request.query.get("starting_after") {
        Some(number) => Some(number.parse::<u64>().map_err(|_| not_a_number(number))?),
        None => None,
    };
    let mut world = request.shared.world();
    let Some(frames) = world.backgrounds.events(&request.token, id) else {
        world.account(&request.token).0.response(id)?;
        return Err(Refusal::cannot_stream());
    };
    let is_new = |frame: &&Frame| {
        let number = frame.json().and_then(|event| event["sequence_number"].as_u64());
        number.is_none_or(|number| after.is_none_or(|after| number > after))
    };
    Ok(RouteReply::events(id, frames.iter().filter(is_new).cloned().collect()))
}

pub(super) fn delete(request: &RouteRequest<'_>, id: &str) -> Result<Value, Refusal> {
    request.shared.world().remove_response(&request.token, id)?;
    Ok(json!({"id": id, "object": "response", "deleted": true}))
}

pub(super) fn cancel(request: &RouteRequest<'_>, id: &str) -> Result<Value, Refusal> {
    let mut world = request.shared.world();
    if let Some(object) = world.cancel(&request.token, id) {
        return Ok(object);
    }
    world.account(&request.token).0.response(id)?;
    Err(Refusal::cannot_cancel())
}

pub(super) fn input_items(request: &RouteRequest<'_>, id: &str) -> Result<Value, Refusal> {
    let page = Page::read(&request.query)?;
    let mut world = request.shared.world();
    let (account, _) = world.account(&request.token);
    let context = &account.response(id)?.context;
    let before = match request.shared.options.input_items {
        InputItems::Own => Vec::new(),
        InputItems::All => context.before.items(),
    };
    let items: Vec<Value> =
        before.iter().chain(&context.input).map(|item| item.value().clone()).collect();
    page.select(&items)
}

fn not_a_number(text: &str) -> Refusal {
    Refusal::wrong_type("starting_after", "an integer", &text.into())
}
