//! A strict client: it follows a stream by OpenAI's documentation alone, reports violations, and
//! assembles the completion.
//!
//! Sources: OpenAI's reference of the chunk object; `accumulate_delta` of its Python client, which
//! requires an `index` in the entries of lists that continue; the exceptions of its clients.

use std::collections::HashSet;

use serde_json::{Map, Value, json};

use crate::stream::Event;

/// The result of a stream: a completion or an error.
pub(super) fn read(events: &[Event], includes_usage: bool) -> Result<Value, String> {
    let mut client = Client { includes_usage, ..Client::default() };
    for (at, event) in events.iter().enumerate() {
        let json: Value = serde_json::from_slice(&event.data).map_err(|error| error.to_string())?;
        ensure(event.kind.is_empty(), "a chunk with an event type")?;
        ensure(!event.data.contains(&b'\n'), "a chunk is not in one line")?;
        client.take(&json).map_err(|broken| format!("{broken}, in chunk {at}: {json}"))?;
    }
    client.result()
}

type Checked = Result<(), String>;

fn ensure(holds: bool, broken: &str) -> Checked {
    if holds { Ok(()) } else { Err(broken.to_owned()) }
}

#[derive(Default)]
struct Client {
    includes_usage: bool,
    first: Option<Value>,
    message: Map<String, Value>,
    logprobs: Vec<Value>,
    finish_reason: Option<Value>,
    service_tier: Option<Value>,
    usage: Option<Value>,
    error: Option<Value>,
    call_ids: HashSet<String>,
}

impl Client {
    fn take(&mut self, chunk: &Value) -> Checked {
        ensure(self.error.is_none(), "something follows the error")?;
        ensure(self.usage.is_none(), "something follows the usage")?;
        if chunk.get("error").is_some() {
            return self.fail(chunk);
        }
        self.check_head(chunk)?;
        let choices = chunk["choices"].as_array().ok_or("no choices")?;
        match &choices[..] {
            [] => self.count(&chunk["usage"]),
            [choice] => {
                ensure(chunk.get("usage").is_some() == self.includes_usage, "usage is null")?;
                self.service_tier = chunk.get("service_tier").cloned().or(self.service_tier.take());
                self.apply_choice(choice)
            }
            _ => Err("several choices".into()),
        }
    }

    fn fail(&mut self, chunk: &Value) -> Checked {
        let error = &chunk["error"];
        ensure(error["message"].is_string() && error["type"].is_string(), "no error")?;
        ensure(error.get("param").is_some() && error.get("code").is_some(), "fields are missing")?;
        self.error = Some(chunk.clone());
        Ok(())
    }

    fn check_head(&mut self, chunk: &Value) -> Checked {
        ensure(chunk["object"] == "chat.completion.chunk", "no chunk")?;
        ensure(chunk["id"].as_str().is_some_and(|id| id.starts_with("chatcmpl-")), "its id")?;
        ensure(chunk["created"].is_i64() && chunk["model"].is_string(), "its head")?;
        let Some(first) = &self.first else {
            ensure(chunk["choices"][0]["delta"]["role"] == "assistant", "the role is first")?;
            self.first = Some(chunk.clone());
            return Ok(());
        };
        let is_same = ["id", "created", "model"].iter().all(|key| first[key] == chunk[key]);
        ensure(is_same && chunk["choices"][0]["delta"].get("role").is_none(), "another head")
    }

    fn apply_choice(&mut self, choice: &Value) -> Checked {
        ensure(choice["index"] == 0, "another choice")?;
        ensure(self.finish_reason.is_none(), "something follows the finish_reason")?;
        for token in choice["logprobs"]["content"].as_array().into_iter().flatten() {
            ensure(token["bytes"].is_array() && token["logprob"].is_number(), "a logprob")?;
            self.logprobs.push(token.clone());
        }
        for call in choice["delta"]["tool_calls"].as_array().into_iter().flatten() {
            self.check_call(call)?;
        }
        let delta = choice["delta"].as_object().ok_or("no delta")?;
        accumulate(&mut self.message, delta)?;
        if !choice["finish_reason"].is_null() {
            self.finish_reason = Some(choice["finish_reason"].clone());
        }
        Ok(())
    }

    fn check_call(&mut self, call: &Value) -> Checked {
        let index = call["index"].as_u64().ok_or("a call without an index")?;
        let begun = self.message.get("tool_calls").and_then(Value::as_array).map_or(0, Vec::len);
        let begins = index == begun as u64;
        ensure(begins || index < begun as u64, "indexes count up from 0")?;
        ensure(begins == call.get("id").is_some(), "an id begins a call")?;
        if let Some(id) = call["id"].as_str() {
            ensure(!id.is_empty() && self.call_ids.insert(id.to_owned()), "ids are unique")?;
            let kind = call["type"].as_str().ok_or("a call without a type")?;
            ensure(call[kind]["name"].is_string(), "a call without a name")?;
        }
        Ok(())
    }

    fn count(&mut self, usage: &Value) -> Checked {
        ensure(self.includes_usage && self.finish_reason.is_some(), "usage comes last")?;
        ensure(usage["prompt_tokens"].is_u64(), "no usage")?;
        self.usage = Some(usage.clone());
        Ok(())
    }

    fn result(mut self) -> Result<Value, String> {
        if let Some(error) = self.error {
            return Ok(error);
        }
        let first = self.first.ok_or("the stream is empty")?;
        let finish_reason = self.finish_reason.ok_or("the stream does not end")?;
        finish_message(&mut self.message);
        let logprobs = match self.logprobs.is_empty() {
            true => Value::Null,
            false => json!({"content": self.logprobs, "refusal": null}),
        };
        let choice = json!({"index": 0, "message": self.message, "logprobs": logprobs,
            "finish_reason": finish_reason});
        let mut completion = json!({"id": first["id"], "object": "chat.completion",
            "created": first["created"], "model": first["model"], "choices": [choice],
            "usage": self.usage});
        if let Some(tier) = self.service_tier {
            completion["service_tier"] = tier;
        }
        Ok(completion)
    }
}

/// The fields that a whole message always has. A message with only calls or a refusal has no
/// content.
fn finish_message(message: &mut Map<String, Value>) {
    let has_other =
        ["tool_calls", "function_call", "refusal"].iter().any(|field| message.contains_key(*field));
    if has_other && message["content"] == "" {
        message["content"] = Value::Null;
    }
    message.entry("refusal").or_insert(Value::Null);
    message.entry("annotations").or_insert_with(|| json!([]));
    let calls = message.get_mut("tool_calls").and_then(Value::as_array_mut);
    for call in calls.into_iter().flatten() {
        call.as_object_mut().expect("it is an object").remove("index");
    }
}

/// Adds a delta, as OpenAI's Python client does.
fn accumulate(sum: &mut Map<String, Value>, delta: &Map<String, Value>) -> Checked {
    for (key, value) in delta {
        match (sum.get_mut(key), value) {
            (None, _) => {
                sum.insert(key.clone(), value.clone());
            }
            (Some(known), _) if matches!(&**key, "index" | "type") => *known = value.clone(),
            (Some(Value::String(text)), Value::String(more)) => text.push_str(more),
            (Some(Value::Object(known)), Value::Object(more)) => accumulate(known, more)?,
            (Some(Value::Array(list)), Value::Array(more)) => {
                more.iter().try_for_each(|entry| accumulate_entry(list, entry))?;
            }
            _ => return Err(format!("'{key}' changes")),
        }
    }
    Ok(())
}

fn accumulate_entry(list: &mut Vec<Value>, entry: &Value) -> Checked {
    let index = entry["index"].as_u64().ok_or("expected an entry with an index")?;
    let index = usize::try_from(index).map_err(|error| error.to_string())?;
    if let (Some(Value::Object(known)), Value::Object(more)) = (list.get_mut(index), entry) {
        return accumulate(known, more);
    }
    list.push(entry.clone());
    Ok(())
}
