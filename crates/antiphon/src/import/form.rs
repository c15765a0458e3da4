//! The forms of histories, and their recognition.

use std::fmt;
use std::ops::{BitAnd, BitOr};

use super::ImportError;
use super::resemblance::{Foreign, forms_of};
use crate::json::{Object, quote, unquote};

/// The form of a history.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HistoryForm {
    /// Items of the Responses API.
    Responses,
    /// Messages of Chat Completions.
    Chat,
    /// Messages of Anthropic's Messages API.
    Anthropic,
    /// Model messages of the AI SDK, as `generateText` accepts them.
    AiSdkModel,
    /// UI messages of the AI SDK, as `useChat` stores them.
    AiSdkUi,
    /// Messages of LangChain: `messages_to_dict`, `dumpd`, or their fields alone.
    LangChain,
}

impl HistoryForm {
    /// Every form. If several fit a list, the first one is used.
    pub const ALL: [Self; 6] = [
        Self::Responses,
        Self::Chat,
        Self::Anthropic,
        Self::AiSdkModel,
        Self::AiSdkUi,
        Self::LangChain,
    ];

    /// Its name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::Responses => "responses",
            Self::Chat => "chat",
            Self::Anthropic => "anthropic",
            Self::AiSdkModel => "ai-sdk-model",
            Self::AiSdkUi => "ai-sdk-ui",
            Self::LangChain => "langchain",
        }
    }

    /// An element of the form, with its article.
    pub fn element(self) -> &'static str {
        match self {
            Self::Responses => "a Responses item",
            Self::Chat => "a Chat Completions message",
            Self::Anthropic => "an Anthropic message",
            Self::AiSdkModel => "a model message of the AI SDK",
            Self::AiSdkUi => "a UI message of the AI SDK",
            Self::LangChain => "a LangChain message",
        }
    }
}

/// The elements of the form, as in `read as Chat Completions messages`.
impl fmt::Display for HistoryForm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Responses => "Responses items",
            Self::Chat => "Chat Completions messages",
            Self::Anthropic => "Anthropic messages",
            Self::AiSdkModel => "model messages of the AI SDK",
            Self::AiSdkUi => "UI messages of the AI SDK",
            Self::LangChain => "LangChain messages",
        })
    }
}

/// The forms that an element fits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Forms(u8);

impl Forms {
    pub(super) const ALL: Self = Self(0b11_1111);

    pub(super) const fn only(form: HistoryForm) -> Self {
        Self(1 << form as u8)
    }

    pub(super) fn has(self, form: HistoryForm) -> bool {
        self.0 & Self::only(form).0 != 0
    }

    pub(super) fn is_empty(self) -> bool {
        self.0 == 0
    }

    fn first(self) -> Option<HistoryForm> {
        HistoryForm::ALL.into_iter().find(|form| self.has(*form))
    }
}

impl BitAnd for Forms {
    type Output = Self;

    fn bitand(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }
}

impl BitOr for Forms {
    type Output = Self;

    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

/// Finds a form that all elements fit.
pub(super) fn recognize(
    elements: &[&str],
    preferred: HistoryForm,
) -> Result<HistoryForm, ImportError> {
    let mut common = Forms::ALL;
    let mut each = Vec::with_capacity(elements.len());
    for (position, element) in elements.iter().enumerate() {
        let forms =
            forms_of(element).map_err(|foreign| unrecognized_error(position, element, &foreign))?;
        each.push(forms);
        if (common & forms).is_empty() {
            return Err(mixed_error(elements, &each));
        }
        common = common & forms;
    }
    let form = if common.has(preferred) { Some(preferred) } else { common.first() };
    Ok(form.unwrap_or(preferred))
}

fn unrecognized_error(position: usize, element: &str, foreign: &Foreign) -> ImportError {
    let Foreign { resemblance, expected } = *foreign;
    ImportError::Unrecognized { position, excerpt: excerpt(element), resemblance, expected }
}

/// The error for a last element that contradicts an earlier one: the first without a common form,
/// or else the one that fits the fewest forms.
fn mixed_error(elements: &[&str], each: &[Forms]) -> ImportError {
    let position = each.len() - 1;
    let earlier = &each[..position];
    let apart = earlier.iter().position(|forms| (*forms & each[position]).is_empty());
    let fewest = || (0..position).min_by_key(|at| earlier[*at].0.count_ones());
    let other = apart.or_else(fewest).unwrap_or_default();
    let form = |at: usize| each[at].first().unwrap_or(HistoryForm::Responses);
    ImportError::Mixed {
        position,
        excerpt: excerpt(elements[position]),
        form: form(position),
        other,
        other_form: form(other),
    }
}

const MAX_LENGTH: usize = 40;

/// The most characteristic field of an element, with dots in place of the others.
pub(super) fn excerpt(element: &str) -> String {
    let Ok(object) = Object::parse_str(element) else {
        return shorten(element);
    };
    let mut characteristic = ["type", "role", "lc", "object"].into_iter();
    let characteristic = characteristic.find_map(|name| Some((name, object.present(name)?)));
    let Some((name, raw)) = characteristic.or_else(|| object.iter().next()) else {
        return "{}".to_owned();
    };
    let others = if object.iter().count() > 1 { ",…" } else { "" };
    format!("{{{}:{}{others}}}", quote(name), shorten(raw))
}

fn shorten(raw: &str) -> String {
    if raw.chars().count() <= MAX_LENGTH {
        return raw.to_owned();
    }
    match unquote(raw) {
        Some(text) => quote(&format!("{}…", first_characters(&text))),
        None => format!("{}…", first_characters(raw)),
    }
}

fn first_characters(text: &str) -> String {
    text.chars().take(MAX_LENGTH).collect()
}
