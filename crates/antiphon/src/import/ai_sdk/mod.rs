//! Messages of the AI SDK, versions 5, 6 and 7.

mod assistant;
mod content;
mod ui;

use serde_json::value::RawValue;

use super::output::{Output, input_text};
use crate::json::Object;

pub(super) use ui::convert_ui_message;

/// Converts a model message: an element of `messages` of `generateText`, or of a model's prompt.
pub(super) fn convert_model_message(raw: &str, output: &mut Output) -> Result<(), String> {
    let message = Object::parse_str(raw).map_err(|error| error.to_string())?;
    let content = message.present("content").ok_or("content: a string or parts are expected")?;
    let parts = parts_of(content)?;
    match message.string("role").as_deref() {
        Some("assistant") => assistant::convert(&parts, output),
        Some("tool") => content::convert_results(&parts, output),
        Some(role) if content.starts_with('"') => output.message(role, content),
        Some(role) => {
            let content = content::input_parts(&parts, output)?;
            output.message(role, &content)
        }
        None => Err("role: a string is expected".to_owned()),
    }
}

/// The parts of a content. A plain text counts as one part.
fn parts_of(content: &str) -> Result<Vec<Object<'_>>, String> {
    if content.starts_with('"') {
        return Ok(vec![Object::from_iter([("type", r#""text""#), ("text", content)])]);
    }
    let raws: Vec<&RawValue> = serde_json::from_str(content)
        .map_err(|_| "content: a string or parts are expected".to_owned())?;
    let mut parts = Vec::with_capacity(raws.len());
    for (nth, raw) in raws.into_iter().enumerate() {
        let part = Object::parse_str(raw.get());
        parts.push(part.map_err(|_| format!("content[{nth}]: a part is an object"))?);
    }
    Ok(parts)
}

/// The raw string under `field`, which is required.
fn required_string<'a>(part: &'a Object<'_>, field: &str) -> Result<&'a str, String> {
    let text = part.get(field).filter(|raw| raw.starts_with('"'));
    text.ok_or_else(|| format!("{field}: a string is expected"))
}

/// The id of the item that a part belongs to, from the provider's metadata. Ids of other providers
/// only count if they have the form of OpenAI's.
fn item_id(part: &Object<'_>) -> Option<String> {
    const NAMES: [&str; 3] = ["callProviderMetadata", "providerOptions", "providerMetadata"];
    let metadata = NAMES.into_iter().filter_map(|name| part.object(name));
    metadata.flat_map(|providers| ids_of(&providers)).next()
}

fn ids_of(providers: &Object<'_>) -> Vec<String> {
    let names: Vec<&str> = providers.iter().map(|(name, _)| name).collect();
    let id = |name: &str| {
        let id = providers.object(name)?.string("itemId")?.into_owned();
        let is_own = matches!(name, "openai" | "azure") && !id.is_empty();
        (is_own || is_of_known_form(&id)).then_some(id)
    };
    names.into_iter().filter_map(id).collect()
}

fn is_of_known_form(id: &str) -> bool {
    const PREFIXES: [&str; 9] = ["msg", "rs", "fc", "ctc", "ws", "fs", "ci", "ig", "mcp"];
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    id.split_once('_').is_some_and(|(prefix, rest)| {
        PREFIXES.contains(&prefix) && !rest.is_empty() && rest.chars().all(is_plain)
    })
}

/// A value under `name` in the metadata of any provider.
fn metadata_value(part: &Object<'_>, name: &str) -> Option<String> {
    let places = ["providerOptions", "providerMetadata"].into_iter();
    places.filter_map(|place| part.object(place)).find_map(|providers| {
        let names: Vec<&str> = providers.iter().map(|(name, _)| name).collect();
        let value = |provider: &str| Some(providers.object(provider)?.string(name)?.into_owned());
        names.into_iter().find_map(value).filter(|value| !value.is_empty())
    })
}

/// A text part of a client's message.
fn text_part(part: &Object<'_>) -> Result<String, String> {
    required_string(part, "text").map(input_text)
}
