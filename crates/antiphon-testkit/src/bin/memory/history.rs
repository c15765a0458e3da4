//! A conversation of long items: listing it and a turn in it.

use std::error::Error;
use std::net::SocketAddr;
use std::path::Path;

use antiphon_testkit::process::Gateway;
use serde_json::Value;

use crate::answers::responses_answer;
use crate::caller::Caller;
use crate::report::{Report, Row, wait_until_settled};
use crate::upstream::Upstream;

const ITEMS: usize = 20;
const ITEM_BYTES: usize = 30_000_000;
const SLOW_READERS: usize = 3;

pub(crate) async fn measure(antiphon: &Path, report: &mut Report) -> Result<(), Box<dyn Error>> {
    let upstream = Upstream::start(responses_answer(1, 100)).await?;
    let gateway = Gateway::start(antiphon, &upstream.base_url(), &[]).await?;
    let conversation = fill(gateway.address()).await?;
    let page = ("GET", &*format!("/v1/conversations/{conversation}/items?limit=100"));

    let before = wait_until_settled(&gateway, true).await?;
    let caller = Caller::send(gateway.address(), page, b"").await?;
    let (requested, _) = caller.read_to_end().await?;
    let measured = (before, gateway.memory()?.peak);
    report.add(Row::measure(&gateway, "a page of 20 items of 30 MB", measured, requested).await?);

    let before = wait_until_settled(&gateway, true).await?;
    let mut callers = Vec::new();
    for _ in 0..SLOW_READERS {
        callers.push(Caller::send(gateway.address(), page, b"").await?);
    }
    for caller in &mut callers {
        caller.read_head().await?;
    }
    let requested = requested * SLOW_READERS as u64;
    wait_until_settled(&gateway, false).await?;
    let measured = (before, gateway.memory()?.peak);
    drop(callers);
    report.add(Row::measure(&gateway, "three such pages, unread", measured, requested).await?);

    let before = wait_until_settled(&gateway, true).await?;
    let body = format!(r#"{{"model":"m","input":"Hi","conversation":"{conversation}"}}"#);
    let sent = upstream.received();
    let turn = Caller::send(gateway.address(), ("POST", "/v1/responses"), body.as_bytes()).await?;
    turn.read_to_end().await?;
    let requested = upstream.received() - sent;
    let measured = (before, gateway.memory()?.peak);
    report.add(Row::measure(&gateway, "a turn on this history", measured, requested).await?);
    Ok(())
}

/// Creates a conversation with [`ITEMS`] items and returns its id.
async fn fill(gateway: SocketAddr) -> Result<String, Box<dyn Error>> {
    let created = post(gateway, "/v1/conversations", b"{}").await?;
    let conversation = created["id"].as_str().ok_or("no conversation was created")?.to_owned();
    let text = "x".repeat(ITEM_BYTES);
    let items = format!(r#"{{"items":[{{"role":"user","content":"{text}"}}]}}"#);
    let path = format!("/v1/conversations/{conversation}/items");
    for _ in 0..ITEMS {
        Caller::send(gateway, ("POST", &path), items.as_bytes()).await?.read_to_end().await?;
    }
    Ok(conversation)
}

async fn post(gateway: SocketAddr, path: &str, body: &[u8]) -> Result<Value, Box<dyn Error>> {
    let (_, last) = Caller::send(gateway, ("POST", path), body).await?.read_to_end().await?;
    let start = last.find('{').ok_or("the answer is_within_bound no object")?;
    Ok(serde_json::from_str(&last[start..])?)
}
