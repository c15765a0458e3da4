//! The input of a run.

use antiphon::Item;
use antiphon::json::quote;

/// The input of a run: a user's message, or items.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Input(pub(crate) Vec<Item>);

impl Input {
    /// No new items: the run continues where the last one stopped.
    pub fn none() -> Self {
        Self::default()
    }
}

/// A user's message with this text.
pub fn user(text: &str) -> Item {
    let message = format!(r#"{{"type":"message","role":"user","content":{}}}"#, quote(text));
    Item::parse(message.into()).expect("the text above is an item")
}

impl From<&str> for Input {
    fn from(text: &str) -> Self {
        Self(vec![user(text)])
    }
}

impl From<String> for Input {
    fn from(text: String) -> Self {
        text.as_str().into()
    }
}

impl From<Item> for Input {
    fn from(item: Item) -> Self {
        Self(vec![item])
    }
}

impl From<Vec<Item>> for Input {
    fn from(items: Vec<Item>) -> Self {
        Self(items)
    }
}
