//! The data of the inspector.

use std::sync::Arc;

use axum::extract::{RawQuery, State};
use axum::response::Response;
use serde::Serialize;

use super::super::extract::Path;
use super::super::json;
use super::super::responses::load_context;
use crate::caller::Caller;
use crate::context::{self, Difference};
use crate::error::{ApiError, Hint};
use crate::fault_pages;
use crate::gateway::Gateway;
use crate::inspect::{self, answers};

type Answer = Result<Response, ApiError>;

/// The settings that the pages need before they have a key.
#[derive(Serialize)]
struct Config {
    version: &'static str,
    allows_writes: bool,
    shows_bodies: bool,
    needs_key: bool,
}

/// `GET /inspect/config.json`
pub(super) async fn config(State(gateway): State<Arc<Gateway>>) -> Response {
    let settings = &gateway.settings;
    let config = Config {
        version: env!("CARGO_PKG_VERSION"),
        allows_writes: settings.inspect.allows_writes,
        shows_bodies: settings.inspect.shows_bodies,
        needs_key: !settings.api_keys.is_empty(),
    };
    json(serde_json::to_string(&config).expect("the settings are plain data"))
}

/// The description of a fault.
#[derive(Serialize)]
struct FaultPage {
    name: &'static str,
    /// Markdown.
    text: &'static str,
}

/// `GET /inspect/faults.json`: the descriptions of all faults and repairs, which hold no data of a
/// tenant.
pub(super) async fn faults() -> Response {
    let pages = fault_pages::pages().map(|(name, text)| FaultPage { name, text });
    json(serde_json::to_string(&pages.collect::<Vec<_>>()).expect("the pages are plain text"))
}

/// `GET /inspect/conversations.json`
pub(super) async fn conversations(
    State(gateway): State<Arc<Gateway>>,
    caller: Caller,
    RawQuery(query): RawQuery,
) -> Answer {
    answers::conversations(&gateway, &caller.tenant, &query.unwrap_or_default()).await
}

/// `GET /inspect/conversations/{id}.json`
pub(super) async fn conversation(
    State(gateway): State<Arc<Gateway>>,
    caller: Caller,
    Path(file): Path<String>,
    RawQuery(query): RawQuery,
) -> Answer {
    let (id, query) = (name_of(&file), query.unwrap_or_default());
    answers::conversation(&gateway, &caller.tenant, id, &query).await
}

/// `GET /inspect/refused.json`: the latest turns that left no response.
pub(super) async fn refused(State(gateway): State<Arc<Gateway>>, caller: Caller) -> Response {
    answers::refused_turns(&gateway, &caller.tenant)
}

/// `GET /inspect/turns/{id}.json`
pub(super) async fn turn(
    State(gateway): State<Arc<Gateway>>,
    caller: Caller,
    Path(file): Path<String>,
) -> Answer {
    answers::turn(&gateway, &caller.tenant, name_of(&file)).await
}

/// `GET /inspect/turns/{id}/lanes/{lane}.json`
pub(super) async fn lane(
    State(gateway): State<Arc<Gateway>>,
    caller: Caller,
    Path((id, file)): Path<(String, String)>,
    RawQuery(query): RawQuery,
) -> Answer {
    let query = query.unwrap_or_default();
    answers::lane(&gateway, &caller.tenant, &id, name_of(&file), &query).await
}

/// `GET /inspect/turns/{id}/context.json`: the input of the model, and its difference from that of
/// the turn before. Both have the content of items.
pub(super) async fn context(
    State(gateway): State<Arc<Gateway>>,
    caller: Caller,
    Path(id): Path<String>,
) -> Answer {
    if !gateway.settings.inspect.shows_bodies {
        return Err(missing(&id));
    }
    if let Some(refused) = context::find_refused(&gateway, &caller.tenant, &id) {
        return Ok(json(context::to_json(&refused, None)));
    }
    let context = load_context(&gateway, &caller, &id).await?;
    let previous = match &context.previous {
        Some(named) => Some(named.clone()),
        // In a conversation the request does not name the turn before.
        None => inspect::turn_before(&gateway, &caller.tenant, &id).await?,
    };
    let previous = match previous {
        Some(previous) => load_context(&gateway, &caller, &previous).await.ok(),
        None => None,
    };
    let difference = previous.map(|previous| Difference::new(&previous, &context));
    Ok(json(context::to_json(&context, difference.as_ref())))
}

/// `GET /inspect/events`
pub(super) async fn events(State(gateway): State<Arc<Gateway>>, caller: Caller) -> Response {
    answers::events(&gateway, &caller.tenant)
}

fn missing(id: &str) -> ApiError {
    ApiError::ResponseNotFound { id: id.to_owned(), hint: Hint::None }
}

/// The id or name in the name of a file.
fn name_of(file: &str) -> &str {
    file.strip_suffix(".json").unwrap_or(file)
}
