//! How a response ends.

use super::{Assembler, Note, Phase};
use crate::item::{Item, ItemId, Kind};
use crate::json::Object;
use crate::stream::Event;

/// How a response came out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// The model said all that it wanted to.
    Completed,
    /// The model was cut short by a limit of its own.
    Incomplete,
    /// It broke, and the caller is told so.
    Failed,
    /// The caller left.
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

    pub(super) fn parse(text: &str) -> Self {
        match text {
            "completed" => Self::Completed,
            "incomplete" => Self::Incomplete,
            _ => Self::Failed,
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
        Self {
            code: "server_error".into(),
            message: message.into(),
        }
    }

    /// What an upstream's `error` event says, its fields bare or under `error`.
    pub(super) fn reported(event: &Object<'_>) -> Self {
        let nested = event
            .get("error")
            .and_then(|raw| Object::parse(raw.as_bytes()).ok());
        Self::of(nested.as_ref().unwrap_or(event))
    }

    fn of(error: &Object<'_>) -> Self {
        let text = |key| error.string(key).map(std::borrow::Cow::into_owned);
        Self {
            code: text("code").unwrap_or_else(|| "server_error".into()),
            message: text("message")
                .unwrap_or_else(|| "The upstream failed without saying why.".into()),
        }
    }
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
        Self {
            status: Status::Failed,
            failure: Some(failure),
            incomplete_details: None,
        }
    }

    /// The end that an upstream's response object tells of.
    pub(super) fn reported(status: Status, response: &Object<'_>) -> Self {
        let error = response
            .present("error")
            .and_then(|raw| Object::parse(raw.as_bytes()).ok());
        let failure = match status {
            Status::Failed => Some(Failure::of(&error.unwrap_or_default())),
            _ => None,
        };
        let incomplete_details = response.present("incomplete_details").map(str::to_owned);
        Self {
            status,
            failure,
            incomplete_details,
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
        response.set("error", Assembler::error_json(failure));
        let mut event = Object::parse(&self.event.data).expect("it was emitted so");
        event.set("type", r#""response.failed""#);
        event.set("response", response.to_text().replace(['\n', '\r'], " "));
        Event {
            kind: "response.failed".into(),
            data: event.to_bytes(),
        }
    }
}

/// One output item.
#[derive(Clone, Debug, PartialEq)]
pub struct Output {
    /// Its id.
    pub id: ItemId,
    /// The item. `None`: it was announced, and nothing of it stays.
    pub item: Option<Item>,
    /// The item as it was announced.
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
        let Ending {
            status,
            failure,
            incomplete_details,
        } = ending.clone();
        self.describe_end(status, failure.as_ref(), incomplete_details, now);
        self.finished(status, failure)
    }

    /// The end of a response whose caller has left. What is finished stays, and a message that has
    /// begun to speak, as `incomplete`; an unfinished call goes, and so does reasoning that nothing
    /// follows.
    pub fn settle(mut self, now: i64) -> Finished {
        if self.has_ended() {
            return self.finish(now);
        }
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
        self.envelope
            .set("status", format!("\"{}\"", status.as_str()));
        if status == Status::Completed {
            self.envelope.set("completed_at", now.to_string());
        }
        if let Some(failure) = failure {
            self.envelope.set("error", Self::error_json(failure));
        }
        if let Some(details) = incomplete_details {
            self.envelope.set("incomplete_details", details);
        }
    }

    fn finished(mut self, status: Status, failure: Option<Failure>) -> Finished {
        let shown: Vec<String> = self
            .items
            .iter()
            .map(|output| self.showing.show(output.item()))
            .collect();
        let response = self.envelope.render(shown.iter().map(String::as_str));
        let line = response.replace(['\n', '\r'], " ");
        let event = self.emitter.event(status.event(), &[("response", &line)]);
        Finished {
            output: self.output(),
            status,
            event,
            response,
            envelope: self.envelope.render(std::iter::empty()),
            notes: self.identity.notes,
            failure,
        }
    }

    fn output(&self) -> Vec<Output> {
        let output = self.items.iter().map(|output| Output {
            id: output.id().clone(),
            item: output.remains(),
            announced: output.item().clone(),
        });
        let mut output: Vec<Output> = output.collect();
        if output.iter().any(|output| output.item.is_none()) {
            drop_lone_reasoning(&mut output);
        }
        output
    }
}

fn drop_lone_reasoning(output: &mut [Output]) {
    let mut followed = false;
    for output in output.iter_mut().rev() {
        let Some(item) = &output.item else { continue };
        if item.head().kind != Kind::Reasoning {
            followed = true;
        } else if !followed {
            output.item = None;
        }
    }
}
