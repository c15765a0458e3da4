//! Items as raw JSON in serialized state: they keep their bytes.
//!
//! Restore from text (`from_str`, `from_slice`): a `serde_json::Value` would rewrite the items.

use antiphon::Item;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::value::RawValue;

/// For `#[serde(with = "item_json::list")]`.
pub(crate) mod list {
    use super::{Deserialize, Deserializer, Item, RawValue, Serializer, read, write};

    pub(crate) fn serialize<S: Serializer>(
        items: &[Item],
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(items.iter().map(write))
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Vec<Item>, D::Error> {
        let raw = Vec::<Box<RawValue>>::deserialize(deserializer)?;
        raw.into_iter().map(read).collect()
    }
}

pub(crate) fn serialize<S: Serializer>(item: &Item, serializer: S) -> Result<S::Ok, S::Error> {
    write(item).serialize(serializer)
}

pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Item, D::Error> {
    read(Box::<RawValue>::deserialize(deserializer)?)
}

fn write(item: &Item) -> Box<RawValue> {
    RawValue::from_string(item.text().to_owned()).expect("an item was parsed as JSON")
}

fn read<E: serde::de::Error>(raw: Box<RawValue>) -> Result<Item, E> {
    Item::parse(String::from(Box::<str>::from(raw)).into()).map_err(E::custom)
}
