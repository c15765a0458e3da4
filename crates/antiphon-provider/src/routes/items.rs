//! `/v1/conversations/{id}/items`.

use std::collections::HashSet;
use std::sync::Arc;

use antiphon_testkit::Refusal;
use serde_json::Value;

use super::asked::Asked;
use crate::account::{Account, Conversation, Held};
use crate::ids::Ids;
use crate::page::{self, Page};
use crate::request::{bounded_array, well_formed};
use crate::turn::{resolve, stored};

/// How many items may be added at once.
const MOST: usize = 20;

pub(super) fn list(asked: &Asked<'_>, id: &str) -> Result<Value, Refusal> {
    let page = Page::read(&asked.query)?;
    let mut world = asked.shared.world();
    let (account, _) = world.account(&asked.token);
    page.of(&values(account.conversation(id)?.items()))
}

pub(super) fn create(asked: &Asked<'_>, id: &str) -> Result<Value, Refusal> {
    let body = asked.json()?;
    let is_strict = asked.shared.options.is_strict();
    let mut world = asked.shared.world();
    let (account, ids) = world.account(&asked.token);
    account.conversation(id)?.unlocked()?;
    if body["items"].is_null() {
        return Err(Refusal::missing_parameter("items"));
    }
    let items = sent(&body, account, ids, is_strict)?;
    if is_strict {
        unheld(account.conversation(id)?, &items)?;
    }
    account.know(&items);
    account.conversation_mut(id)?.append(items.iter().cloned());
    Ok(page::whole(&values(&items)))
}

pub(super) fn retrieve(asked: &Asked<'_>, id: &str, item: &str) -> Result<Value, Refusal> {
    let mut world = asked.shared.world();
    let (account, _) = world.account(&asked.token);
    Ok(account.conversation(id)?.item(item)?.value().clone())
}

pub(super) fn delete(asked: &Asked<'_>, id: &str, item: &str) -> Result<Value, Refusal> {
    let mut world = asked.shared.world();
    let (account, _) = world.account(&asked.token);
    let conversation = account.conversation_mut(id)?;
    conversation.unlocked()?;
    conversation.remove(item)?;
    let object = conversation.object();
    account.forget_items();
    Ok(object)
}

/// The items that a body brings, as they are stored: at most 20, each well-formed, none twice.
pub(super) fn sent(
    body: &Value,
    account: &Account,
    ids: &mut Ids,
    is_strict: bool,
) -> Result<Vec<Arc<Held>>, Refusal> {
    bounded_array(body, "items", MOST)?;
    let items = body["items"].as_array().map(Vec::as_slice).unwrap_or_default();
    well_formed(items, is_strict).map_err(in_items)?;
    let items = stored(resolve(items, account, is_strict).map_err(in_items)?, account, ids);
    if is_strict {
        once(&items)?;
    }
    Ok(items)
}

fn once(items: &[Arc<Held>]) -> Result<(), Refusal> {
    let mut seen = HashSet::new();
    match items.iter().find(|item| !seen.insert(item.id())) {
        Some(item) => Err(in_items(Refusal::duplicate_item(item.id()))),
        None => Ok(()),
    }
}

fn unheld(conversation: &Conversation, items: &[Arc<Held>]) -> Result<(), Refusal> {
    match items.iter().find(|item| conversation.item(item.id()).is_ok()) {
        Some(item) => Err(in_items(Refusal::duplicate_item(item.id()))),
        None => Ok(()),
    }
}

/// What is wrong with an input, said of `items`.
fn in_items(mut refusal: Refusal) -> Refusal {
    if let Some(place) = refusal.param.as_deref().and_then(|it| it.strip_prefix("input")) {
        let (old, new) = (format!("'input{place}'"), format!("'items{place}'"));
        refusal.message = refusal.message.replace(&old, &new);
        refusal.param = Some(format!("items{place}"));
    }
    refusal
}

fn values(items: &[Arc<Held>]) -> Vec<Value> {
    items.iter().map(|item| item.value().clone()).collect()
}
