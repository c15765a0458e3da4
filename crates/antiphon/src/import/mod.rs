//! Converts histories of other APIs and frameworks to items.
//!
//! [`import`] recognizes the form of a list and converts it: Chat Completions and Anthropic
//! messages, UI messages and model messages of the AI SDK, messages of LangChain. If an element has
//! none of these forms and is not an item, the error names it and the form that it resembles. An
//! object of an unknown `type` counts as an item.
//!
//! Nothing is repaired: calls without outputs and outputs without calls stay as they are.
//!
//! ```
//! use antiphon::import::{HistoryForm, import};
//!
//! let messages = r#"[{"role":"user","content":"Weather?"},
//!     {"role":"assistant","tool_calls":[
//!         {"id":"call_1","type":"function","function":{"name":"f","arguments":"{}"}}]},
//!     {"role":"tool","tool_call_id":"call_1","content":"Sunny"}]"#;
//! let imported = import(&messages.into(), HistoryForm::Responses, None).unwrap();
//! assert_eq!(imported.form, HistoryForm::Chat);
//! assert_eq!(imported.items[2].head().kind.as_str(), "function_call_output");
//! ```

mod ai_sdk;
mod form;
mod langchain;
mod output;
mod resemblance;
#[cfg(test)]
mod tests;

use bytes::Bytes;
use serde_json::value::RawValue;

use crate::dialect::{anthropic, chat_history};
use crate::item::{self, Item, ListError};
pub use form::HistoryForm;
use form::{excerpt, recognize};
use output::Output;

/// A history as items.
#[derive(Clone, Debug, PartialEq)]
pub struct Imported {
    /// The form of the history.
    pub form: HistoryForm,
    /// Its items, in order.
    pub items: Vec<Item>,
    /// For each item the position of its element; `None` for the item of a separate system prompt.
    pub sources: Vec<Option<usize>>,
    /// The parts of messages without an equivalent in an item.
    pub omissions: Vec<OmittedPart>,
}

/// A part of a message without an equivalent in an item.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OmittedPart {
    /// The position of its message.
    pub position: usize,
    /// The part's type.
    pub kind: String,
}

/// The reason why a list cannot be imported.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ImportError {
    /// The list is not an array of items.
    #[error(transparent)]
    List(#[from] ListError),
    /// An element has no known form.
    #[error("item {position} ({excerpt}) looks like {resemblance}; expected {expected}")]
    Unrecognized {
        /// The element's position, from 0.
        position: usize,
        /// The beginning of the element.
        excerpt: String,
        /// The object that the element resembles.
        resemblance: &'static str,
        /// The objects that can be read.
        expected: &'static str,
    },
    /// Two elements have different forms.
    #[error(
        "item {position} ({excerpt}) looks like {}, but item {other} looks like {}; expected one \
         form in one history",
        .form.element(),
        .other_form.element()
    )]
    Mixed {
        /// The position of the later element, from 0.
        position: usize,
        /// The beginning of the element.
        excerpt: String,
        /// Its form.
        form: HistoryForm,
        /// The position of the earlier element.
        other: usize,
        /// The form of the earlier element.
        other_form: HistoryForm,
    },
    /// An element has a known form, but cannot be read.
    #[error(
        "item {position} ({excerpt}) looks like {}, but cannot be read: {reason}",
        .form.element()
    )]
    Message {
        /// The element's position, from 0.
        position: usize,
        /// The beginning of the element.
        excerpt: String,
        /// Its form.
        form: HistoryForm,
        /// The reason.
        reason: String,
    },
    /// The separate system prompt cannot be read.
    #[error("{0}")]
    System(String),
}

impl ImportError {
    /// The position of the element that caused the error.
    pub fn position(&self) -> Option<usize> {
        match self {
            Self::Unrecognized { position, .. }
            | Self::Mixed { position, .. }
            | Self::Message { position, .. }
            | Self::List(ListError::Item { position, .. }) => Some(*position),
            Self::List(ListError::NotAnArray(_)) | Self::System(_) => None,
        }
    }
}

/// Imports the history in the JSON array `list`.
///
/// Some messages fit several forms: `{"role":"user","content":"hi"}` fits most. If all elements fit
/// `preferred`, that is the form, otherwise the first one of [`HistoryForm::ALL`] that all fit.
/// `system` is the separate system prompt of Anthropic messages, as raw JSON.
///
/// Takes time linear in the list.
pub fn import(
    list: &Bytes,
    preferred: HistoryForm,
    system: Option<&str>,
) -> Result<Imported, ImportError> {
    let elements: Vec<&RawValue> =
        serde_json::from_slice(list).map_err(|error| ListError::NotAnArray(error.to_string()))?;
    let elements: Vec<&str> = elements.into_iter().map(RawValue::get).collect();
    let form = recognize(&elements, preferred)?;
    match form {
        HistoryForm::Responses => import_items(list),
        HistoryForm::Chat => import_chat(list, &elements),
        HistoryForm::Anthropic => import_anthropic(list, &elements, system),
        HistoryForm::AiSdkModel => import_each(form, &elements, ai_sdk::convert_model_message),
        HistoryForm::AiSdkUi => import_each(form, &elements, ai_sdk::convert_ui_message),
        HistoryForm::LangChain => import_each(form, &elements, langchain::convert_message),
    }
}

fn import_items(list: &Bytes) -> Result<Imported, ImportError> {
    let items = item::parse_items(list)?;
    let sources = (0..items.len()).map(Some).collect();
    Ok(Imported { form: HistoryForm::Responses, items, sources, omissions: Vec::new() })
}

fn import_chat(list: &Bytes, elements: &[&str]) -> Result<Imported, ImportError> {
    let form = HistoryForm::Chat;
    let read = chat_history::parse_items_with_sources(list, None);
    let (items, sources) = read.map_err(|error| match error {
        chat_history::ChatHistoryError::NotAnArray(reason) => ListError::NotAnArray(reason).into(),
        chat_history::ChatHistoryError::Message { position, path, reason } => {
            let reason = with_path(path.trim_start_matches('.'), reason);
            message_error(form, elements, position, reason)
        }
    })?;
    let sources = sources.into_iter().map(Some).collect();
    Ok(Imported { form, items, sources, omissions: Vec::new() })
}

fn import_anthropic(
    list: &Bytes,
    elements: &[&str],
    system: Option<&str>,
) -> Result<Imported, ImportError> {
    use anthropic::history::AnthropicHistoryError;
    let form = HistoryForm::Anthropic;
    let read = anthropic::history::parse_items_with_sources(list, system.map(str::as_bytes), None);
    let (items, sources) = read.map_err(|error| match error {
        AnthropicHistoryError::NotMessages { reason } => ListError::NotAnArray(reason).into(),
        AnthropicHistoryError::System { .. } => ImportError::System(error.to_string()),
        AnthropicHistoryError::Message { message, reason } => {
            message_error(form, elements, message, reason)
        }
        AnthropicHistoryError::Block { message, block, reason } => {
            let reason = with_path(&format!("content[{block}]"), reason);
            message_error(form, elements, message, reason)
        }
    })?;
    Ok(Imported { form, items, sources, omissions: Vec::new() })
}

/// Converts the elements to items one after another.
fn import_each(
    form: HistoryForm,
    elements: &[&str],
    convert: fn(&str, &mut Output) -> Result<(), String>,
) -> Result<Imported, ImportError> {
    let mut output = Output::default();
    for (position, element) in elements.iter().enumerate() {
        output.begin(position);
        convert(element, &mut output)
            .map_err(|reason| message_error(form, elements, position, reason))?;
    }
    let Output { items, sources, omissions, .. } = output;
    Ok(Imported { form, items, sources, omissions })
}

fn with_path(path: &str, reason: String) -> String {
    if path.is_empty() { reason } else { format!("{path}: {reason}") }
}

fn message_error(
    form: HistoryForm,
    elements: &[&str],
    position: usize,
    reason: String,
) -> ImportError {
    let excerpt = excerpt(elements.get(position).copied().unwrap_or_default());
    ImportError::Message { position, excerpt, form, reason }
}
