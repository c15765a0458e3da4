//! Selects the route of a request.

use super::route_request::RouteRequest;
use super::{compact, conversations, items, models, responses, turns};
use crate::route_reply::RouteReply;
use crate::{Profile, Refusal};

pub(super) fn answer(request: &RouteRequest<'_>) -> RouteReply {
    if let Some(reply) = request.shared.world().take_detour(&request.method, &request.path) {
        let exchange = reply.exchange();
        return RouteReply::verbatim(reply, exchange);
    }
    handle_route(request).unwrap_or_else(RouteReply::from_refusal)
}

fn handle_route(request: &RouteRequest<'_>) -> Result<RouteReply, Refusal> {
    request.check_key()?;
    let path: Vec<&str> = request.path.split('/').skip(1).collect();
    let answered = match api_path(request, &path) {
        Some(rest) if is_served(request, rest) => route(request, rest)?,
        _ => None,
    };
    Ok(answered.unwrap_or_else(|| not_served_reply(request)))
}

/// The path after the prefix of the API. Azure's resources and projects have prefixes of their own;
/// the one without a version requires the parameter `api-version`.
fn api_path<'a>(request: &RouteRequest<'_>, path: &'a [&'a str]) -> Option<&'a [&'a str]> {
    let is_azure = request.shared.options.profile == Profile::Azure;
    match path {
        ["v1", rest @ ..] => Some(rest),
        ["openai", "v1", rest @ ..] | ["api", "projects", _, "openai", "v1", rest @ ..]
            if is_azure =>
        {
            Some(rest)
        }
        ["openai", rest @ ..] if is_azure && request.query.contains_key("api-version") => {
            Some(rest)
        }
        _ => None,
    }
}

/// Runs the route; `None` if no route has this method and path.
fn route(request: &RouteRequest<'_>, path: &[&str]) -> Result<Option<RouteReply>, Refusal> {
    let answered = match (request.method.as_str(), path) {
        ("POST", ["responses"]) => return turns::create(request).map(Some),
        ("POST", ["responses", "compact"]) => compact::create(request),
        ("GET", ["responses", id]) if request.has_query_flag("stream") => {
            return responses::stream(request, id).map(Some);
        }
        ("GET", ["responses", id]) => responses::retrieve(request, id),
        ("DELETE", ["responses", id]) => responses::delete(request, id),
        ("POST", ["responses", id, "cancel"]) => responses::cancel(request, id),
        ("GET", ["responses", id, "input_items"]) => responses::input_items(request, id),
        ("POST", ["conversations"]) => conversations::create(request),
        ("GET", ["conversations", id]) => conversations::retrieve(request, id),
        ("POST", ["conversations", id]) => conversations::update(request, id),
        ("DELETE", ["conversations", id]) => conversations::delete(request, id),
        ("GET", ["conversations", id, "items"]) => items::list(request, id),
        ("POST", ["conversations", id, "items"]) => items::create(request, id),
        ("GET", ["conversations", id, "items", item]) => items::retrieve(request, id, item),
        ("DELETE", ["conversations", id, "items", item]) => items::delete(request, id, item),
        ("GET", ["models"]) => Ok(models::list(request)),
        ("GET", ["models", id]) => models::retrieve(request, id),
        _ => return Ok(None),
    };
    answered.map(|body| Some(RouteReply::json(&body)))
}

fn is_served(request: &RouteRequest<'_>, path: &[&str]) -> bool {
    let served = request.shared.options.profile.served();
    match path {
        ["responses", "compact"] => request.shared.options.compacts,
        ["conversations", ..] => served.conversations,
        ["responses", _, "input_items"] => served.input_items,
        _ => true,
    }
}

fn not_served_reply(request: &RouteRequest<'_>) -> RouteReply {
    let refusal = Refusal::unknown_url(&request.method, &request.path);
    match request.shared.options.profile.not_served() {
        Some((status, body)) => RouteReply::from_refusal_with_body(refusal, status, &body),
        None => RouteReply::from_refusal(refusal),
    }
}
