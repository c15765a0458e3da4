//! A request to a server of the Responses API: what the server has is left out.

use antiphon::dialect::Dialect;
use antiphon::json::Object;
use antiphon::stateful::{Method as StepMethod, Report, Step, Turn};
use antiphon::stream::Envelope;
use bytes::Bytes;
use http::Method;
use tokio::time::sleep;

use crate::answer::ResponseIds;
use crate::client::MarkStale;
use crate::client::unix_now;
use crate::connection::HttpAnswer;
use crate::origin::unseal;
use crate::reader::{Reader, Sealer};
use crate::{Answer, Client, Error, ErrorKind, Rejection, Request};

/// The path of requests for an answer.
const RESPONSES: &str = "/responses";

/// A turn whose request was accepted, and its answer.
pub(crate) type Accepted = (Box<Turn>, HttpAnswer);

impl Client {
    /// Starts an answer of a server of the Responses API.
    pub(crate) async fn respond_with_state(&self, request: Request) -> Result<Answer, Error> {
        let origin = self.origin(&request.model());
        let (items, omissions) = unseal(request.listed_items().to_vec(), &origin);
        let mut request = if omissions.is_empty() && items == request.listed_items() {
            request
        } else {
            request.with_items(items)
        };
        request.set("stream", "true".to_owned());
        let ids = if request.is_stored() { ResponseIds::Server } else { ResponseIds::Local };
        let sealer = Sealer { origin: Some(origin).filter(|_| !request.is_stored()), ids };
        let (reader, mut report) = match request.is_exact {
            true => (self.start_exact(&request, sealer).await?, Report::default()),
            false => self.start_turn(&request, sealer).await?,
        };
        report.repairs.splice(0..0, omissions);
        Ok(Answer::new(reader.into_events(), report))
    }

    /// Sends the request without the items that the server has.
    async fn start_turn(
        &self,
        request: &Request,
        sealer: Sealer,
    ) -> Result<(Reader, Report), Error> {
        let turn = self.state.open(self.account(), request.body());
        let turn = turn.map_err(|error| ErrorKind::InvalidRequest(error.to_string()))?;
        let accepted = self.perform(turn, RESPONSES).await?;
        let (turn, answer) = accepted.expect("a turn for an answer always sends its request");
        let report = turn.report();
        Ok((Reader::from_turn(turn, answer, sealer), report))
    }

    /// Sends the request as it is.
    async fn start_exact(&self, request: &Request, sealer: Sealer) -> Result<Reader, Error> {
        let stale = request.conversation_id().map(|id| MarkStale::new(self, &id));
        let body = request.body();
        let answer = self.exchange(Method::POST, RESPONSES, Some(body.clone())).await?;
        let answer = accepted(answer).await?;
        let fields = Object::parse(&body).expect("a request is an object");
        let local_id = crate::reader::local_id();
        let envelope = Envelope::new(&local_id, unix_now(), &fields, None).owned_by_upstream();
        let reader = Reader::from_dialect(Dialect::Responses, None, envelope, answer, sealer);
        Ok(reader.until_its_end(stale))
    }

    /// Performs the steps of a turn up to the answer to its request; `None` if there is nothing to
    /// send.
    pub(crate) async fn perform(&self, turn: Turn, path: &str) -> Result<Option<Accepted>, Error> {
        let mut turn = Box::new(turn);
        let mut last_error = None;
        loop {
            if let Some(delay) = turn.wait() {
                sleep(delay).await;
            }
            match turn.step() {
                Step::Ask { method, path } => {
                    let method = match method {
                        StepMethod::Get => Method::GET,
                        StepMethod::Delete => Method::DELETE,
                    };
                    let (error, status, body) = self.ask(method, &path).await?;
                    last_error = Some(error);
                    turn.record_answer(status, body);
                }
                Step::Send { body } => {
                    let answer = self.exchange(Method::POST, path, Some(body)).await;
                    let answer = answer.map_err(|error| error.with_report(turn.report()))?;
                    if answer.status.is_success() {
                        return Ok(Some((turn, answer)));
                    }
                    let (error, status, body) = read_error(answer).await?;
                    last_error = Some(error);
                    turn.record_rejection(status, body);
                }
                Step::GiveUp => {
                    let error = last_error.unwrap_or_else(unlisted);
                    return Err(error.with_report(turn.report()));
                }
                Step::Nothing => return Ok(None),
            }
        }
    }

    /// The answer to a step of a turn: its status and body, and the error if the turn gives up.
    async fn ask(&self, method: Method, path: &str) -> Result<(Error, u16, Bytes), Error> {
        read_error(self.exchange(method, path, None).await?).await
    }
}

async fn read_error(answer: HttpAnswer) -> Result<(Error, u16, Bytes), Error> {
    let (status, headers, body) = answer.read().await?;
    let error = match status.is_success() {
        true => unlisted(),
        false => rejected(status.as_u16(), &headers, &body),
    };
    Ok((error, status.as_u16(), body))
}

fn rejected(status: u16, headers: &http::HeaderMap, body: &Bytes) -> Error {
    ErrorKind::Rejected(Rejection::new(status, headers, body, unix_now())).into()
}

fn unlisted() -> Error {
    let reason = "the list of its items does not have the form of the API".to_owned();
    ErrorKind::UnexpectedAnswer(reason).into()
}

/// The answer, if its status is 2xx.
pub(crate) async fn accepted(answer: HttpAnswer) -> Result<HttpAnswer, Error> {
    match answer.status.is_success() {
        true => Ok(answer),
        false => Err(read_error(answer).await?.0),
    }
}
