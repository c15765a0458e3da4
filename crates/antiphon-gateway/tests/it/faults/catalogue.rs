//! What upstreams do wrong.

use std::time::Duration;

use antiphon_gateway::settings::UpstreamSettings;
use antiphon_mock::{Answer, Api, Frame, Reply};
use bytes::Bytes;
use http::StatusCode;
use serde_json::json;

use crate::support::OTHER_MODEL;

const SHORT: Duration = Duration::from_millis(50);
/// Short, and long enough for the headers of an answer to come before.
const AFTER_HEADERS: Duration = Duration::from_millis(300);
/// The bound on an event and on a whole answer where that is what is passed.
const SMALL: usize = 1 << 16;

/// One kind of misbehaviour.
#[derive(Clone, Copy)]
pub(super) struct Fault {
    /// What the upstream does, in words.
    pub(super) name: &'static str,
    pub(super) reply: fn(Api) -> Reply,
    /// What of its settings makes it show within a test.
    pub(super) settings: fn(&mut UpstreamSettings),
}

/// A fault that needs no settings of its own.
const fn fault(name: &'static str, reply: fn(Api) -> Reply) -> Fault {
    Fault { name, reply, settings: |_| {} }
}

/// All of them, from the connection to the end of an answer.
pub(super) fn catalogue() -> Vec<Fault> {
    [connections(), refusals(), bodies(), silence(), breaks(), events(), endings()].concat()
}

fn connections() -> Vec<Fault> {
    vec![
        fault("closes the connection without an answer", |_| Reply::hangup()),
        fault("breaks the connection after the headers", |api| {
            Reply::sse(frames(api)).break_after(0)
        }),
    ]
}

fn refusals() -> Vec<Fault> {
    vec![
        fault("429 with `Retry-After: 60`", |_| {
            error(429, "rate_limit_exceeded").header("retry-after", "60")
        }),
        fault("500", |_| error(500, "server_error")),
        fault("529", |_| error(529, "overloaded_error")),
        fault("a page with status 502", |_| {
            Reply::new(StatusCode::BAD_GATEWAY, "text/html", "<html>Bad gateway</html>")
        }),
        fault("a redirect, 307", |_| {
            let redirect = Reply::new(StatusCode::TEMPORARY_REDIRECT, "text/html", "");
            redirect.header("location", "http://127.0.0.1:9/v1/responses")
        }),
        fault("204, no content", |_| Reply::new(StatusCode::NO_CONTENT, "text/plain", "")),
    ]
}

fn bodies() -> Vec<Fault> {
    vec![
        fault("a page with status 200", |_| {
            Reply::new(StatusCode::OK, "text/html", "<html>It works!</html>")
        }),
        fault("a good stream with a wrong content type", |api| {
            Reply::new(StatusCode::OK, "text/plain", wire(&frames(api)))
        }),
        fault("a compressed body that was not asked for", |_| {
            let zipped = Bytes::from_static(b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03");
            Reply::new(StatusCode::OK, "text/event-stream", zipped)
                .header("content-encoding", "gzip")
        }),
        fault("status 200 with an error object", |_| {
            let error = json!({"error": {"message": "Overloaded.", "type": "server_error"}});
            Reply::json(StatusCode::OK, &error)
        }),
        fault("JSON of another kind", |_| {
            Reply::json(StatusCode::OK, &json!({"object": "list", "data": []}))
        }),
        fault("an empty body of JSON", |_| Reply::new(StatusCode::OK, "application/json", "")),
        fault("a body that is shorter than its content length", |api| {
            Reply::json(StatusCode::OK, &answer().json_for(api)).header("content-length", "100000")
        }),
        Fault {
            name: "a whole answer over the bound",
            reply: |_| Reply::new(StatusCode::OK, "application/json", vec![b' '; 2 * SMALL]),
            settings: |upstream| upstream.max_answer = SMALL,
        },
    ]
}

fn silence() -> Vec<Fault> {
    vec![
        Fault {
            name: "headers that never come",
            reply: |api| Reply::sse(frames(api)).withhold_head(),
            settings: |upstream| upstream.first_byte_timeout = SHORT,
        },
        Fault {
            name: "headers, and then nothing",
            reply: |api| Reply::sse(frames(api)).gated(),
            settings: |upstream| upstream.first_byte_timeout = AFTER_HEADERS,
        },
        Fault {
            name: "hangs behind its first event",
            reply: |api| Reply::sse(frames(api)).hang_after(1),
            settings: |upstream| upstream.idle_timeout = SHORT,
        },
        Fault {
            name: "hangs in the middle of a message",
            reply: |api| Reply::sse(frames(api)).hang_after(middle_position(api)),
            settings: |upstream| upstream.idle_timeout = SHORT,
        },
        Fault {
            name: "comments that keep the connection open, and nothing else",
            reply: |_| {
                let comments = std::iter::repeat_n(Frame::raw(": still there\n\n"), 1000);
                Reply::sse(comments).hang_after(999)
            },
            settings: |upstream| upstream.total_timeout = AFTER_HEADERS,
        },
    ]
}

fn breaks() -> Vec<Fault> {
    vec![
        fault("an empty stream", |_| Reply::new(StatusCode::OK, "text/event-stream", "")),
        fault("breaks the connection behind the first event", |api| {
            Reply::sse(frames(api)).break_after(1)
        }),
        fault("ends behind the first event", |api| Reply::sse(frames(api)).end_after(1)),
        fault("breaks the connection between two events of a message", |api| {
            Reply::sse(frames(api)).break_after(middle_position(api))
        }),
        fault("breaks the connection inside an event", |api| {
            let whole = wire(&frames(api)[..middle_position(api)]);
            let cut = whole.slice(..whole.len() - 9);
            Reply::new(StatusCode::OK, "text/event-stream", cut).break_after(1)
        }),
        fault("ends inside an event", |api| {
            let whole = wire(&frames(api));
            Reply::new(StatusCode::OK, "text/event-stream", whole.slice(..whole.len() / 2))
        }),
    ]
}

fn events() -> Vec<Fault> {
    vec![
        fault("garbage in an event", |api| {
            insert_in_middle(api, Frame::raw("data: {not json\n\n"))
        }),
        fault("garbage that is no event stream", |_| {
            let garbage = Bytes::from_static(b"\xff\xfe\x00\x01\n\n\x80\x81\n\n");
            Reply::new(StatusCode::OK, "text/event-stream", garbage)
        }),
        Fault {
            name: "an event over the bound",
            reply: |api| insert_in_middle(api, Frame::raw(vec![b'x'; 2 * SMALL])),
            settings: |upstream| upstream.max_answer = SMALL,
        },
        fault("an event of an unknown type", |api| {
            let unknown = json!({"type": "acme:weather", "sky": "blue"});
            insert_in_middle(api, Frame::data(&unknown))
        }),
        fault("comments among the events", |api| {
            insert_in_middle(api, Frame::raw(": still there\n\n"))
        }),
    ]
}

fn endings() -> Vec<Fault> {
    vec![
        fault("a failure before any output", |api| {
            Reply::sse(Answer::new(OTHER_MODEL).failed(code(api), "Overloaded.").frames_for(api))
        }),
        fault("a failure after output", |api| {
            Reply::sse(answer().failed(code(api), "Overloaded.").frames_for(api))
        }),
        fault("no terminal event", |api| Reply::sse(frames(api)).end_after(terminal_position(api))),
        fault("two terminal events", |api| {
            let frames = frames(api);
            let again = frames[terminal_position(api)..].to_vec();
            Reply::sse(frames.into_iter().chain(again))
        }),
        fault("more events behind the terminal one", |api| {
            let frames = frames(api);
            let again = frames[..terminal_position(api)].to_vec();
            Reply::sse(frames.into_iter().chain(again))
        }),
    ]
}

/// What would have been said.
fn answer() -> Answer {
    let asked = json!({"stream_options": {"include_usage": true}});
    Answer::new(OTHER_MODEL).message("A good name for a dog.").request(&asked)
}

fn frames(api: Api) -> Vec<Frame> {
    answer().frames_for(api)
}

fn wire(frames: &[Frame]) -> Bytes {
    frames.iter().flat_map(|frame| frame.bytes().clone()).collect()
}

/// How many frames there are up to somewhere in the text.
fn middle_position(api: Api) -> usize {
    match api {
        Api::Responses => 6,
        Api::Anthropic => 5,
        Api::Chat => 4,
    }
}

/// How many frames there are before those that end the answer: the Responses API has its event and
/// `[DONE]`, Chat Completions the reason, the usage and `[DONE]`, Anthropic Messages
/// `message_delta` and `message_stop`.
fn terminal_position(api: Api) -> usize {
    let last = if api == Api::Chat { 3 } else { 2 };
    frames(api).len() - last
}

/// The answer with this frame in its middle.
fn insert_in_middle(api: Api, frame: Frame) -> Reply {
    let mut frames = frames(api);
    frames.insert(middle_position(api), frame);
    Reply::sse(frames)
}

fn error(status: u16, code: &str) -> Reply {
    let status = StatusCode::from_u16(status).expect("it is a status");
    let error = json!({"message": "Not now.", "type": code, "param": null, "code": code});
    Reply::json(status, &json!({"error": error}))
}

fn code(api: Api) -> &'static str {
    if api == Api::Anthropic { "overloaded_error" } else { "server_error" }
}
