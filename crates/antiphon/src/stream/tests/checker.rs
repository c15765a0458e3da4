//! A client that is stricter than any: it follows a stream by the documents alone and says what is
//! broken.
//!
//! Sources: the order rules of the Responses stream; what the official Python SDK raises on; the
//! streaming rules of Open Responses, and its `ResponseResource`.

use std::collections::{BTreeMap, HashSet};

use serde_json::Value;

/// The 31 keys of a response object.
pub(super) const RESPONSE_KEYS: [&str; 31] = [
    "id",
    "object",
    "created_at",
    "completed_at",
    "status",
    "incomplete_details",
    "model",
    "previous_response_id",
    "instructions",
    "output",
    "error",
    "tools",
    "tool_choice",
    "truncation",
    "parallel_tool_calls",
    "text",
    "top_p",
    "presence_penalty",
    "frequency_penalty",
    "top_logprobs",
    "temperature",
    "reasoning",
    "usage",
    "max_output_tokens",
    "max_tool_calls",
    "store",
    "background",
    "service_tier",
    "metadata",
    "safety_identifier",
    "prompt_cache_key",
];

/// Events of an item by their beginnings, with the fields that they need.
const REQUIRED: [(&str, &[&str]); 14] = [
    ("response.content_part.", &["item_id", "content_index", "part"]),
    ("response.output_text.delta", &["item_id", "content_index", "delta", "logprobs"]),
    ("response.output_text.done", &["item_id", "content_index", "text", "logprobs"]),
    (
        "response.output_text.annotation.added",
        &["item_id", "content_index", "annotation_index", "annotation"],
    ),
    ("response.refusal.delta", &["item_id", "content_index", "delta"]),
    ("response.refusal.done", &["item_id", "content_index", "refusal"]),
    ("response.function_call_arguments.delta", &["item_id", "delta"]),
    ("response.function_call_arguments.done", &["item_id", "arguments"]),
    ("response.custom_tool_call_input.delta", &["item_id", "delta"]),
    ("response.custom_tool_call_input.done", &["item_id", "input"]),
    ("response.reasoning_summary_part.", &["item_id", "summary_index", "part"]),
    ("response.reasoning_summary_text.", &["item_id", "summary_index"]),
    ("response.reasoning_text.", &["item_id", "content_index"]),
    ("response.reasoning.", &["item_id", "content_index"]),
];

/// Whether the upstream may have contradicted itself: then deltas need not make up the texts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Upstream {
    #[default]
    Coherent,
    Contradictory,
}

/// Goes through a whole stream; the terminal event is its last.
pub(super) fn check(events: &[Value], upstream: Upstream) -> Result<(), String> {
    let mut client = Client { upstream, ..Client::default() };
    for (number, event) in events.iter().enumerate() {
        client
            .take(number, event, number + 1 == events.len())
            .map_err(|broken| format!("{broken}, in {event}"))?;
    }
    Ok(())
}

#[derive(Default)]
struct Client {
    upstream: Upstream,
    response_id: Option<Value>,
    items: Vec<Shown>,
    ids: HashSet<String>,
    calls: HashSet<(String, String)>,
}

/// An item as it was told.
struct Shown {
    added: Value,
    done: Option<Value>,
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

type Checked = Result<(), String>;

fn ensure(holds: bool, broken: &str) -> Checked {
    if holds { Ok(()) } else { Err(broken.to_owned()) }
}

impl Client {
    fn take(&mut self, number: usize, event: &Value, is_last: bool) -> Checked {
        ensure(event["sequence_number"] == number, "a gap in the sequence numbers")?;
        let kind = event["type"].as_str().ok_or("an event without a type")?;
        let is_terminal =
            ["response.completed", "response.incomplete", "response.failed"].contains(&kind);
        ensure(is_terminal == is_last, "the terminal event is the last and the only one")?;
        ensure(kind != "error", "clients raise on a top-level error")?;
        match (number, kind) {
            (0, "response.created") | (1, "response.in_progress") => self.lifecycle(event),
            (0 | 1, _) => Err("created and in_progress come first".into()),
            (_, "response.created" | "response.queued" | "response.in_progress") => {
                Err("the response began already".into())
            }
            _ if is_terminal => self.end(event),
            (_, "response.output_item.added") => self.added(event),
            (_, "response.output_item.done") => self.done(event),
            _ if event.get("output_index").is_some() => self.within(kind, event),
            _ => Ok(()),
        }
    }

    fn lifecycle(&mut self, event: &Value) -> Checked {
        let response = &event["response"];
        let id = self.response_id.get_or_insert_with(|| response["id"].clone());
        ensure(response["id"] == *id, "the response's id changes")?;
        for key in RESPONSE_KEYS {
            ensure(response.get(key).is_some(), &format!("the response lacks {key}"))?;
        }
        ensure(response["output"].is_array(), "the output is a list")
    }

    fn added(&mut self, event: &Value) -> Checked {
        let item = &event["item"];
        ensure(event["output_index"] == self.items.len(), "output indexes count up")?;
        let id = item["id"].as_str().filter(|id| !id.is_empty());
        let id = id.ok_or("an item without an id")?;
        ensure(self.ids.insert(id.to_owned()), "two items have one id")?;
        let kind = item["type"].as_str().ok_or("an item without a type")?;
        if let Some(call_id) = item["call_id"].as_str() {
            ensure(!call_id.is_empty(), "a call_id is empty")?;
            let key = (kind.to_owned(), call_id.to_owned());
            ensure(self.calls.insert(key), "two items for one call")?;
        }
        ensure(says_nothing(item), "an item is announced with something said")?;
        self.items.push(Shown {
            added: item.clone(),
            done: None,
            parts: BTreeMap::new(),
            text: Text::new(self.upstream),
        });
        well_formed(item)
    }

    /// The item that the event belongs to: known, and not done.
    fn open(&mut self, event: &Value) -> Result<&mut Shown, String> {
        let index = event["output_index"].as_u64().ok_or("no output_index")?;
        let index = usize::try_from(index).unwrap();
        let item = self.items.get_mut(index).ok_or("an event precedes its item")?;
        ensure(item.done.is_none(), "the item is done")?;
        Ok(item)
    }

    fn within(&mut self, kind: &str, event: &Value) -> Checked {
        let required = REQUIRED.iter().find(|(prefix, _)| kind.starts_with(prefix));
        for field in required.map_or(&[][..], |(_, fields)| fields) {
            ensure(!event[field].is_null(), &format!("{field} is missing"))?;
        }
        let item = self.open(event)?;
        let item_id = event.get("item_id");
        ensure(item_id.is_none_or(|id| *id == item.added["id"]), "an event names another item")?;
        item.take(kind.strip_prefix("response.").unwrap_or(kind), event)
    }

    fn done(&mut self, event: &Value) -> Checked {
        let item = self.open(event)?;
        let done = &event["item"];
        for key in ["id", "type", "call_id", "name"] {
            ensure(item.added[key] == done[key], &format!("the item's {key} changes"))?;
        }
        item.texts_are_those_of(done)?;
        item.done = Some(done.clone());
        ensure(done["status"] != "in_progress", "an item that is done is in progress")?;
        well_formed(done)
    }

    fn end(&mut self, event: &Value) -> Checked {
        self.lifecycle(event)?;
        let response = &event["response"];
        let status = event["type"].as_str().unwrap().strip_prefix("response.");
        ensure(response["status"].as_str() == status, "the status is another than the event's")?;
        let done: Option<Vec<Value>> = self.items.iter().map(|item| item.done.clone()).collect();
        let done = done.ok_or("an item was never done")?;
        ensure(response["output"] == Value::from(done), "the output is not what was done")?;
        ensure((status == Some("failed")) == response["error"].is_object(), "error")?;
        ensure((status == Some("completed")) == response["completed_at"].is_i64(), "completed_at")
    }
}

impl Shown {
    fn take(&mut self, kind: &str, event: &Value) -> Checked {
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

    /// The part that the event belongs to: open, of this type.
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
        let said = part.text.done.as_deref();
        let says_it = said.is_none_or(|said| said == text_of(done));
        part.text.ensure(says_it, "the part says something else")?;
        ensure(said.is_some() || text_of(done).is_empty(), "the part's text was not told")?;
        part.done = Some(done.clone());
        Ok(())
    }

    /// All that the finished item says was told, and all that was told is said.
    fn texts_are_those_of(&self, done: &Value) -> Checked {
        for (list, parts) in &self.parts {
            let said: Vec<&str> =
                done[list].as_array().into_iter().flatten().map(text_of).collect();
            let told: Option<Vec<&str>> =
                parts.iter().map(|part| Some(text_of(part.done.as_ref()?))).collect();
            let told = told.ok_or("a part was never done")?;
            self.text.ensure(told == said, "the item's parts are not those that were told")?;
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

    /// Ensures what holds for upstreams that are coherent.
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

/// The fields that an item of its type needs.
fn well_formed(item: &Value) -> Checked {
    let required: &[&str] = match item["type"].as_str() {
        Some("message") => &["role", "status", "content"],
        Some("function_call") => &["call_id", "name", "arguments", "status"],
        Some("custom_tool_call") => &["call_id", "name", "input", "status"],
        Some("reasoning") => &["summary"],
        _ => &[],
    };
    for field in required {
        ensure(!item[field].is_null(), &format!("the item lacks {field}"))?;
    }
    Ok(())
}
