//! What stands for a history that became too long: a compaction item.
//!
//! Its `encrypted_content` is always the gateway's own [seal](seal): around a summary that the
//! gateway had a model write, or around the item of an upstream that compacts by itself, beside the
//! origin that alone can read it. So callers that keep their state themselves can carry it, no other
//! tenant can use it, and what goes to an upstream are its own bytes.
//!
//! The origin within the seal decides where a compaction can be read. The origin of the held item
//! ([`antiphon::HeldItem::origin`]) says something else: that it was made in this very place of its
//! thread, from the items that stand before it. Only then can they take its place for a model that
//! cannot read it.

mod prompt;
mod seal;
mod sealing;

use antiphon::item::IdSource;
use antiphon::json::{quote, unquote};
use antiphon::{Item, ItemId, Kind};
use antiphon_store::Tenant;

pub(crate) use self::prompt::{as_message, is_summary, request_for_summary};
pub(crate) use self::seal::{Compaction, CompactionKey, Unreadable};
pub(crate) use self::sealing::Sealing;
use crate::entropy::RandomIds;
use crate::error::ApiError;
use crate::request::wrong;

/// A new compaction item with this content.
pub(crate) fn compaction_item(encrypted_content: &str) -> Item {
    let id = ItemId::from(RandomIds.issue(Kind::Compaction.id_prefix()));
    let (id, content) = (quote(id.as_str()), quote(encrypted_content));
    let text = format!(r#"{{"id":{id},"type":"compaction","encrypted_content":{content}}}"#);
    Item::parse(text.into()).expect("the text above is an item")
}

/// Refuses compaction items that no model could ever be told of: without content, with content that
/// is no text, or with content of the gateway's own that was changed, or that is another tenant's. `path`
/// is where the array of the items stands.
pub(crate) fn check_compactions(
    items: &[Item],
    path: &str,
    key: &CompactionKey,
    tenant: &Tenant,
) -> Result<(), ApiError> {
    let compactions = items.iter().enumerate();
    let mut compactions = compactions.filter(|(_, item)| item.head().kind == Kind::Compaction);
    compactions.try_for_each(|(position, item)| {
        let param = format!("{path}[{position}].encrypted_content");
        let object = item.object();
        let raw = object.present("encrypted_content").unwrap_or(r#""""#);
        let content = unquote(raw).ok_or_else(|| wrong(&param, "a string", raw))?;
        if content.is_empty() {
            return Err(ApiError::missing_parameter(&param));
        }
        key.open(tenant, &content).map(drop).map_err(|error| error.at(param))
    })
}
