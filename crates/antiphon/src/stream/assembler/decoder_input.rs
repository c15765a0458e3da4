//! The input of decoders of other dialects, as events of a Responses stream.
//!
//! A decoder identifies an item by an index of its own choice. It supplies no ids, output indexes
//! or sequence numbers: the assembler assigns them.

use super::{Assembler, Note, Status};
use crate::json::Object;
use crate::stream::fields::Digits;
use crate::stream::reasoning_form::ReasoningForm;
use crate::stream::upstream_event::UpstreamEvent;

/// The kind of text that a delta belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DeltaKind {
    /// A message's `output_text`.
    Output,
    /// A message's `refusal`.
    Refusal,
    /// The text of reasoning, in the assembler's [`ReasoningForm`].
    Reasoning,
    /// The provider's own summary of reasoning.
    Summary,
    /// A function call's `arguments`.
    Arguments,
    /// A custom tool call's `input`.
    Input,
}

impl DeltaKind {
    /// The events of a delta of this kind.
    fn events(self, form: ReasoningForm) -> &'static [DeltaEvent] {
        match self {
            Self::Output => &[(OUTPUT_TEXT, Some("content_index"))],
            Self::Refusal => &[("response.refusal.delta", Some("content_index"))],
            Self::Reasoning => match form {
                ReasoningForm::Summary => &[SUMMARY],
                ReasoningForm::Content => &[CONTENT],
                ReasoningForm::Both => &[SUMMARY, CONTENT],
            },
            Self::Summary => &[SUMMARY],
            Self::Arguments => &[("response.function_call_arguments.delta", None)],
            Self::Input => &[("response.custom_tool_call_input.delta", None)],
        }
    }
}

/// The type of a delta event, and its field with the index of the part; `None` if the text is a
/// field of the item.
type DeltaEvent = (&'static str, Option<&'static str>);

const OUTPUT_TEXT: &str = "response.output_text.delta";
const SUMMARY: DeltaEvent = ("response.reasoning_summary_text.delta", Some("summary_index"));
const CONTENT: DeltaEvent = ("response.reasoning_text.delta", Some("content_index"));

impl Assembler {
    /// Starts the response. `response` holds the fields that the upstream reports (`model`,
    /// `service_tier`).
    pub(crate) fn begin(&mut self, response: &Object<'_>) {
        self.apply_decoded("response.created", [("response", &response.to_text())]);
    }

    /// Announces an item with the fields known so far. A call whose `call_id` was announced before
    /// is the same item.
    pub(crate) fn announce_item(&mut self, index: u64, item: &Object<'_>) {
        self.apply_decoded_item("response.output_item.added", index, item);
    }

    /// Announces an item that is always new. If another call has its `call_id`, it gets a new one.
    pub(crate) fn announce_other_item(&mut self, index: u64, item: &Object<'_>) {
        if self.has_ended() {
            return;
        }
        let raw = item.to_text();
        let digits = Digits::new(index);
        let object = [("output_index", digits.as_str()), ("item", &raw)].into_iter().collect();
        let event = UpstreamEvent::from_decoder("response.output_item.added", &object);
        let Some(item) = event.item() else { return };
        self.output.identity.expects_ids = false;
        self.open(None);
        self.output.announce_other(&item, &event);
    }

    /// Adds a delta to a text of the item. `raw` is a JSON string as the upstream wrote it. `part`
    /// is the index of the item's part, counted by the decoder.
    pub(crate) fn delta(&mut self, index: u64, spoken: DeltaKind, part: u64, raw: &str) {
        let (index, part) = (Digits::new(index), Digits::new(part));
        let place = ("output_index", index.as_str());
        for (event, part_index) in spoken.events(self.reasoning_form) {
            match part_index {
                Some(key) => {
                    self.apply_decoded(event, [place, (key, part.as_str()), ("delta", raw)]);
                }
                None => self.apply_decoded(event, [place, ("delta", raw)]),
            }
        }
    }

    /// Adds a delta to a message's text, with its `logprobs`: a raw list of tokens in the form of
    /// the Responses API.
    pub(crate) fn delta_with_logprobs(&mut self, index: u64, part: u64, raw: &str, logprobs: &str) {
        let (index, part) = (Digits::new(index), Digits::new(part));
        let fields = [
            ("output_index", index.as_str()),
            ("content_index", part.as_str()),
            ("delta", raw),
            ("logprobs", logprobs),
        ];
        self.apply_decoded(OUTPUT_TEXT, fields);
    }

    /// Adds an annotation, a raw object, to the item's text.
    pub(crate) fn annotation(&mut self, index: u64, part: u64, number: u64, annotation: &str) {
        let [index, part, number] = [index, part, number].map(Digits::new);
        let fields = [
            ("output_index", index.as_str()),
            ("content_index", part.as_str()),
            ("annotation_index", number.as_str()),
            ("annotation", annotation),
        ];
        self.apply_decoded("response.output_text.annotation.added", fields);
    }

    /// Ends a part of a message's content. `part` is a raw object with its `type` and the fields
    /// that the upstream repeats; missing fields keep their streamed values.
    pub(crate) fn end_part(&mut self, index: u64, number: u64, part: &str) {
        let [index, number] = [index, number].map(Digits::new);
        let place = [("output_index", index.as_str()), ("content_index", number.as_str())];
        let [index, number] = place;
        self.apply_decoded("response.content_part.done", [index, number, ("part", part)]);
    }

    /// Ends the item with the upstream's final version. Missing fields keep their streamed values.
    pub(crate) fn end_item(&mut self, index: u64, item: &Object<'_>) {
        self.apply_decoded_item("response.output_item.done", index, item);
    }

    /// Ends the item with its content so far.
    pub(crate) fn close_item(&mut self, index: u64) {
        if !self.has_ended() {
            self.output.close_item(index);
        }
    }

    /// The raw `call_id` that clients got for the call at this index; `None` if the item is not a
    /// call or was suppressed.
    pub(crate) fn call_id(&self, index: u64) -> Option<&str> {
        let route = self.output.items.routes.by_index(Some(index))?;
        self.output.items[route.at].call_id()
    }

    /// Ends the response and its open items. `response` holds the fields that the upstream reports
    /// at the end (`usage`, `incomplete_details`, `error`).
    pub(crate) fn end_response(&mut self, status: Status, response: &Object<'_>) {
        let kind = match status {
            Status::Completed => "response.completed",
            Status::Incomplete => "response.incomplete",
            Status::Failed | Status::Cancelled => "response.failed",
        };
        self.apply_decoded(kind, [("response", &response.to_text())]);
    }

    /// Notes an omitted part that a response cannot express.
    pub(crate) fn leave_out(&mut self, what: impl Into<String>) {
        self.output.notes.leave_out(what.into());
    }

    /// Counts an event with invalid UTF-8.
    pub(crate) fn note_invalid_utf8(&mut self) {
        self.output.notes.count_invalid_utf8();
    }

    /// Notes that the stream ended without a `finish_reason`.
    pub(crate) fn note_missing_finish_reason(&mut self) {
        self.output.notes.push(Note::FinishReasonMissing);
    }

    fn apply_decoded_item(&mut self, kind: &'static str, index: u64, item: &Object<'_>) {
        let index = Digits::new(index);
        self.apply_decoded(kind, [("output_index", index.as_str()), ("item", &item.to_text())]);
    }

    fn apply_decoded<const N: usize>(
        &mut self,
        kind: &'static str,
        fields: [(&'static str, &str); N],
    ) {
        if !self.has_ended() {
            self.output.identity.expects_ids = false;
            let name = ["\"", kind, "\""].concat();
            let object = [("type", name.as_str())].into_iter().chain(fields).collect();
            self.dispatch(&UpstreamEvent::from_decoder(kind, &object));
        }
    }
}
