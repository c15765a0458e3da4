//! What the gateway answers.

use bytes::Bytes;
use http::{HeaderMap, Response, header};
use http_body_util::BodyExt;
use hyper::body::Incoming;
use serde_json::Value;

use super::error::Refused;
use super::events::{Event, Events};
use super::laws::assert_lawful;
use super::schema::assert_response_shape;
use super::view::only;
use super::watchdog::soon;

/// An answer, read to its end.
#[derive(Clone, Debug)]
pub(crate) struct Answer {
    status: u16,
    headers: HeaderMap,
    body: Bytes,
}

impl Answer {
    pub(crate) async fn read(response: Response<Incoming>) -> Self {
        let (head, body) = response.into_parts();
        let body = soon("the answer ends", body.collect()).await;
        Self {
            status: head.status.as_u16(),
            headers: head.headers,
            body: body.expect("the answer is whole").to_bytes(),
        }
    }

    pub(crate) fn status(&self) -> u16 {
        self.status
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name)?.to_str().ok()
    }

    pub(crate) fn body(&self) -> &Bytes {
        &self.body
    }

    /// The body of an answer that went well.
    pub(crate) fn json(&self) -> Value {
        assert_eq!(self.status, 200, "it went well: {:?}", self.body);
        self.parsed()
    }

    /// The answer as a refusal.
    pub(crate) fn refused(&self) -> Refused {
        Refused { status: self.status, body: self.parsed() }
    }

    /// The error's message, of an error that is not the caller's fault.
    pub(crate) fn server_error(&self) -> String {
        assert!(self.status >= 500, "status {}", self.status);
        let body = self.parsed();
        assert_eq!(body["error"]["type"], "server_error", "{body}");
        let message = body["error"]["message"].as_str();
        message.expect("it says what is wrong").to_owned()
    }

    fn parsed(&self) -> Value {
        let content_type = self.header(header::CONTENT_TYPE.as_str());
        assert_eq!(content_type, Some("application/json"), "{:?}", self.body);
        serde_json::from_slice(&self.body).expect("the body is JSON")
    }
}

/// A turn that was answered.
#[derive(Clone, Debug)]
pub(crate) struct Turn {
    headers: HeaderMap,
    /// The response at its end.
    pub(crate) response: Value,
    /// The events, if it was streamed.
    pub(crate) events: Vec<Event>,
}

impl Turn {
    pub(super) fn whole(answer: Answer) -> Self {
        let response = answer.json();
        assert_response_shape(&response);
        Self { headers: answer.headers, response, events: Vec::new() }
    }

    pub(super) async fn streamed(events: Events) -> Self {
        let headers = events.headers().clone();
        let events = events.all().await;
        let response = assert_lawful(&events);
        Self { headers, response, events }
    }

    /// A turn that was told by these events.
    pub(super) fn from_events(events: Vec<Event>) -> Self {
        let response = assert_lawful(&events);
        Self { headers: HeaderMap::new(), response, events }
    }

    /// The response's id.
    pub(crate) fn id(&self) -> &str {
        self.response["id"].as_str().expect("a response has an id")
    }

    /// How it came out.
    pub(crate) fn status(&self) -> &str {
        self.response["status"].as_str().unwrap_or_default()
    }

    /// The output items.
    pub(crate) fn output(&self) -> &[Value] {
        self.response["output"].as_array().expect("a response has an output")
    }

    /// The one output item of this type.
    pub(crate) fn item(&self, kind: &str) -> &Value {
        only(self.output(), kind)
    }

    /// The `call_id` of the one function call.
    pub(crate) fn call_id(&self) -> &Value {
        &self.item("function_call")["call_id"]
    }

    /// What the one message says.
    pub(crate) fn text(&self) -> &str {
        let text = &self.item("message")["content"][0]["text"];
        text.as_str().expect("the message has a text")
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name)?.to_str().ok()
    }
}
