//! Compaction items, which replace a history that became too long.
//!
//! The `encrypted_content` of such an item always has the gateway's own [seal]. It contains
//! either a summary that a model wrote for the gateway, or the compaction item of an upstream
//! together with the only origin that can read it. Callers that manage their own state can store
//! the item, other tenants cannot use it, and the upstream receives its original bytes.
//!
//! The origin inside the seal determines which upstream can read a compaction. The origin of the
//! stored item ([`antiphon::HeldItem::origin`]) has another meaning: this thread produced the item
//! at this position, from the items before it. Only such a compaction can be replaced by those
//! items for a model that cannot read it.

mod prompt;
mod seal;
mod sealer;

use antiphon::item::IdSource;
use antiphon::json::{quote, unquote};
use antiphon::{Item, ItemId, Kind};
use antiphon_store::Tenant;

pub(crate) use self::prompt::{is_summary, summary_message, summary_request};
pub(crate) use self::seal::{Compaction, CompactionKey};
pub(crate) use self::sealer::CompactionSealer;
use crate::entropy::RandomIds;
use crate::error::ApiError;
use crate::request::wrong_type;
pub(crate) use crate::seal::UnreadableSeal;

/// Creates a compaction item with this content.
pub(crate) fn compaction_item(encrypted_content: &str) -> Item {
    let id = ItemId::from(RandomIds.issue(Kind::Compaction.id_prefix()));
    let (id, content) = (quote(id.as_str()), quote(encrypted_content));
    let text = format!(r#"{{"id":{id},"type":"compaction","encrypted_content":{content}}}"#);
    Item::parse(text.into()).expect("the text above is an item")
}

/// Rejects compaction items that no model can use: the content is missing or not a string, or it
/// has the gateway's seal but was modified or belongs to another tenant. `path` is the path of the
/// item array.
pub(crate) fn check_compactions(
    items: &[Item],
    path: &str,
    key: &CompactionKey,
    tenant: &Tenant,
) -> Result<(), ApiError> {
    let compactions = items.iter().enumerate();
    let mut compactions = compactions.filter(|(_, item)| item.head().kind == Kind::Compaction);
    compactions.try_for_each(|(position, item)| {
        check_compaction(item, &format!("{path}[{position}]"), key, tenant)
    })
}

/// As [`check_compactions`], for the item at `path`. Accepts items of other types.
pub(crate) fn check_compaction(
    item: &Item,
    path: &str,
    key: &CompactionKey,
    tenant: &Tenant,
) -> Result<(), ApiError> {
    if item.head().kind != Kind::Compaction {
        return Ok(());
    }
    let param = format!("{path}.encrypted_content");
    let object = item.object();
    let raw = object.present("encrypted_content").unwrap_or(r#""""#);
    let content = unquote(raw).ok_or_else(|| wrong_type(&param, "a string", raw))?;
    if content.is_empty() {
        return Err(ApiError::MissingParameter { name: param });
    }
    match key.open(tenant, &content) {
        Ok(_) => Ok(()),
        Err(UnreadableSeal) => Err(ApiError::UnreadableCompaction { path: param }),
    }
}
