//! The reply of a route.

use http::StatusCode;
use serde_json::Value;

use crate::turn::Run;
use crate::{Exchange, Frame, Refusal, Reply};

/// The reply to a request, its verdict for the log, and its effect on the provider's state.
#[derive(Debug)]
pub(crate) struct RouteReply {
    pub(crate) status: StatusCode,
    pub(crate) reply: Reply,
    pub(crate) exchange: Exchange,
    pub(crate) effect: Effect,
    pub(crate) verdict: Result<(), Refusal>,
    /// The model's input; `None` if no model ran.
    pub(crate) model_input: Option<Vec<Value>>,
}

/// The state change that the delivery of a reply causes.
#[derive(Debug)]
pub(crate) enum Effect {
    Nothing,
    /// Delivery ends this turn, whose answer is one JSON body.
    EndsTurn(Run),
    /// Delivery ends this turn, whose answer is a stream.
    EndsStreamedTurn(Run),
    /// Delivery ends this background response; the reply streams these of its events.
    EndsBackgroundTurn {
        id: String,
        events: Vec<Frame>,
    },
}

impl RouteReply {
    pub(crate) fn json(body: &Value) -> Self {
        Self::with(StatusCode::OK, body)
    }

    pub(crate) fn from_refusal(refusal: Refusal) -> Self {
        let answered = Self::with(refusal.status, &refusal.body());
        Self { verdict: Err(refusal), ..answered }
    }

    /// A refusal with a body that differs from OpenAI's.
    pub(crate) fn from_refusal_with_body(
        refusal: Refusal,
        status: StatusCode,
        body: &Value,
    ) -> Self {
        Self { verdict: Err(refusal), ..Self::with(status, body) }
    }

    /// A stream with events of a background response.
    pub(crate) fn events(id: &str, events: Vec<Frame>) -> Self {
        let reply = Reply::sse(events.clone());
        let exchange = reply.exchange();
        let effect = Effect::EndsBackgroundTurn { id: id.to_owned(), events };
        Self { effect, ..Self::verbatim(reply, exchange) }
    }

    /// A reply without an effect on the state.
    pub(crate) fn verbatim(reply: Reply, exchange: Exchange) -> Self {
        let (effect, verdict) = (Effect::Nothing, Ok(()));
        Self { status: reply.status(), reply, exchange, effect, verdict, model_input: None }
    }

    fn with(status: StatusCode, body: &Value) -> Self {
        let reply = Reply::json(status, body);
        let exchange = reply.exchange();
        Self::verbatim(reply, exchange)
    }
}
