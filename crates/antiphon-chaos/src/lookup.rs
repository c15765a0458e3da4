//! Lookups through the API.

use anyhow::{Context as _, anyhow, ensure};
use http::{Method, StatusCode};
use serde_json::Value;

use crate::gateway_client::GatewayClient;
use crate::ledger::ItemRecord;

/// The maximum page size.
const PAGE: usize = 100;

/// Creates a conversation.
pub(crate) async fn create_conversation(gateway: GatewayClient) -> anyhow::Result<String> {
    let body = serde_json::json!({});
    let (status, body) = call(gateway, Method::POST, "/v1/conversations", Some(&body)).await?;
    ensure!(status.is_success(), "could not create a conversation: {status} {body}");
    Ok(body["id"].as_str().context("the conversation has no id")?.to_owned())
}

/// All items of a conversation, oldest first.
pub(crate) async fn items(
    gateway: GatewayClient,
    conversation: &str,
) -> anyhow::Result<Vec<ItemRecord>> {
    pages(gateway, &format!("/v1/conversations/{conversation}/items")).await
}

/// A response object; `None` if it does not exist.
pub(crate) async fn response(gateway: GatewayClient, id: &str) -> anyhow::Result<Option<Value>> {
    let (status, body) = call(gateway, Method::GET, &format!("/v1/responses/{id}"), None).await?;
    match status {
        StatusCode::OK => Ok(Some(body)),
        StatusCode::NOT_FOUND => Ok(None),
        other => Err(anyhow!("could not read response {id}: {other} {body}")),
    }
}

/// The input items of a response, oldest first.
pub(crate) async fn input(gateway: GatewayClient, id: &str) -> anyhow::Result<Vec<ItemRecord>> {
    pages(gateway, &format!("/v1/responses/{id}/input_items")).await
}

async fn pages(gateway: GatewayClient, path: &str) -> anyhow::Result<Vec<ItemRecord>> {
    let mut rows: Vec<ItemRecord> = Vec::new();
    loop {
        let after = rows.last().map_or(String::new(), |row| format!("&after={}", row.id));
        let path = format!("{path}?order=asc&limit={PAGE}{after}");
        let (status, body) = call(gateway, Method::GET, &path, None).await?;
        ensure!(status.is_success(), "could not read {path}: {status} {body}");
        rows.extend(ItemRecord::from_items(&body["data"]));
        if body["has_more"] != true {
            return Ok(rows);
        }
    }
}

async fn call(
    gateway: GatewayClient,
    method: Method,
    path: &str,
    body: Option<&Value>,
) -> anyhow::Result<(StatusCode, Value)> {
    let answer = gateway.call(method, path, body).await;
    answer.map_err(|lost| anyhow!("no answer from {path}: {lost:?}"))
}
