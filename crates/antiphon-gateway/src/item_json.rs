//! Items in the form of the API: always with id, type and status.

use antiphon::json::{Object, quote};
use antiphon::{HeldItem, Item, Kind};
use bytes::Bytes;

use crate::chunks::Chunks;

/// Values of at least this length share the memory of their item; shorter ones are copied.
const MIN_SHARED: usize = 4 << 10;

/// The item as JSON. `encrypted` includes encrypted reasoning, which callers must request.
///
/// Source: the conversation and response items of the API, in which a message's content is a list,
/// and the Open Responses specification, which requires a status for every item.
pub(crate) fn item_text(held: &HeldItem, encrypted: bool) -> String {
    let shown = item_chunks(held, encrypted).to_bytes();
    String::from_utf8(shown.into()).expect("it consists of JSON texts")
}

/// The text of [`item_text`] in chunks. Its long values share the memory of the item.
pub(crate) fn item_chunks(held: &HeldItem, encrypted: bool) -> Chunks {
    let Some(item) = held.item() else {
        return "null".to_owned().into();
    };
    let mut object = item.object();
    object.set_first("type", quote(held.head.kind.as_str()));
    object.set_string("id", held.id.as_str());
    if object.present("status").is_none() {
        object.set("status", r#""completed""#);
    }
    if held.head.kind == Kind::Message && object.present("content").is_none() {
        object.set("content", "[]");
    }
    if !encrypted && held.head.kind == Kind::Reasoning {
        object.remove("encrypted_content");
    }
    Writer::new(&item).write(&object)
}

/// The one-part list that replaces a string content: the text before and after the string.
fn text_part(item: &Item) -> (&'static str, &'static str) {
    match item.head().is_model_made() {
        true => (r#"[{"type":"output_text","text":"#, r#","annotations":[],"logprobs":[]}]"#),
        false => (r#"[{"type":"input_text","text":"#, "}]"),
    }
}

/// Writes an item as JSON. Short values are copied, long ones are slices of the item.
struct Writer<'a> {
    item: &'a Item,
    /// The bytes copied since the last slice.
    copied: String,
    chunks: Chunks,
}

impl<'a> Writer<'a> {
    fn new(item: &'a Item) -> Self {
        Self { item, copied: String::new(), chunks: Chunks::default() }
    }

    fn write(mut self, object: &Object<'_>) -> Chunks {
        let content = self.content_position(object);
        for (position, (key, value)) in object.iter().enumerate() {
            self.copied.push(if position == 0 { '{' } else { ',' });
            self.copied.push_str(&quote(key));
            self.copied.push(':');
            match content == Some(position) {
                true => self.write_text_as_part(value),
                false => self.write_value(value),
            }
        }
        self.copied.push('}');
        self.flush();
        self.chunks
    }

    /// The position of a message's string content in the object. If the field is repeated, the last
    /// one counts.
    fn content_position(&self, object: &Object<'_>) -> Option<usize> {
        let fields = object.iter().enumerate();
        let (position, (_, value)) = fields.filter(|(_, (key, _))| *key == "content").last()?;
        let is_text = self.item.head().kind == Kind::Message && value.starts_with('"');
        is_text.then_some(position)
    }

    fn write_text_as_part(&mut self, text: &str) {
        let (before, after) = text_part(self.item);
        self.copied.push_str(before);
        self.write_value(text);
        self.copied.push_str(after);
    }

    fn write_value(&mut self, value: &str) {
        match self.slice(value).filter(|value| value.len() >= MIN_SHARED) {
            Some(slice) => {
                self.flush();
                self.chunks.push(slice);
            }
            None => self.copied.push_str(value),
        }
    }

    /// The value as a slice of the item. `None` if the value is not part of the item.
    fn slice(&self, value: &str) -> Option<Bytes> {
        let (whole, part) = (self.item.raw().as_ptr_range(), value.as_bytes().as_ptr_range());
        let is_part = whole.start <= part.start && part.end <= whole.end;
        is_part.then(|| self.item.raw().slice_ref(value.as_bytes()))
    }

    fn flush(&mut self) {
        self.chunks.push(std::mem::take(&mut self.copied));
    }
}

/// A page of items in the form of the API. Long items share the memory of the stored ones.
pub(crate) fn list_chunks(items: &[HeldItem], has_more: bool, encrypted: bool) -> Chunks {
    let mut page = Chunks::from(r#"{"object":"list","data":"#.to_owned());
    page.append(item_array(items, encrypted));
    let id = |item: Option<&HeldItem>| {
        item.map_or_else(|| "null".into(), |item| quote(item.id.as_str()))
    };
    page.push(format!(
        r#","first_id":{},"last_id":{},"has_more":{has_more}}}"#,
        id(items.first()),
        id(items.last()),
    ));
    page
}

/// The items as a JSON array.
pub(crate) fn item_array(items: &[HeldItem], encrypted: bool) -> Chunks {
    let mut array = Chunks::from("[".to_owned());
    for (position, item) in items.iter().enumerate() {
        if position > 0 {
            array.push(Bytes::from_static(b","));
        }
        array.append(item_chunks(item, encrypted));
    }
    array.push(Bytes::from_static(b"]"));
    array
}

#[cfg(test)]
mod tests {
    use antiphon::item::FingerprintKey;

    use super::*;

    fn held(text: &str) -> HeldItem {
        let item = Item::parse(text.to_owned().into()).unwrap();
        HeldItem::new("msg_1".into(), &item, FingerprintKey::new([0; 16]), None)
    }

    #[test]
    fn string_content_becomes_one_part() {
        for (role, part) in [
            ("user", r#"{"type":"input_text","text":"hi"}"#),
            ("assistant", r#"{"type":"output_text","text":"hi","annotations":[],"logprobs":[]}"#),
        ] {
            let item = held(&format!(r#"{{"role":"{role}","content":"hi"}}"#));
            let added = r#""id":"msg_1","status":"completed""#;
            let shown =
                format!(r#"{{"type":"message","role":"{role}","content":[{part}],{added}}}"#);
            assert_eq!(item_text(&item, false), shown);
        }
    }

    #[test]
    fn long_values_share_the_memory_of_the_item() {
        let text = "x".repeat(MIN_SHARED);
        let item = held(&format!(r#"{{"role":"user","content":"{text}"}}"#));
        let raw = item.body.bytes().unwrap().as_ptr_range();

        let shown = item_chunks(&item, false);

        let shares = |chunk: &Bytes| raw.contains(&chunk.as_ptr());
        assert!(shown.iter().any(shares));
        let copied = shown.iter().filter(|chunk| !shares(chunk)).map(Bytes::len).max();
        assert!(copied < Some(100), "{copied:?}");
    }
}
