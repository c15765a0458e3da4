//! What decoders of other dialects tell, in the words of a Responses stream.
//!
//! A decoder names an item by an index of its own choice, under which it tells all that belongs to
//! it. It gives no ids, no output indexes, no sequence numbers: those are made here.

use super::{Assembler, Note, Status};
use crate::json::Object;
use crate::stream::fields::Digits;
use crate::stream::heard::Heard;

/// How many notes there may be when something is left out. An upstream that has more of that in one
/// answer is not followed.
const MAX_NOTES: usize = 1024;

/// What a delta is a piece of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Spoken {
    /// A message's `output_text`.
    Output,
    /// A message's `refusal`.
    Refusal,
    /// The raw text of reasoning.
    Reasoning,
    /// The summary of reasoning.
    Summary,
    /// A function call's `arguments`.
    Arguments,
    /// A custom tool call's `input`.
    Input,
}

impl Spoken {
    fn event(self) -> &'static str {
        match self {
            Self::Output => "response.output_text.delta",
            Self::Refusal => "response.refusal.delta",
            Self::Reasoning => "response.reasoning_text.delta",
            Self::Summary => "response.reasoning_summary_text.delta",
            Self::Arguments => "response.function_call_arguments.delta",
            Self::Input => "response.custom_tool_call_input.delta",
        }
    }

    /// The field that says which part of the item speaks; `None` where the item does.
    fn part(self) -> Option<&'static str> {
        match self {
            Self::Output | Self::Refusal | Self::Reasoning => Some("content_index"),
            Self::Summary => Some("summary_index"),
            Self::Arguments | Self::Input => None,
        }
    }
}

impl Assembler {
    /// The response begins. `response`: what the upstream says of it (`model`, `service_tier`).
    pub(crate) fn begin(&mut self, response: &Object<'_>) {
        self.tell("response.created", [("response", &response.to_text())]);
    }

    /// An item begins, with what is known of it. A call whose `call_id` was announced before is
    /// that call once more: one item.
    pub(crate) fn announce_item(&mut self, index: u64, item: &Object<'_>) {
        self.tell_item("response.output_item.added", index, item);
    }

    /// An item begins that is no other, whatever it is called: another call under the same `call_id`
    /// gets a `call_id` of ours.
    pub(crate) fn announce_other_item(&mut self, index: u64, item: &Object<'_>) {
        if self.has_ended() {
            return;
        }
        let raw = item.to_text();
        let digits = Digits::of(index);
        let event = [("output_index", digits.as_str()), ("item", &raw)].into_iter().collect();
        let heard = Heard::told("response.output_item.added", &event);
        let Some(item) = heard.item() else { return };
        self.identity.expects_ids = false;
        self.open(None);
        if !self.suppresses(&item, Some(&heard)) && !self.suppresses_another(&item, Some(&heard)) {
            let route = self.announce(&item, None);
            self.routes.add(Some(index), &item, route);
        }
    }

    /// A piece of a text of the item: `raw`, a JSON string as the upstream wrote it. `part`: which
    /// of the item's parts it stands in, counted by the decoder.
    pub(crate) fn delta(&mut self, index: u64, spoken: Spoken, part: u64, raw: &str) {
        let (index, part) = (Digits::of(index), Digits::of(part));
        let place = ("output_index", index.as_str());
        match spoken.part() {
            Some(key) => self.tell(spoken.event(), [place, (key, part.as_str()), ("delta", raw)]),
            None => self.tell(spoken.event(), [place, ("delta", raw)]),
        }
    }

    /// A piece of a message's text with its `logprobs`, a raw list of tokens in the Responses API's form.
    pub(crate) fn delta_with_logprobs(&mut self, index: u64, part: u64, raw: &str, logprobs: &str) {
        let (index, part) = (Digits::of(index), Digits::of(part));
        let fields = [
            ("output_index", index.as_str()),
            ("content_index", part.as_str()),
            ("delta", raw),
            ("logprobs", logprobs),
        ];
        self.tell(Spoken::Output.event(), fields);
    }

    /// A note on the item's text: `annotation`, a raw object.
    pub(crate) fn annotation(&mut self, index: u64, part: u64, number: u64, annotation: &str) {
        let [index, part, number] = [index, part, number].map(Digits::of);
        let fields = [
            ("output_index", index.as_str()),
            ("content_index", part.as_str()),
            ("annotation_index", number.as_str()),
            ("annotation", annotation),
        ];
        self.tell("response.output_text.annotation.added", fields);
    }

    /// A part of a message's content ends. `part`: the part as far as the upstream gives it whole,
    /// a raw object with its `type`; what it leaves out stays as it was told.
    pub(crate) fn end_part(&mut self, index: u64, number: u64, part: &str) {
        let [index, number] = [index, number].map(Digits::of);
        let place = [("output_index", index.as_str()), ("content_index", number.as_str())];
        let [index, number] = place;
        self.tell("response.content_part.done", [index, number, ("part", part)]);
    }

    /// The item ends, as the upstream says it came to. What it leaves out stays as it was told.
    pub(crate) fn end_item(&mut self, index: u64, item: &Object<'_>) {
        self.tell_item("response.output_item.done", index, item);
    }

    /// The item ends with what it has said.
    pub(crate) fn close_item(&mut self, index: u64) {
        if let Some(route) = self.routes.by_index(Some(index)).filter(|_| !self.has_ended()) {
            self.items[route.at].close("completed", &mut self.emitter);
        }
    }

    /// The raw `call_id` that clients know the call at this index by; `None` where the index is no
    /// call's, or that of a call which was suppressed.
    pub(crate) fn call_id(&self, index: u64) -> Option<&str> {
        let route = self.routes.by_index(Some(index))?;
        self.items[route.at].call_id()
    }

    /// The response ends. `response`: what the upstream says of its end (`usage`,
    /// `incomplete_details`, `error`). Items that are open end with it.
    pub(crate) fn end_response(&mut self, status: Status, response: &Object<'_>) {
        let kind = match status {
            Status::Completed => "response.completed",
            Status::Incomplete => "response.incomplete",
            Status::Failed | Status::Cancelled => "response.failed",
        };
        self.tell(kind, [("response", &response.to_text())]);
    }

    /// Something was said that a response cannot carry.
    pub(crate) fn leave_out(&mut self, what: impl Into<String>) {
        if self.identity.notes.len() < MAX_NOTES {
            self.identity.notes.push(Note::LeftOut { what: what.into() });
        }
    }

    fn tell_item(&mut self, kind: &'static str, index: u64, item: &Object<'_>) {
        let index = Digits::of(index);
        self.tell(kind, [("output_index", index.as_str()), ("item", &item.to_text())]);
    }

    fn tell<const N: usize>(&mut self, kind: &'static str, told: [(&'static str, &str); N]) {
        if !self.has_ended() {
            self.identity.expects_ids = false;
            let name = ["\"", kind, "\""].concat();
            let event = [("type", name.as_str())].into_iter().chain(told).collect();
            self.take(&Heard::told(kind, &event));
        }
    }
}
