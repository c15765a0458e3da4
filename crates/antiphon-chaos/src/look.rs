//! What a client can look up.

use anyhow::{Context as _, anyhow, ensure};
use http::{Method, StatusCode};
use serde_json::Value;

use crate::ledger::Row;
use crate::wire::Wire;

/// The longest page.
const PAGE: usize = 100;

/// Creates a conversation.
pub(crate) async fn create_conversation(wire: Wire) -> anyhow::Result<String> {
    let body = serde_json::json!({});
    let (status, body) = call(wire, Method::POST, "/v1/conversations", Some(&body)).await?;
    ensure!(status.is_success(), "no conversation was created: {status} {body}");
    Ok(body["id"].as_str().context("a conversation has an id")?.to_owned())
}

/// All items of a conversation, oldest first.
pub(crate) async fn items(wire: Wire, conversation: &str) -> anyhow::Result<Vec<Row>> {
    pages(wire, &format!("/v1/conversations/{conversation}/items")).await
}

/// A response's object; `None` where it does not exist.
pub(crate) async fn response(wire: Wire, id: &str) -> anyhow::Result<Option<Value>> {
    let (status, body) = call(wire, Method::GET, &format!("/v1/responses/{id}"), None).await?;
    match status {
        StatusCode::OK => Ok(Some(body)),
        StatusCode::NOT_FOUND => Ok(None),
        other => Err(anyhow!("response {id} cannot be read: {other} {body}")),
    }
}

/// The input items of a response, oldest first.
pub(crate) async fn input(wire: Wire, id: &str) -> anyhow::Result<Vec<Row>> {
    pages(wire, &format!("/v1/responses/{id}/input_items")).await
}

async fn pages(wire: Wire, path: &str) -> anyhow::Result<Vec<Row>> {
    let mut rows: Vec<Row> = Vec::new();
    loop {
        let after = rows.last().map_or(String::new(), |row| format!("&after={}", row.id));
        let path = format!("{path}?order=asc&limit={PAGE}{after}");
        let (status, body) = call(wire, Method::GET, &path, None).await?;
        ensure!(status.is_success(), "{path} cannot be read: {status} {body}");
        rows.extend(Row::all(&body["data"]));
        if body["has_more"] != true {
            return Ok(rows);
        }
    }
}

async fn call(
    wire: Wire,
    method: Method,
    path: &str,
    body: Option<&Value>,
) -> anyhow::Result<(StatusCode, Value)> {
    let answer = wire.call(method, path, body).await;
    answer.map_err(|lost| anyhow!("{path} has no answer: {lost:?}"))
}
