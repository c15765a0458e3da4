//! What is to be done next.

use bytes::Bytes;

/// What whoever holds a turn does next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// Ask the server, and tell [`Turn::answered`](super::Turn::answered) what it says.
    Ask {
        /// The method.
        method: Method,
        /// Below the base URL, query and all: `/conversations/conv_1/items?order=asc&limit=100`.
        path: String,
        /// The body of a `POST`.
        body: Option<Bytes>,
    },
    /// Send the request with this body.
    Send {
        /// The whole body. The very bytes that came where nothing was left out or mended.
        body: Bytes,
    },
    /// Give the caller the last refusal as it came: there is no other way to send the request. Where none was
    /// sent, the server does not say just now what it holds: give the caller that answer.
    GiveUp,
    /// Nothing: the turn is over, or its answer is being heard.
    Nothing,
}

/// A method of HTTP.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// `GET`
    Get,
    /// `POST`
    Post,
    /// `DELETE`
    Delete,
}

impl Method {
    /// As it stands in a request.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Get => "GET",
            Self::Post => "POST",
            Self::Delete => "DELETE",
        }
    }
}
