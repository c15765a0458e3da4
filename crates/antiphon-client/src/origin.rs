//! Encrypted reasoning, which only its origin can read: one server and model.

use std::collections::HashSet;

use antiphon::dialect::{Dialect, Seal};
use antiphon::faults::OmissionReason;
use antiphon::item::{Item, ItemId, Kind};
use antiphon::json::{Object, quote};
use antiphon::repair::{ReportedRepair, made_with};
use antiphon::transcript::Origin;

const FIELD: &str = "encrypted_content";

/// Adds the origin to the encrypted content of an item from a server of the Responses API.
pub(crate) fn seal(item: Item, origin: &Origin) -> Item {
    let object = item.object();
    let Some(raw) = object.present(FIELD).filter(|raw| *raw != r#""""#) else { return item };
    if item.head().kind != Kind::Reasoning || Seal::from_item(&item).is_some() {
        return item;
    }
    let content = format!(r#"{{"{FIELD}":{raw}}}"#);
    let seal = Seal { dialect: Dialect::Responses, origin: origin.clone(), content };
    let text = quote(&seal.to_text());
    item.with(|object| object.set(FIELD, text))
}

/// The items for a server of the Responses API, and the reasoning of other origins, which is left
/// out. An item whose reasoning is left out goes without its id: the server would look for it.
pub(crate) fn unseal(items: Vec<Item>, origin: &Origin) -> (Vec<Item>, Vec<ReportedRepair>) {
    let is_sealed = |item: &Item| Seal::from_item(item).is_some();
    if !items.iter().any(is_sealed) {
        return (items, Vec::new());
    }
    let sources = made_with(items.iter().map(|item| (item.head(), item.head().id.as_ref())));
    let (mut kept, mut omissions, mut left_out) =
        (Vec::new(), Vec::new(), HashSet::<ItemId>::new());
    for (position, item) in items.into_iter().enumerate() {
        match Seal::from_item(&item) {
            None => {
                let source = item.head().id.as_ref().and_then(|id| sources.get(id));
                let is_alone = source.is_some_and(|reasoning| left_out.contains(reasoning));
                kept.push(if is_alone { item.with(|object| object.remove("id")) } else { item });
            }
            Some(seal) if seal.dialect == Dialect::Responses && seal.origin == *origin => {
                kept.push(opened(item, &seal));
            }
            Some(_) => {
                left_out.extend(item.head().id.clone());
                let reason = OmissionReason::ForeignReasoning;
                omissions.push(ReportedRepair::from_omission(Some(position), &item, reason));
            }
        }
    }
    (kept, omissions)
}

fn opened(item: Item, seal: &Seal) -> Item {
    let content = Object::parse_str(&seal.content).unwrap_or_default();
    match content.get(FIELD) {
        Some(raw) => item.with(|object| object.set(FIELD, raw.to_owned())),
        None => item,
    }
}

#[cfg(test)]
mod tests {
    use antiphon::item::given;

    use super::*;

    fn reasoning() -> Item {
        given::item(
            r#"{"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":"gAAA\u0041"}"#,
        )
    }

    #[test]
    fn origin_gets_its_own_bytes() {
        let origin = Origin::new("host m");
        let sealed = seal(reasoning(), &origin);
        assert_ne!(sealed, reasoning());
        assert_eq!(seal(sealed.clone(), &origin), sealed);
        assert_eq!(unseal(vec![sealed], &origin), (vec![reasoning()], vec![]));
    }

    #[test]
    fn other_origin_gets_neither_reasoning_nor_its_id() {
        let sealed = seal(reasoning(), &Origin::new("host m"));
        let message = given::assistant("msg_1", "Hi");
        let items = vec![given::user("Hello"), sealed, message.clone(), given::user("Bye")];
        let (kept, omissions) = unseal(items, &Origin::new("host n"));
        let bare = message.with(|object| object.remove("id"));
        assert_eq!(kept, [given::user("Hello"), bare, given::user("Bye")]);
        assert_eq!(omissions.len(), 1);
        assert_eq!((omissions[0].position, omissions[0].fault), (Some(1), "foreign_reasoning"));
    }

    #[test]
    fn other_items_stay() {
        let items = vec![given::user("a"), reasoning(), given::assistant("msg_1", "b")];
        assert_eq!(unseal(items.clone(), &Origin::new("host m")), (items, vec![]));
        assert_eq!(seal(given::user("a"), &Origin::new("host m")), given::user("a"));
    }
}
