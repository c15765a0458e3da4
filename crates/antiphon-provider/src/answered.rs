//! What a request is answered with.

use antiphon_testkit::{Exchange, Frame, Refusal, Reply};
use http::StatusCode;
use serde_json::Value;

use crate::turn::Run;

/// The answer to a request, and what else is to be said of it.
#[derive(Debug)]
pub(crate) struct Answered {
    pub(crate) status: StatusCode,
    pub(crate) reply: Reply,
    pub(crate) exchange: Exchange,
    pub(crate) effect: Effect,
    pub(crate) verdict: Result<(), Refusal>,
    /// What the model was given, if one was asked.
    pub(crate) given: Option<Vec<Value>>,
}

/// What the delivery of an answer does.
#[derive(Debug)]
pub(crate) enum Effect {
    Nothing,
    /// It ends this turn, which is answered in one piece.
    EndsWhole(Run),
    /// It ends this turn, which is streamed.
    EndsStreamed(Run),
    /// It ends this response in the background, of which it streams these events.
    EndsBackground {
        id: String,
        events: Vec<Frame>,
    },
}

impl Answered {
    pub(crate) fn json(body: &Value) -> Self {
        Self::with(StatusCode::OK, body)
    }

    pub(crate) fn refused(refusal: Refusal) -> Self {
        let answered = Self::with(refusal.status, &refusal.body());
        Self { verdict: Err(refusal), ..answered }
    }

    /// A refusal whose body is another than OpenAI's.
    pub(crate) fn refused_as(refusal: Refusal, status: StatusCode, body: &Value) -> Self {
        Self { verdict: Err(refusal), ..Self::with(status, body) }
    }

    /// The events of a response in the background.
    pub(crate) fn events(id: &str, events: Vec<Frame>) -> Self {
        let reply = Reply::sse(events.clone());
        let exchange = reply.exchange();
        let effect = Effect::EndsBackground { id: id.to_owned(), events };
        Self { effect, ..Self::verbatim(reply, exchange) }
    }

    /// A reply that is given as it is.
    pub(crate) fn verbatim(reply: Reply, exchange: Exchange) -> Self {
        let (effect, verdict) = (Effect::Nothing, Ok(()));
        Self { status: reply.status(), reply, exchange, effect, verdict, given: None }
    }

    fn with(status: StatusCode, body: &Value) -> Self {
        let reply = Reply::json(status, body);
        let exchange = reply.exchange();
        Self::verbatim(reply, exchange)
    }
}
