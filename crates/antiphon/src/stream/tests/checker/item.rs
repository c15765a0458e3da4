//! One item, as the checking client sees it.

use std::collections::BTreeMap;

use serde_json::Value;

use super::{Checked, Upstream, ensure};

/// An item, from the events so far.
pub(super) struct Shown {
    pub(super) added: Value,
    pub(super) done: Option<Value>,
    parts: BTreeMap<&'static str, Vec<Part>>,
    text: Text,
}

struct Part {
    added: Value,
    text: Text,
    done: Option<Value>,
}

#[derive(Default)]
struct Text {
    upstream: Upstream,
    deltas: String,
    done: Option<String>,
}

impl Shown {
    pub(super) fn announced(item: &Value, upstream: Upstream) -> Result<Self, String> {
        ensure(says_nothing(item), "an item is announced with something said")?;
        well_formed(item)?;
        let (added, text) = (item.clone(), Text::new(upstream));
        Ok(Self { added, done: None, parts: BTreeMap::new(), text })
    }

    pub(super) fn end(&mut self, done: &Value) -> Checked {
        for key in ["id", "type", "call_id", "name"] {
            ensure(self.added[key] == done[key], &format!("the item's {key} changes"))?;
        }
        self.texts_are_those_of(done)?;
        self.done = Some(done.clone());
        ensure(done["status"] != "in_progress", "an item that is done is in progress")?;
        well_formed(done)
    }

    pub(super) fn take(&mut self, kind: &str, event: &Value) -> Checked {
        match kind {
            "content_part.added" => self.part_added("content", event),
            "content_part.done" => self.part_done("content", event),
            "reasoning_summary_part.added" => self.part_added("summary", event),
            "reasoning_summary_part.done" => self.part_done("summary", event),
            "output_text.delta" | "output_text.done" => {
                ensure(self.added["type"] == "message", "only messages speak output text")?;
                self.part("content", "output_text", event)?.text.take(event, "text")
            }
            "output_text.annotation.added" => self.part("content", "output_text", event).map(drop),
            "refusal.delta" | "refusal.done" => {
                self.part("content", "refusal", event)?.text.take(event, "refusal")
            }
            "reasoning_text.delta"
            | "reasoning_text.done"
            | "reasoning.delta"
            | "reasoning.done" => {
                self.part("content", "reasoning_text", event)?.text.take(event, "text")
            }
            "reasoning_summary_text.delta" | "reasoning_summary_text.done" => {
                self.part("summary", "summary_text", event)?.text.take(event, "text")
            }
            "function_call_arguments.delta" | "function_call_arguments.done" => {
                ensure(self.added["type"] == "function_call", "only calls have arguments")?;
                self.text.take(event, "arguments")
            }
            "custom_tool_call_input.delta" | "custom_tool_call_input.done" => {
                self.text.take(event, "input")
            }
            _ => Ok(()),
        }
    }

    fn part_added(&mut self, list: &'static str, event: &Value) -> Checked {
        let parts = self.parts.entry(list).or_default();
        ensure(event[index_of(list)] == parts.len(), "part indexes count up")?;
        let part = &event["part"];
        ensure(text_of(part).is_empty(), "a part is opened with something said")?;
        parts.push(Part { added: part.clone(), text: Text::new(self.text.upstream), done: None });
        Ok(())
    }

    /// The part of the event: open, and of this type.
    fn part(
        &mut self,
        list: &'static str,
        part_type: &str,
        event: &Value,
    ) -> Result<&mut Part, String> {
        let parts = self.parts.entry(list).or_default();
        let index = event[index_of(list)].as_u64().ok_or("no index of a part")?;
        let part = parts.get_mut(usize::try_from(index).unwrap());
        let part = part.ok_or("a text precedes its part")?;
        ensure(part.done.is_none(), "the part is done")?;
        ensure(part.added["type"] == part_type, "the text is of another type than its part")?;
        Ok(part)
    }

    fn part_done(&mut self, list: &'static str, event: &Value) -> Checked {
        let done = &event["part"];
        let part_type = done["type"].as_str().unwrap_or_default().to_owned();
        let part = self.part(list, &part_type, event)?;
        let message = part.text.done.as_deref();
        let says_it = message.is_none_or(|message| message == text_of(done));
        part.text.ensure(says_it, "the part says something else")?;
        ensure(message.is_some() || text_of(done).is_empty(), "the part's text was not told")?;
        part.done = Some(done.clone());
        Ok(())
    }

    /// The streamed texts are those of the finished item.
    fn texts_are_those_of(&self, done: &Value) -> Checked {
        for (list, parts) in &self.parts {
            let message: Vec<&str> =
                done[list].as_array().into_iter().flatten().map(text_of).collect();
            let received: Option<Vec<&str>> =
                parts.iter().map(|part| Some(text_of(part.done.as_ref()?))).collect();
            let received = received.ok_or("a part was never done")?;
            self.text
                .ensure(received == message, "the item's parts are not those that were told")?;
        }
        let is_spoken =
            |list: &str| !self.parts.contains_key(list) && text_of_list(&done[list]).is_empty();
        let speaks = matches!(done["type"].as_str(), Some("message" | "reasoning"));
        let was_told = |list: &str| self.parts.contains_key(list) || is_spoken(list);
        self.text.ensure(
            !speaks || was_told("content") && was_told("summary"),
            "a part was never told",
        )?;
        let payload = match done["type"].as_str() {
            Some("function_call") => &done["arguments"],
            Some("custom_tool_call") => &done["input"],
            _ => return Ok(()),
        };
        ensure(self.text.done.is_some(), "the call's text was not told")?;
        self.text
            .ensure(self.text.done.as_deref() == payload.as_str(), "the call says something else")
    }
}

impl Text {
    fn new(upstream: Upstream) -> Self {
        Self { upstream, ..Self::default() }
    }

    /// Checks a rule that only coherent upstreams follow.
    fn ensure(&self, holds: bool, broken: &str) -> Checked {
        ensure(holds || self.upstream == Upstream::Contradictory, broken)
    }

    fn take(&mut self, event: &Value, field: &str) -> Checked {
        ensure(self.done.is_none(), "the text is done")?;
        if let Some(delta) = event["delta"].as_str() {
            self.deltas.push_str(delta);
            return Ok(());
        }
        let done = event[field].as_str().ok_or("a text without text")?;
        self.ensure(done == self.deltas, "the deltas do not make up the text")?;
        self.done = Some(done.to_owned());
        Ok(())
    }
}

fn index_of(list: &str) -> &'static str {
    if list == "summary" { "summary_index" } else { "content_index" }
}

fn text_of(part: &Value) -> &str {
    let text = part["text"].as_str().or_else(|| part["refusal"].as_str());
    text.unwrap_or_default()
}

fn text_of_list(parts: &Value) -> String {
    parts.as_array().into_iter().flatten().map(text_of).collect()
}

fn says_nothing(item: &Value) -> bool {
    let fields = ["arguments", "input"].map(|key| item[key].as_str().unwrap_or_default());
    let is_empty = |list: &Value| list.as_array().is_none_or(Vec::is_empty);
    let speaks = matches!(item["type"].as_str(), Some("message" | "reasoning"));
    fields.concat().is_empty()
        && (!speaks || is_empty(&item["content"]) && is_empty(&item["summary"]))
}

/// Checks the required fields of the item's type.
fn well_formed(item: &Value) -> Checked {
    let required: &[&str] = match item["type"].as_str() {
        Some("message") => &["role", "content"],
        Some("function_call") => &["call_id", "name", "arguments"],
        Some("custom_tool_call") => &["call_id", "name", "input"],
        Some("reasoning") => &["summary"],
        _ => &[],
    };
    for field in ["id", "type", "status"].iter().chain(required) {
        ensure(!item[field].is_null(), &format!("the item lacks {field}"))?;
    }
    Ok(())
}
