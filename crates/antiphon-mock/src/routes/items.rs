//! `/v1/conversations/{id}/items`.

use std::collections::HashSet;
use std::sync::Arc;

use serde_json::Value;

use super::route_request::RouteRequest;
use crate::Refusal;
use crate::account::{Account, Conversation, StoredItem};
use crate::ids::Ids;
use crate::page::{self, Page};
use crate::request::{bounded_array, check_items};
use crate::turn::{resolve, stored};

/// The maximum number of items in one request.
const MOST: usize = 20;

pub(super) fn list(request: &RouteRequest<'_>, id: &str) -> Result<Value, Refusal> {
    let page = Page::read(&request.query)?;
    let mut world = request.shared.world();
    let (account, _) = world.account(&request.token);
    page.select(&values(account.conversation(id)?.items()))
}

pub(super) fn create(request: &RouteRequest<'_>, id: &str) -> Result<Value, Refusal> {
    let body = request.json()?;
    let is_strict = request.shared.options.is_strict();
    let mut world = request.shared.world();
    let (account, ids) = world.account(&request.token);
    account.conversation(id)?.ensure_unlocked()?;
    if body["items"].is_null() {
        return Err(Refusal::missing_parameter("items"));
    }
    let items = store(&body, account, ids, is_strict)?;
    if is_strict {
        reject_held(account.conversation(id)?, &items)?;
    }
    account.register_items(&items);
    account.conversation_mut(id)?.append(items.iter().cloned());
    Ok(page::full_list(&values(&items)))
}

pub(super) fn retrieve(request: &RouteRequest<'_>, id: &str, item: &str) -> Result<Value, Refusal> {
    let mut world = request.shared.world();
    let (account, _) = world.account(&request.token);
    Ok(account.conversation(id)?.item(item)?.value().clone())
}

pub(super) fn delete(request: &RouteRequest<'_>, id: &str, item: &str) -> Result<Value, Refusal> {
    let mut world = request.shared.world();
    let (account, _) = world.account(&request.token);
    let conversation = account.conversation_mut(id)?;
    conversation.ensure_unlocked()?;
    conversation.remove(item)?;
    let object = conversation.object();
    account.drop_unowned_items();
    Ok(object)
}

/// Stores the items of a body: at most 20, each valid, none twice.
pub(super) fn store(
    body: &Value,
    account: &Account,
    ids: &mut Ids,
    is_strict: bool,
) -> Result<Vec<Arc<StoredItem>>, Refusal> {
    bounded_array(body, "items", MOST)?;
    let items = body["items"].as_array().map(Vec::as_slice).unwrap_or_default();
    check_items(items, is_strict).map_err(in_items)?;
    let items = stored(resolve(items, account, is_strict).map_err(in_items)?, account, ids);
    if is_strict {
        reject_duplicates(&items)?;
    }
    Ok(items)
}

fn reject_duplicates(items: &[Arc<StoredItem>]) -> Result<(), Refusal> {
    let mut seen = HashSet::new();
    match items.iter().find(|item| !seen.insert(item.id())) {
        Some(item) => Err(in_items(Refusal::duplicate_item(item.id()))),
        None => Ok(()),
    }
}

fn reject_held(conversation: &Conversation, items: &[Arc<StoredItem>]) -> Result<(), Refusal> {
    match items.iter().find(|item| conversation.item(item.id()).is_ok()) {
        Some(item) => Err(in_items(Refusal::duplicate_item(item.id()))),
        None => Ok(()),
    }
}

/// Rewrites a refusal about `input` into one about `items`.
fn in_items(mut refusal: Refusal) -> Refusal {
    if let Some(place) = refusal.param.as_deref().and_then(|it| it.strip_prefix("input")) {
        let (old, new) = (format!("'input{place}'"), format!("'items{place}'"));
        refusal.message = refusal.message.replace(&old, &new);
        refusal.param = Some(format!("items{place}"));
    }
    refusal
}

fn values(items: &[Arc<StoredItem>]) -> Vec<Value> {
    items.iter().map(|item| item.value().clone()).collect()
}
