//! OpenRouter's `reasoning_details`.
//!
//! Source: OpenRouter on reasoning tokens: the list goes back in the next request, in its order and
//! unmodified. In a stream it comes in pieces.

use serde_json::value::RawValue;

use crate::json::Object;

/// The list as far as it has come.
#[derive(Debug, Default)]
pub(super) struct Details {
    list: Vec<Detail>,
}

/// The fields of a piece by which it is known to go on with the one before, or not.
const NAMES: [&str; 3] = ["id", "format", "index"];

const SIGNATURE: &str = "signature";

/// One entry, or a piece of one.
#[derive(Debug)]
pub(super) struct Detail {
    /// As it came first, raw.
    raw: String,
    /// The key of its text, and the text as a JSON string without its closing quote; `None` of an
    /// entry that is whole as it comes: encrypted, or of a kind that is not known.
    text: Option<(&'static str, String)>,
    /// The values of [`NAMES`], raw.
    names: [Option<String>; 3],
    signature: Option<String>,
}

impl Details {
    /// The entries in a raw list; none where it is no list of objects.
    pub(super) fn parsed(raw: &str) -> Vec<Detail> {
        let raws: Vec<&RawValue> = serde_json::from_str(raw).unwrap_or_default();
        raws.iter().filter_map(|raw| Detail::parse(raw.get())).collect()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Takes a piece: it goes on with the last entry, or is one of its own.
    pub(super) fn add(&mut self, piece: Detail) {
        match self.list.last_mut().filter(|last| last.goes_on_with(&piece)) {
            Some(last) => last.append(piece),
            None => self.list.push(piece),
        }
    }

    /// The list, raw.
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
        let text = key.map(|key| (key, opened(fields.present(key).unwrap_or(r#""""#))));
        let is_known = |name: &str| {
            name == "type" || name == SIGNATURE || key == Some(name) || NAMES.contains(&name)
        };
        let is_piece = fields.iter().all(|(name, _)| is_known(name));
        Some(Self {
            raw: raw.to_owned(),
            text: text.filter(|_| is_piece),
            names: NAMES.map(owned),
            signature: owned(SIGNATURE),
        })
    }

    /// Its text as a JSON string, where it says something.
    pub(super) fn text(&self) -> Option<String> {
        let (_, text) = self.text.as_ref()?;
        (text.len() > 1).then(|| format!("{text}\""))
    }

    /// Whether a piece goes on with this: it is of the same kind, and its names do not say
    /// otherwise. What is signed is whole.
    fn goes_on_with(&self, piece: &Self) -> bool {
        let key = |detail: &Self| detail.text.as_ref().map(|(key, _)| *key);
        let of_one_kind = key(self).is_some() && key(self) == key(piece);
        let named_alike = self.names.iter().zip(&piece.names).all(|names| match names {
            (Some(own), Some(other)) => own == other,
            _ => true,
        });
        of_one_kind && named_alike && self.signature.is_none()
    }

    fn append(&mut self, piece: Self) {
        if let (Some((_, text)), Some((_, more))) = (&mut self.text, &piece.text) {
            text.push_str(&more[1..]);
        }
        for (own, other) in self.names.iter_mut().zip(piece.names) {
            *own = own.take().or(other);
        }
        self.signature = piece.signature;
    }

    fn to_json(&self) -> String {
        let Some((key, text)) = &self.text else {
            return self.raw.clone();
        };
        let mut fields = Object::parse(self.raw.as_bytes()).expect("it was parsed before");
        let named = NAMES.into_iter().zip(&self.names).chain([(SIGNATURE, &self.signature)]);
        for (name, raw) in named.filter_map(|(name, raw)| Some((name, raw.as_ref()?))) {
            fields.set(name, raw.as_str());
        }
        if text.len() > 1 {
            fields.set(*key, format!("{text}\""));
        }
        fields.to_text()
    }
}

/// A JSON string without its closing quote; what is no string is an empty one.
fn opened(raw: &str) -> String {
    let text = raw.strip_suffix('"').filter(|text| text.starts_with('"'));
    text.unwrap_or("\"").to_owned()
}
