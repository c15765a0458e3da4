//! OpenRouter's `reasoning_details`.
//!
//! Source: OpenRouter's documentation of reasoning tokens. The next request must contain the list
//! unmodified and in order. A stream sends it in pieces.

use crate::json::{Object, elements};

/// The list so far.
#[derive(Debug, Default)]
pub(super) struct Details {
    list: Vec<Detail>,
}

/// The fields that decide whether a piece continues the previous entry.
const KEY_FIELDS: [&str; 3] = ["id", "format", "index"];

const SIGNATURE: &str = "signature";

/// An entry, or a piece of one.
#[derive(Debug)]
pub(super) struct Detail {
    /// The first piece, raw.
    raw: String,
    /// The key of its text, and the text as a JSON string without its closing quote. `None` for an
    /// entry that arrives in one piece: it is encrypted, or its kind is unknown.
    text: Option<(&'static str, String)>,
    /// The values of [`KEY_FIELDS`], raw.
    key_fields: [Option<String>; 3],
    signature: Option<String>,
}

impl Details {
    /// The entries of a raw list; empty if it is not a list of objects.
    pub(super) fn parse(raw: &str) -> Vec<Detail> {
        elements(raw).unwrap_or_default().into_iter().filter_map(Detail::parse).collect()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Adds a piece to the last entry if it continues it, or as a new entry.
    pub(super) fn add(&mut self, piece: Detail) {
        match self.list.last_mut().filter(|last| last.continues_with(&piece)) {
            Some(last) => last.append(piece),
            None => self.list.push(piece),
        }
    }

    /// The list as raw JSON.
    pub(super) fn to_json(&self) -> String {
        let list: Vec<String> = self.list.iter().map(Detail::to_json).collect();
        format!("[{}]", list.join(","))
    }
}

impl Detail {
    fn parse(raw: &str) -> Option<Self> {
        let fields = Object::parse(raw.as_bytes()).ok()?;
        let owned = |key: &str| fields.present(key).map(str::to_owned);
        let key = match fields.string("type").as_deref() {
            Some("reasoning.text") => Some("text"),
            Some("reasoning.summary") => Some("summary"),
            _ => None,
        };
        let text =
            key.map(|key| (key, without_closing_quote(fields.present(key).unwrap_or(r#""""#))));
        let is_known = |name: &str| {
            name == "type" || name == SIGNATURE || key == Some(name) || KEY_FIELDS.contains(&name)
        };
        let is_piece = fields.iter().all(|(name, _)| is_known(name));
        Some(Self {
            raw: raw.to_owned(),
            text: text.filter(|_| is_piece),
            key_fields: KEY_FIELDS.map(owned),
            signature: owned(SIGNATURE),
        })
    }

    /// Its text as a JSON string; `None` if it is empty.
    pub(super) fn text(&self) -> Option<String> {
        let (_, text) = self.text.as_ref()?;
        (text.len() > 1).then(|| format!("{text}\""))
    }

    /// Whether `piece` continues this entry: it has the same kind and no different [`KEY_FIELDS`],
    /// and this entry has no signature yet.
    fn continues_with(&self, piece: &Self) -> bool {
        let key = |detail: &Self| detail.text.as_ref().map(|(key, _)| *key);
        let has_same_kind = key(self).is_some() && key(self) == key(piece);
        let has_same_fields =
            self.key_fields.iter().zip(&piece.key_fields).all(|names| match names {
                (Some(own), Some(other)) => own == other,
                _ => true,
            });
        has_same_kind && has_same_fields && self.signature.is_none()
    }

    fn append(&mut self, piece: Self) {
        if let (Some((_, text)), Some((_, more))) = (&mut self.text, &piece.text) {
            text.push_str(&more[1..]);
        }
        for (own, other) in self.key_fields.iter_mut().zip(piece.key_fields) {
            *own = own.take().or(other);
        }
        self.signature = piece.signature;
    }

    fn to_json(&self) -> String {
        let Some((key, text)) = &self.text else {
            return self.raw.clone();
        };
        let mut fields = Object::parse(self.raw.as_bytes()).expect("it was parsed before");
        let named =
            KEY_FIELDS.into_iter().zip(&self.key_fields).chain([(SIGNATURE, &self.signature)]);
        for (name, raw) in named.filter_map(|(name, raw)| Some((name, raw.as_ref()?))) {
            fields.set(name, raw.as_str());
        }
        if text.len() > 1 {
            fields.set(*key, format!("{text}\""));
        }
        fields.to_text()
    }
}

/// A JSON string without its closing quote. Other values become an empty string.
fn without_closing_quote(raw: &str) -> String {
    let text = raw.strip_suffix('"').filter(|text| text.starts_with('"'));
    text.unwrap_or("\"").to_owned()
}
