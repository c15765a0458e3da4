//! Converts messages of the model.

use super::blocks::raws;
use super::{arguments, content_of, is_item, own_id, without_index};
use crate::import::output::{Call, Output, array, output_text, text_of, typed_object};
use crate::json::{Object, quote};

/// Converts a message of the model: reasoning, texts and calls in the order of its blocks, then the
/// calls without a block.
pub(super) fn convert(message: &Object<'_>, output: &mut Output) -> Result<(), String> {
    let keywords = message.object("additional_kwargs").unwrap_or_default();
    if let Some(reasoning) = keywords.object("reasoning") {
        let mut item = typed_object("reasoning");
        for (name, raw) in without_index(&reasoning).iter() {
            item.set(name.to_owned(), raw.to_owned());
        }
        output.push(&item)?;
    }
    let mut answer = Answer { output, texts: Vec::new(), text_id: None, called: Vec::new() };
    if message.present("content").is_some() {
        answer.add_content(content_of(message)?)?;
    }
    answer.close_texts()?;
    answer.add_calls(message, &keywords)
}

/// The conversion of a message of the model, block by block.
struct Answer<'a> {
    output: &'a mut Output,
    /// The parts of the current message, and its id.
    texts: Vec<String>,
    text_id: Option<String>,
    /// The raw ids of the calls that have a block.
    called: Vec<String>,
}

impl Answer<'_> {
    fn add_content(&mut self, content: &str) -> Result<(), String> {
        if content.starts_with('"') {
            if content != r#""""# {
                self.texts.push(output_text(content));
            }
            return Ok(());
        }
        for raw in raws(content)? {
            match Object::parse_str(raw.get()) {
                Ok(block) => self.add_block(&block)?,
                Err(_) => self.add_text(None, output_text(&text_of(raw.get())))?,
            }
        }
        Ok(())
    }

    fn add_block(&mut self, block: &Object<'_>) -> Result<(), String> {
        if let Some(inner) = block.object("value") {
            // A non-standard block contains the provider's own block.
            return self.add_block(&inner);
        }
        let kind = block.string("type").unwrap_or_default();
        let text = |field: &str| block.get(field).filter(|raw| raw.starts_with('"'));
        match &*kind {
            "text" | "output_text" => {
                let text = text("text").ok_or("text: a string is expected")?;
                self.add_text(own_id(block), output_text(text))
            }
            "refusal" => {
                let refusal = text("refusal").ok_or("refusal: a string is expected")?;
                self.add_text(own_id(block), format!(r#"{{"type":"refusal","refusal":{refusal}}}"#))
            }
            other => {
                self.close_texts()?;
                self.add_item(other, block)
            }
        }
    }

    /// Adds a text. Texts with one id, and those without an id, become one message.
    fn add_text(&mut self, id: Option<String>, part: String) -> Result<(), String> {
        if !self.texts.is_empty() && self.text_id != id {
            self.close_texts()?;
        }
        self.text_id = id;
        self.texts.push(part);
        Ok(())
    }

    fn close_texts(&mut self) -> Result<(), String> {
        let texts = std::mem::take(&mut self.texts);
        let id = self.text_id.take();
        if texts.is_empty() {
            return Ok(());
        }
        let mut item = typed_object("message");
        if let Some(id) = id {
            item.set("id", quote(&id));
        }
        item.set("role", r#""assistant""#);
        item.set("content", array(&texts));
        self.output.push(&item)
    }

    fn add_item(&mut self, kind: &str, block: &Object<'_>) -> Result<(), String> {
        match kind {
            "reasoning" => self.add_reasoning(block),
            "thinking" => {
                let text = block.get("thinking").filter(|raw| raw.starts_with('"'));
                let mut item = typed_object("reasoning");
                item.set("summary", "[]");
                let part = |text| format!(r#"[{{"type":"reasoning_text","text":{text}}}]"#);
                item.set("content", part(text.unwrap_or(r#""""#)));
                self.output.push(&item)
            }
            "tool_call" | "invalid_tool_call" | "tool_use" => {
                self.called.extend(block.get("id").map(str::to_owned));
                self.call(block)
            }
            kind if is_item(kind) => {
                self.called.extend(block.get("call_id").map(str::to_owned));
                self.output.push(&without_index(block))
            }
            kind => {
                self.output.omit(kind);
                Ok(())
            }
        }
    }

    /// Adds the provider's reasoning item, or the text of a standard block of LangChain.
    fn add_reasoning(&mut self, block: &Object<'_>) -> Result<(), String> {
        let mut item = without_index(block);
        if own_id(block).is_none() {
            item.remove("id");
        }
        if let Some(text) = block.get("reasoning").filter(|raw| raw.starts_with('"')) {
            item.remove("reasoning");
            item.set("summary", format!(r#"[{{"type":"summary_text","text":{text}}}]"#));
        } else if item.get("summary").is_none() {
            item.set("summary", "[]");
        }
        self.output.push(&item)
    }

    /// Adds the calls without a block. `tool_calls` contains parsed calls; older messages have
    /// calls in the provider's form among their keywords.
    fn add_calls(&mut self, message: &Object<'_>, keywords: &Object<'_>) -> Result<(), String> {
        let mut calls = message.objects("tool_calls");
        calls.extend(message.objects("invalid_tool_calls"));
        if calls.is_empty() && self.called.is_empty() {
            return self.add_raw_calls(keywords);
        }
        for call in calls {
            let has_block =
                call.get("id").is_some_and(|id| self.called.iter().any(|called| called == id));
            if !has_block {
                self.call(&call)?;
            }
        }
        Ok(())
    }

    fn add_raw_calls(&mut self, keywords: &Object<'_>) -> Result<(), String> {
        if keywords.present("function_call").is_some() {
            return Err("a function_call has no id that would connect it to its output".to_owned());
        }
        for call in keywords.objects("tool_calls") {
            let function = call.object("function").unwrap_or_default();
            self.output.call(&Call {
                id: None,
                call_id: call.present("id"),
                name: function.present("name"),
                arguments: function.present("arguments"),
            })?;
        }
        Ok(())
    }

    fn call(&mut self, call: &Object<'_>) -> Result<(), String> {
        let text = arguments(call.present("args").or(call.present("input")));
        self.output.call(&Call {
            id: None,
            call_id: call.present("id"),
            name: call.present("name"),
            arguments: Some(&text),
        })
    }
}
