//! A client that is stricter than any real one: it checks a stream against the specifications and
//! reports the violation.
//!
//! Sources: the order rules of the Responses stream; the errors that the official Python SDK
//! raises; the streaming rules and the `ResponseResource` of Open Responses.

mod item;

use std::collections::HashSet;

use serde_json::Value;

use self::item::Shown;

/// The 31 keys of a response object.
pub(crate) const RESPONSE_KEYS: [&str; 31] = [
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

/// Item events by the beginning of their type, with the fields that they require.
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

/// The kind of upstream. If it may contradict itself, the deltas need not add up to the texts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Upstream {
    #[default]
    Coherent,
    Contradictory,
    /// It stores the items under its own ids, which calls may share.
    Keeping,
}

/// Checks a whole stream, whose last event is the terminal one.
pub(crate) fn check(events: &[Value], upstream: Upstream) -> Result<(), String> {
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
            let is_new = self.calls.insert(key) || self.upstream == Upstream::Keeping;
            ensure(is_new, "two items for one call")?;
        }
        self.items.push(Shown::announced(item, self.upstream)?);
        Ok(())
    }

    /// The item of the event: announced, and not done.
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
        self.open(event)?.end(&event["item"])
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
