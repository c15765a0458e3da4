//! How a response ends.

use super::{Assembler, Note, Phase};
use crate::item::{Item, ItemId, Kind};
use crate::json::{Object, quote, unquote};
use crate::stream::Event;
use crate::stream::fields::in_one_line;
use crate::stream::output_item::OutputItem;

/// How a response came out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// The model said all that it wanted to.
    Completed,
    /// The model was cut short by a limit of its own.
    Incomplete,
    /// It broke, and the caller is told so.
    Failed,
    /// The caller left, or cancelled it.
    Cancelled,
}

impl Status {
    /// The response's `status`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Completed => "completed",
            Self::Incomplete => "incomplete",
            Self::Failed => "failed",
            Self::Cancelled => "cancelled",
        }
    }

    /// The status of a response that has ended; `None` where that is not what it says.
    pub(super) fn of_ended(text: &str) -> Option<Self> {
        match text {
            "completed" => Some(Self::Completed),
            "incomplete" => Some(Self::Incomplete),
            "failed" | "cancelled" => Some(Self::Failed),
            _ => None,
        }
    }

    /// The status of an item that had not ended when the response did.
    pub(super) fn of_items(self) -> &'static str {
        match self {
            Self::Completed => "completed",
            _ => "incomplete",
        }
    }

    fn event(self) -> &'static str {
        match self {
            Self::Completed => "response.completed",
            Self::Incomplete => "response.incomplete",
            Self::Failed | Self::Cancelled => "response.failed",
        }
    }
}

/// Why a response failed: `response.error`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// `error.code`
    pub code: String,
    /// `error.message`, a sentence.
    pub message: String,
}

impl Failure {
    /// A failure that is nobody's code but ours or the upstream's server's.
    pub fn server_error(message: impl Into<String>) -> Self {
        Self { code: "server_error".into(), message: message.into() }
    }

    fn to_json(&self) -> String {
        let (code, message) = (quote(&self.code), quote(&self.message));
        format!(r#"{{"code":{code},"message":{message}}}"#)
    }

    /// What an upstream's `error` event says, its fields bare or under `error`.
    pub(super) fn reported(event: &Object<'_>) -> Self {
        if let Some(message) = event.string("error") {
            return Self::server_error(message);
        }
        let nested = event.get("error").and_then(|raw| Object::parse(raw.as_bytes()).ok());
        Self::of(nested.as_ref().unwrap_or(event))
    }

    fn of(error: &Object<'_>) -> Self {
        let text = |key| error.string(key).map(std::borrow::Cow::into_owned);
        let message =
            ["message", "detail"].into_iter().find_map(|key| sentence(error.present(key)?));
        Self {
            code: text("code")
                .filter(|code| !code.is_empty())
                .unwrap_or_else(|| "server_error".into()),
            message: message.unwrap_or_else(|| "The upstream failed without saying why.".into()),
        }
    }
}

/// The sentence that an error's field holds: a string, the `message` within an object, or else its JSON.
fn sentence(raw: &str) -> Option<String> {
    let sentence = match Object::parse(raw.as_bytes()) {
        Ok(object) => object.string("message").map(std::borrow::Cow::into_owned),
        Err(_) => unquote(raw).map(std::borrow::Cow::into_owned),
    };
    sentence.or_else(|| Some(raw.to_owned())).filter(|sentence| !sentence.is_empty())
}

/// The end of a response, before it is told.
#[derive(Clone, Debug)]
pub struct Ending {
    status: Status,
    failure: Option<Failure>,
    incomplete_details: Option<String>,
}

impl Ending {
    pub(super) fn failed(failure: Failure) -> Self {
        Self { status: Status::Failed, failure: Some(failure), incomplete_details: None }
    }

    pub(super) fn cancelled() -> Self {
        Self { status: Status::Cancelled, failure: None, incomplete_details: None }
    }

    pub(super) fn failure(&self) -> Option<&Failure> {
        self.failure.as_ref()
    }

    /// The end that an upstream's response object tells of.
    pub(super) fn reported(status: Status, response: &Object<'_>) -> Self {
        let details = response.present("incomplete_details").map(str::to_owned);
        Self {
            status,
            failure: (status == Status::Failed).then(|| Failure::reported(response)),
            incomplete_details: details.filter(|_| status == Status::Incomplete),
        }
    }
}

/// A response at its end.
#[derive(Clone, Debug)]
pub struct Finished {
    /// How it came out.
    pub status: Status,
    /// The terminal event, to be sent once the turn is committed.
    pub event: Event,
    /// The response object for the caller.
    pub response: String,
    /// The response object with no output in it, to be kept beside the items.
    pub envelope: String,
    /// The output items, to be kept.
    pub output: Vec<Output>,
    /// What was put right in the stream.
    pub notes: Vec<Note>,
    /// Why it failed, if it did.
    pub failure: Option<Failure>,
}

impl Finished {
    /// The terminal event of a response that came to its end and then could not be kept.
    pub fn failed_instead(&self, failure: &Failure) -> Event {
        let mut response = Object::parse(self.response.as_bytes()).expect("it was rendered so");
        response.set("status", r#""failed""#);
        response.set("completed_at", "null");
        response.set("incomplete_details", "null");
        response.set("error", failure.to_json());
        let mut event = Object::parse(&self.event.data).expect("it was emitted so");
        event.set("type", r#""response.failed""#);
        event.set("response", response.to_text());
        Event { kind: "response.failed".into(), data: in_one_line(event.to_text()) }
    }
}

/// One output item.
#[derive(Clone, Debug, PartialEq)]
pub struct Output {
    /// Its id.
    pub id: ItemId,
    /// The item. `None`: it was announced, and nothing of it stays.
    pub item: Option<Item>,
    /// The item as clients know it: as it ended.
    pub announced: Item,
}

impl Assembler {
    /// The end of the response: its terminal event and what to keep. `now` in Unix seconds.
    ///
    /// # Panics
    /// If the response has not ended: see [`Assembler::has_ended`].
    pub fn finish(mut self, now: i64) -> Finished {
        let Phase::Ended(ending) = &self.phase else {
            panic!("a response is finished after it has ended");
        };
        let Ending { status, failure, incomplete_details } = ending.clone();
        self.describe_end(status, failure.as_ref(), incomplete_details, now);
        self.finished(status, failure)
    }

    /// The end of a response whose caller has left. What is finished stays, and a message that has
    /// begun to speak, as `incomplete`; an unfinished call goes, and so does reasoning that nothing
    /// follows. Nobody hears how its open items are closed: those events are counted, not given.
    pub fn settle(mut self, now: i64) -> Finished {
        if self.has_ended() {
            return self.finish(now);
        }
        self.close_items(Status::Cancelled);
        self.describe_end(Status::Cancelled, None, None, now);
        self.finished(Status::Cancelled, None)
    }

    fn describe_end(
        &mut self,
        status: Status,
        failure: Option<&Failure>,
        incomplete_details: Option<String>,
        now: i64,
    ) {
        self.count_preface();
        self.envelope.set("status", format!("\"{}\"", status.as_str()));
        if status == Status::Completed {
            let completed_at = self.envelope.completed_at().unwrap_or(now);
            self.envelope.set("completed_at", completed_at.to_string());
        }
        if let Some(failure) = failure {
            self.envelope.set("error", failure.to_json());
        }
        if let Some(details) = incomplete_details {
            self.envelope.set("incomplete_details", details);
        }
    }

    fn finished(mut self, status: Status, failure: Option<Failure>) -> Finished {
        let show = |output| OutputItem::shown(output, &self.emitter);
        let shown: Vec<_> = self.items.iter().map(show).collect();
        let response = self.envelope.render(shown.iter().map(AsRef::as_ref));
        let event = self.emitter.event(status.event(), &[("response", &response)]);
        Finished {
            output: self.output(status),
            status,
            event,
            response,
            envelope: self.envelope.render(std::iter::empty()),
            notes: self.identity.notes,
            failure,
        }
    }

    /// What to keep. Of a response that ended well, which a limit of the model's is too, everything
    /// that its caller is told of.
    fn output(&self, status: Status) -> Vec<Output> {
        let ended_well = matches!(status, Status::Completed | Status::Incomplete);
        let output = self.items.iter().map(|output| Output {
            id: output.id().clone(),
            item: if ended_well { Some(output.item()) } else { output.remains() }.cloned(),
            announced: output.item().clone(),
        });
        let mut output: Vec<Output> = output.collect();
        if !ended_well {
            drop_lone_reasoning(&mut output);
        }
        output
    }
}

/// Reasoning that nothing of what stays follows. A provider refuses it.
fn drop_lone_reasoning(output: &mut [Output]) {
    for output in output.iter_mut().rev() {
        match &output.item {
            Some(item) if item.head().kind == Kind::Reasoning => output.item = None,
            Some(_) => return,
            None => {}
        }
    }
}
