//! Converts `contents` into items.

use std::collections::BTreeSet;

use super::RequestDecoder;
use super::calls::Calls;
use super::field::{Field, Fields, invalid};
use super::media;
use crate::dialect::InvalidRequest;
use crate::dialect::gemini::signature;
use crate::item::Item;
use crate::json::{Object, quote};
use crate::transcript::Origin;

/// Parts of tools that Google runs, which no upstream has.
const HOSTED: [&str; 4] = ["executableCode", "codeExecutionResult", "toolCall", "toolResponse"];

/// Converts the contents, in order. Also returns the ids of calls that had none.
///
/// | part | item |
/// |---|---|
/// | `text`, `inlineData`, `fileData` of the user | parts of one message per content |
/// | `text` of the model | one message for adjacent texts, because clients store each chunk |
/// | `functionCall` | `function_call`; [`Calls`] has the ids |
/// | `functionResponse` | `function_call_output`: a text, or parts if it has some |
/// | `thoughtSignature` | the reasoning items that the writer has sealed, before the part |
/// | `thought` | the summary of the next sealed reasoning; without one it is left out |
pub(super) fn items(
    request: &Fields<'_>,
    origin: &Origin,
    decoder: &mut RequestDecoder,
) -> Result<(Vec<Item>, BTreeSet<String>), InvalidRequest> {
    let contents = request.required("contents")?.array()?;
    if contents.is_empty() {
        return Err(invalid("contents", "contents is not specified"));
    }
    let calls = Calls::default();
    let mut converter =
        Converter { origin, decoder, calls, items: Vec::new(), draft: Draft::default() };
    let mut is_after_user = true;
    for content in &contents {
        let fields = content.object()?;
        let is_model = is_model(&fields)?;
        if is_model && is_after_user {
            converter.calls.begin_turn();
        }
        is_after_user = !is_model;
        converter.convert(content, &fields, is_model)?;
    }
    converter.close()?;
    Ok((converter.items, converter.calls.into_derived_ids()))
}

fn is_model(content: &Fields<'_>) -> Result<bool, InvalidRequest> {
    match content.text_at("role")?.as_deref() {
        None | Some("" | "user" | "function") => Ok(false),
        Some("model") => Ok(true),
        Some(_) => Err(invalid(&content.path_of("role"), "Please use a valid role: user, model.")),
    }
}

struct Converter<'a> {
    origin: &'a Origin,
    decoder: &'a mut RequestDecoder,
    calls: Calls,
    items: Vec<Item>,
    draft: Draft,
}

/// The parts since the last item.
#[derive(Default)]
struct Draft {
    /// Parts of the user.
    parts: Vec<String>,
    /// The text of the model.
    text: String,
    thoughts: String,
}

impl Converter<'_> {
    fn convert(
        &mut self,
        content: &Field<'_>,
        fields: &Fields<'_>,
        is_model: bool,
    ) -> Result<(), InvalidRequest> {
        if !is_model {
            self.close()?;
        }
        let parts = fields.array_at("parts")?;
        if parts.is_empty() && !is_model {
            let path = format!("{}.parts", content.path());
            return Err(invalid(&path, "contents.parts must not be empty."));
        }
        for part in &parts {
            let part = part.object()?;
            match is_model {
                true => self.model_part(&part)?,
                false => self.user_part(&part)?,
            }
        }
        match is_model {
            true => Ok(()),
            false => self.close(),
        }
    }

    fn user_part(&mut self, part: &Fields<'_>) -> Result<(), InvalidRequest> {
        if let Some(response) = part.object_at("functionResponse")? {
            self.close()?;
            return self.response(&response);
        }
        if let Some(text) = part.text_at("text")? {
            self.draft.parts.push(input_text(&text));
        } else if let Some(inline) = part.object_at("inlineData")? {
            self.draft.parts.push(media::inline_part(&inline)?);
        } else if let Some(file) = part.object_at("fileData")? {
            self.draft.parts.push(media::file_uri_part(&file)?);
        } else {
            self.other_part(part)?;
        }
        Ok(())
    }

    fn model_part(&mut self, part: &Fields<'_>) -> Result<(), InvalidRequest> {
        let text = part.text_at("text")?;
        if part.is_true("thought") {
            self.draft.thoughts.push_str(&text.unwrap_or_default());
            return self.signature(part);
        }
        self.signature(part)?;
        if let Some(call) = part.object_at("functionCall")? {
            self.close()?;
            return self.call(&call);
        }
        match text {
            Some(text) => self.draft.text.push_str(&text),
            None if is_only_signature(part) => {}
            None => self.other_part(part)?,
        }
        Ok(())
    }

    /// The part of a tool that Google runs is left out. A part without content is invalid.
    fn other_part(&mut self, part: &Fields<'_>) -> Result<(), InvalidRequest> {
        if let Some(kind) = HOSTED.into_iter().find(|kind| part.present(kind).is_some()) {
            self.decoder.leave_out(&part.path_of(kind), "it belongs to a tool that Google runs");
            return Ok(());
        }
        if part.present("inlineData").is_some() || part.present("fileData").is_some() {
            let why = "items have no media of the model";
            self.decoder.leave_out(part.path(), why);
            return Ok(());
        }
        let sentence = "required oneof field 'data' must have one initialized field";
        Err(invalid(part.path(), sentence))
    }

    /// The reasoning that the signature of a part seals.
    fn signature(&mut self, part: &Fields<'_>) -> Result<(), InvalidRequest> {
        let Some(field) = part.present("thoughtSignature") else { return Ok(()) };
        let Some(contents) = signature::decode(&field.text()?, self.origin) else {
            self.decoder.leave_out(field.path(), "only its own provider can read it");
            return Ok(());
        };
        if contents.is_empty() {
            return Ok(());
        }
        let mut thoughts = std::mem::take(&mut self.draft.thoughts);
        self.close()?;
        for encrypted in contents {
            let item = signature::reasoning_item(&encrypted, &std::mem::take(&mut thoughts));
            self.push(item)?;
        }
        Ok(())
    }

    fn call(&mut self, call: &Fields<'_>) -> Result<(), InvalidRequest> {
        let name = call.required("name")?.text()?;
        let id = call.text_at("id")?.filter(|id| !id.is_empty());
        let id = quote(&self.calls.add(&name, id));
        let arguments = call.present("args");
        let arguments = match &arguments {
            Some(arguments) => arguments.object().map(|_| arguments.raw())?,
            None => "{}",
        };
        let (name, arguments) = (quote(&name), quote(arguments));
        self.push(format!(
            r#"{{"type":"function_call","call_id":{id},"name":{name},"arguments":{arguments}}}"#
        ))
    }

    fn response(&mut self, response: &Fields<'_>) -> Result<(), InvalidRequest> {
        let name = response.required("name")?.text()?;
        let id = response.text_at("id")?.filter(|id| !id.is_empty());
        let id = quote(&self.calls.answer(&name, id));
        let output = output(response)?;
        self.push(format!(r#"{{"type":"function_call_output","call_id":{id},"output":{output}}}"#))
    }

    /// Writes the collected parts as one message.
    fn close(&mut self) -> Result<(), InvalidRequest> {
        let draft = std::mem::take(&mut self.draft);
        if !draft.parts.is_empty() {
            let parts = draft.parts.join(",");
            self.push(format!(r#"{{"type":"message","role":"user","content":[{parts}]}}"#))?;
        }
        if !draft.text.is_empty() {
            let text = quote(&draft.text);
            let part = format!(r#"{{"type":"output_text","text":{text},"annotations":[]}}"#);
            self.push(format!(r#"{{"type":"message","role":"assistant","content":[{part}]}}"#))?;
        }
        Ok(())
    }

    fn push(&mut self, item: String) -> Result<(), InvalidRequest> {
        let item = Item::parse(item.into());
        self.items.push(item.map_err(|error| invalid("contents", &error.to_string()))?);
        Ok(())
    }
}

fn is_only_signature(part: &Fields<'_>) -> bool {
    part.present("thoughtSignature").is_some()
        && !HOSTED.iter().any(|kind| part.present(kind).is_some())
}

fn input_text(text: &str) -> String {
    format!(r#"{{"type":"input_text","text":{}}}"#, quote(text))
}

/// The raw output of a response. By Google's documentation, the field `output` is the output of the
/// function; without one, the whole object is.
fn output(response: &Fields<'_>) -> Result<String, InvalidRequest> {
    let result = response.required("response")?;
    result.object()?;
    let object = Object::parse_str(result.raw()).unwrap_or_default();
    let text = object.string("output").filter(|_| object.iter().count() == 1);
    let text = text.map_or_else(|| result.raw().to_owned(), std::borrow::Cow::into_owned);
    let media = response.array_at("parts")?;
    if media.is_empty() {
        return Ok(quote(&text));
    }
    let mut parts = vec![input_text(&text)];
    for part in &media {
        let part = part.object()?;
        let sentence = "a part of a response is inlineData or fileData";
        parts.push(if let Some(inline) = part.object_at("inlineData")? {
            media::inline_part(&inline)?
        } else if let Some(file) = part.object_at("fileData")? {
            media::file_uri_part(&file)?
        } else {
            return Err(invalid(part.path(), sentence));
        });
    }
    Ok(format!("[{}]", parts.join(",")))
}
