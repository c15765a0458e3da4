//! A write to a session, as one message of a server's conversation.

use antiphon::Item;
use antiphon::item::Kind;
use antiphon::json::quote;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::item_json;

/// A write to a session.
pub(super) struct Batch {
    /// Its id, which no other write has; empty for items of other programs.
    pub(super) id: String,
    pub(super) content: Content,
}

/// The content of a write.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Content {
    /// Entries of the session's log: items and changes.
    Entries(#[serde(with = "item_json::list")] Vec<Item>),
    /// The state of a run; `None` removes it.
    Run(Option<Box<RawValue>>),
}

/// The text of a message. The server keeps the text of a message as it is.
#[derive(Serialize, Deserialize)]
struct Text {
    antiphon_session: String,
    content: Content,
}

/// The beginning of every such text.
const BEGIN: &str = r#"{"antiphon_session":"#;

/// The role of such messages.
const ROLE: &str = "developer";

impl Batch {
    pub(super) fn new(id: String, content: Content) -> Self {
        Self { id, content }
    }

    /// The message with this write.
    pub(super) fn to_message(&self) -> Item {
        let Self { id, content } = self;
        let text = TextRef { antiphon_session: id, content };
        let text = serde_json::to_string(&text).expect("a write has a JSON form");
        let part = format!(r#"{{"type":"input_text","text":{}}}"#, quote(&text));
        let message = format!(r#"{{"type":"message","role":"{ROLE}","content":[{part}]}}"#);
        Item::parse(message.into()).expect("the text above is an item")
    }

    /// Reads a message. Any other item is a write of that item.
    pub(super) fn from_item(item: &Item) -> Result<Self, serde_json::Error> {
        match message_text(item).filter(|text| text.starts_with(BEGIN)) {
            Some(text) => {
                let Text { antiphon_session, content } = serde_json::from_str(&text)?;
                Ok(Self::new(antiphon_session, content))
            }
            None => Ok(Self::new(String::new(), Content::Entries(vec![item.clone()]))),
        }
    }
}

/// A [`Text`] that is written.
#[derive(Serialize)]
struct TextRef<'a> {
    antiphon_session: &'a str,
    content: &'a Content,
}

/// The text of a message with one part.
fn message_text(item: &Item) -> Option<String> {
    #[derive(Deserialize)]
    struct Part {
        text: String,
    }
    if item.head().kind != Kind::Message {
        return None;
    }
    let object = item.object();
    let parts: Vec<Part> = serde_json::from_str(object.get("content")?).ok()?;
    let [Part { text }] = <[Part; 1]>::try_from(parts).ok()?;
    Some(text)
}
