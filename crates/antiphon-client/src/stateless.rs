//! Requests to servers of Chat Completions and of Anthropic's Messages, which store no state.

use antiphon::dialect::{Dialect, Request as DialectRequest, RequestContext, UpstreamApi};
use antiphon::json::Object;
use antiphon::repair::{ReportedRepair, repair};
use antiphon::stateful::Report;
use antiphon::stream::Envelope;
use bytes::Bytes;
use http::Method;

use crate::answer::ResponseIds;
use crate::client::unix_now;
use crate::reader::{Reader, Sealer, local_id};
use crate::turn::accepted;
use crate::{Answer, Client, Error, ErrorKind, Request};

/// The fields that these APIs do not have.
const OWN_FIELDS: [&str; 4] = ["store", "background", "truncation", "context_management"];

impl Client {
    /// Starts an answer of a server that stores no state.
    pub(crate) async fn respond_stateless(&self, mut request: Request) -> Result<Answer, Error> {
        let api = self.api();
        if let Some(field) = request.server_state() {
            return Err(without_state(api, field));
        }
        let mut report = Report::default();
        let mut items = request.take_items();
        if !request.is_exact {
            let repaired = repair(&items);
            let described = repaired.repairs.iter().map(|repair| {
                ReportedRepair::from_repair(Some(repair.position), &items[repair.position], repair)
            });
            report.repairs.extend(described);
            items = repaired.items;
        }
        let body = request.body();
        let mut fields = Object::parse(&body).expect("a request is an object");
        for field in OWN_FIELDS.into_iter().chain(["conversation", "previous_response_id"]) {
            fields.remove(field);
        }
        let origin = self.origin(&request.model());
        let encode = api.encoder().expect("servers of the Responses API are handled elsewhere");
        let encoded = encode(DialectRequest { fields: &fields, items: &items, origin: &origin });
        let encoded = encoded.map_err(|error| ErrorKind::Unsupported(error.message))?;
        let answer = self.exchange(Method::POST, path(api), Some(encoded.body)).await?;
        let answer = accepted(answer).await.map_err(|it| it.with_report(report.clone()))?;
        let envelope = Envelope::new(&local_id(), unix_now(), &fields, None);
        let context = RequestContext::from_request(&fields, &items, origin);
        let sealer = Sealer { origin: None, ids: ResponseIds::Local };
        let reader =
            Reader::from_dialect(Dialect::from(api), Some(context), envelope, answer, sealer);
        Ok(Answer::new(reader.into_events(), report).with_omissions(encoded.omissions))
    }

    /// An error if the server stores no state, which `need` requires.
    pub(crate) fn require_state(&self, need: &str) -> Result<(), Error> {
        match self.api() {
            UpstreamApi::Responses => Ok(()),
            api @ (UpstreamApi::Chat | UpstreamApi::Anthropic) => Err(without_state(api, need)),
        }
    }

    /// Sends a request for an object of the server's state.
    pub(crate) async fn call_state(
        &self,
        method: Method,
        path: &str,
        body: Option<Bytes>,
    ) -> Result<Bytes, Error> {
        self.require_state("the request")?;
        self.call(method, path, body).await
    }
}

fn path(api: UpstreamApi) -> &'static str {
    match api {
        UpstreamApi::Responses => "/responses",
        UpstreamApi::Chat => "/chat/completions",
        UpstreamApi::Anthropic => "/messages",
    }
}

fn without_state(api: UpstreamApi, need: &str) -> Error {
    let name = match api {
        UpstreamApi::Responses => "Responses",
        UpstreamApi::Chat => "Chat Completions",
        UpstreamApi::Anthropic => "Anthropic Messages",
    };
    Error::unsupported(format!(
        "A server of the {name} API stores no conversations and no responses, but {need} needs \
         them. Send all items with each request, or use antiphon-gateway in front of the server."
    ))
}
