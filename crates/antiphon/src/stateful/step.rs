//! The steps of a turn.

use bytes::Bytes;

/// The next action of a turn's owner.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// Send this request without a body to the server, and pass the answer to
    /// [`Turn::record_answer`](super::Turn::record_answer).
    Ask {
        /// The method.
        method: Method,
        /// The path below the base URL, with the query:
        /// `/conversations/conv_1/items?order=asc&limit=100`.
        path: String,
    },
    /// Send the request with this body.
    Send {
        /// The whole body. It has the original bytes if no item was left out or repaired.
        body: Bytes,
    },
    /// Give the caller the last error of the server unchanged: the request cannot be sent in
    /// another form. Before the first [`Send`](Self::Send), that is the answer to the last
    /// [`Ask`](Self::Ask): the server cannot list its items now.
    GiveUp,
    /// Nothing: the turn is over, or its answer is being received.
    Nothing,
}

/// An HTTP method.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// `GET`
    Get,
    /// `DELETE`
    Delete,
}

impl Method {
    /// The method's name in a request.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Get => "GET",
            Self::Delete => "DELETE",
        }
    }
}
