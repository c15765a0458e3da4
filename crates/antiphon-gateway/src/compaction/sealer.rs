//! Seals the compaction items of an upstream before the caller receives them.

use std::collections::HashMap;
use std::sync::{Arc, LazyLock};

use antiphon::Origin;
use antiphon::json::{Object, quote, replace_array};
use antiphon_store::Tenant;
use bytes::Bytes;
use memchr::memmem::Finder;
use serde_json::value::RawValue;

use super::CompactionKey;

/// Seals the compaction items in one answer of an upstream that speaks the Responses API. All other
/// bytes stay the same.
pub(crate) struct CompactionSealer {
    key: Arc<CompactionKey>,
    tenant: Tenant,
    origin: Origin,
    /// By the upstream's content, so that repeated copies of an item have the same seal.
    sealed: HashMap<String, Sealed>,
}

/// The latest version of a sealed item.
struct Sealed {
    item: String,
    content: String,
}

impl CompactionSealer {
    /// Creates a sealer for compactions that `origin` produces for `tenant`.
    pub(crate) fn new(key: Arc<CompactionKey>, tenant: Tenant, origin: Origin) -> Self {
        Self { key, tenant, origin, sealed: HashMap::new() }
    }

    /// Seals the compaction items of an event, a response object, or an answer to
    /// `/responses/compact`: under `item`, in `output`, and in the `output` of a `response`.
    pub(crate) fn apply(&mut self, data: &Bytes) -> Bytes {
        static KIND: LazyLock<Finder<'_>> = LazyLock::new(|| Finder::new(br#""compaction""#));
        if KIND.find(data).is_none() {
            return data.clone();
        }
        let Ok(mut object) = Object::parse(data) else { return data.clone() };
        let changed = self.seal_item(&mut object) | self.seal_output(&mut object);
        let response = object.get("response").map(str::to_owned);
        let response = response.and_then(|raw| {
            let mut response = Object::parse_str(&raw).ok()?;
            self.seal_output(&mut response).then(|| response.to_text())
        });
        let is_changed = changed || response.is_some();
        if let Some(response) = response {
            object.set("response", response);
        }
        if is_changed { object.to_bytes() } else { data.clone() }
    }

    fn seal_item(&mut self, event: &mut Object<'_>) -> bool {
        let sealed = event.get("item").and_then(|item| self.sealed(item));
        let is_changed = sealed.is_some();
        if let Some(sealed) = sealed {
            event.set("item", sealed);
        }
        is_changed
    }

    fn seal_output(&mut self, response: &mut Object<'_>) -> bool {
        let Some(output) = response.get("output").map(str::to_owned) else { return false };
        let Ok(items) = serde_json::from_str::<Vec<&RawValue>>(&output) else { return false };
        let sealed: Vec<Option<String>> =
            items.iter().map(|item| self.sealed(item.get())).collect();
        let is_changed = sealed.iter().any(Option::is_some);
        if is_changed {
            let items = items.iter().zip(&sealed);
            let items = items.map(|(item, sealed)| sealed.as_deref().unwrap_or(item.get()));
            response.set("output", replace_array(&output, 0..output.len(), items));
        }
        is_changed
    }

    /// The item with sealed content. `None` if it is not a compaction or has no content yet.
    fn sealed(&mut self, item: &str) -> Option<String> {
        let mut object = Object::parse_str(item).ok()?;
        if object.string("type").as_deref() != Some("compaction") {
            return None;
        }
        let content = object.string("encrypted_content")?.into_owned();
        if content.is_empty() {
            return None;
        }
        let known = self.sealed.get(&content).filter(|known| known.item == item);
        let sealed = known.map(|known| known.content.clone());
        let sealed = sealed.unwrap_or_else(|| {
            let sealed = self.key.seal_foreign(&self.tenant, &self.origin, item);
            let known = Sealed { item: item.to_owned(), content: sealed.clone() };
            self.sealed.insert(content, known);
            sealed
        });
        object.set("encrypted_content", quote(&sealed));
        Some(object.to_text())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::super::Compaction;
    use super::*;

    fn sealer() -> CompactionSealer {
        let key = Arc::new(CompactionKey::new(&[7; 32]));
        CompactionSealer::new(key, Tenant::new("alice"), Origin::new("host model"))
    }

    fn applied(sealer: &mut CompactionSealer, data: &Value) -> Value {
        serde_json::from_slice(&sealer.apply(&data.to_string().into())).unwrap()
    }

    #[test]
    fn copies_of_an_item_have_the_same_seal() {
        let item = json!({"id": "cmp_1", "type": "compaction", "encrypted_content": "gAAA"});
        let mut sealer = sealer();
        let done =
            applied(&mut sealer, &json!({"type": "response.output_item.done", "item": item}));
        let message = json!({"type": "message", "content": []});
        let end = json!({"type": "response.completed", "response": {"output": [item, message]}});
        let end = applied(&mut sealer, &end);
        assert_eq!(end["response"]["output"], json!([done["item"], message]));
        let content = done["item"]["encrypted_content"].as_str().unwrap();
        let Ok(Compaction::Foreign { origin, item: own }) =
            sealer.key.open(&Tenant::new("alice"), content)
        else {
            panic!("{content}")
        };
        assert_eq!((origin.as_str(), own.text()), ("host model", &*item.to_string()));
    }

    #[test]
    fn seal_contains_the_latest_version_of_an_item() {
        let item = |status| {
            json!({"id": "cmp_1", "type": "compaction", "encrypted_content": "gAAA",
            "status": status})
        };
        let mut sealer = sealer();
        applied(&mut sealer, &json!({"item": item("in_progress")}));
        let done = applied(&mut sealer, &json!({"item": item("completed")}));
        let content = done["item"]["encrypted_content"].as_str().unwrap();
        let opened = sealer.key.open(&Tenant::new("alice"), content);
        let Ok(Compaction::Foreign { item: own, .. }) = opened else { panic!("{opened:?}") };
        assert_eq!(own.text(), item("completed").to_string());
    }

    #[test]
    fn other_items_keep_their_bytes() {
        for data in [
            r#"{ "type":"response.output_item.done", "item":{"type":"message"}}"#,
            r#"{ "type":"response.output_text.delta","delta":"\"compaction\""}"#,
            r#"{ "item":{"type":"compaction","encrypted_content":""}}"#,
            r#"{"tools":["compaction"]}"#,
            r#"not json "compaction""#,
        ] {
            let data = Bytes::from(data);
            assert_eq!(sealer().apply(&data), data);
        }
    }
}
