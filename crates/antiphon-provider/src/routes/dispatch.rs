//! Which route a request takes.

use antiphon_testkit::Refusal;

use super::asked::Asked;
use super::{conversations, items, models, responses, turns};
use crate::answered::Answered;

pub(super) fn answer(asked: &Asked<'_>) -> Answered {
    if let Some(reply) = asked.shared.world().take_detour(&asked.method, &asked.path) {
        let exchange = reply.exchange();
        return Answered::verbatim(reply, exchange);
    }
    judged(asked).unwrap_or_else(Answered::refused)
}

fn judged(asked: &Asked<'_>) -> Result<Answered, Refusal> {
    asked.authorized()?;
    let path: Vec<&str> = asked.path.split('/').skip(1).collect();
    let answered = match path.as_slice() {
        ["v1", rest @ ..] if is_served(asked, rest) => route(asked, rest)?,
        _ => None,
    };
    Ok(answered.unwrap_or_else(|| nowhere(asked)))
}

/// The answer of the route, if there is one at this place.
fn route(asked: &Asked<'_>, path: &[&str]) -> Result<Option<Answered>, Refusal> {
    let answered = match (asked.method.as_str(), path) {
        ("POST", ["responses"]) => return turns::create(asked).map(Some),
        ("GET", ["responses", id]) if asked.asks_for("stream") => {
            return responses::stream(asked, id).map(Some);
        }
        ("GET", ["responses", id]) => responses::retrieve(asked, id),
        ("DELETE", ["responses", id]) => responses::delete(asked, id),
        ("POST", ["responses", id, "cancel"]) => responses::cancel(asked, id),
        ("GET", ["responses", id, "input_items"]) => responses::input_items(asked, id),
        ("POST", ["conversations"]) => conversations::create(asked),
        ("GET", ["conversations", id]) => conversations::retrieve(asked, id),
        ("POST", ["conversations", id]) => conversations::update(asked, id),
        ("DELETE", ["conversations", id]) => conversations::delete(asked, id),
        ("GET", ["conversations", id, "items"]) => items::list(asked, id),
        ("POST", ["conversations", id, "items"]) => items::create(asked, id),
        ("GET", ["conversations", id, "items", item]) => items::retrieve(asked, id, item),
        ("DELETE", ["conversations", id, "items", item]) => items::delete(asked, id, item),
        ("GET", ["models"]) => Ok(models::list(asked)),
        ("GET", ["models", id]) => models::retrieve(asked, id),
        _ => return Ok(None),
    };
    answered.map(|body| Some(Answered::json(&body)))
}

fn is_served(asked: &Asked<'_>, path: &[&str]) -> bool {
    let served = asked.shared.options.profile.served();
    match path {
        ["conversations", ..] => served.conversations,
        ["responses", _, "input_items"] => served.input_items,
        _ => true,
    }
}

fn nowhere(asked: &Asked<'_>) -> Answered {
    let refusal = Refusal::unknown_url(&asked.method, &asked.path);
    match asked.shared.options.profile.not_served() {
        Some((status, body)) => Answered::refused_as(refusal, status, &body),
        None => Answered::refused(refusal),
    }
}
