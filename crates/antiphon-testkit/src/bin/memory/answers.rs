//! Long answers: to callers that do not read, and one very long answer to a caller that does.

use std::error::Error;
use std::path::Path;

use antiphon_testkit::process::Gateway;

use crate::caller::Caller;
use crate::report::{Report, Row, wait_until_settled};
use crate::upstream::{Answer, Upstream};

/// A load of equal answers.
pub(crate) struct Load {
    name: &'static str,
    api: &'static str,
    readers: usize,
    streams: bool,
    reads: bool,
    /// The text of an answer: the number of pieces and the bytes in each.
    text: (usize, usize),
    /// The number of bytes a reader should get, if a limit is below the text's length.
    bound: Option<usize>,
}

/// 2 MB in pieces so long that socket buffers take much of an answer before the reader does.
const TWO_MEGABYTES: (usize, usize) = (100, 20_000);
const MANY: usize = 150;

const SLOW: Load = Load {
    name: "150 streams of 2 MB, unread",
    api: "responses",
    readers: MANY,
    streams: true,
    reads: false,
    text: TWO_MEGABYTES,
    bound: None,
};

const ENDLESS: Load = Load {
    name: "a stream of 200 MB of text",
    readers: 1,
    reads: true,
    text: (50_000, 4_000),
    bound: Some(64 << 20),
    ..SLOW
};

pub(crate) const LOADS: [Load; 7] = [
    SLOW,
    Load { name: "the same, from Chat Completions", api: "chat", ..SLOW },
    Load { name: "the same, from Anthropic Messages", api: "anthropic", ..SLOW },
    Load { name: "150 whole answers of 2 MB, unread", streams: false, ..SLOW },
    ENDLESS,
    Load { name: "the same, from Chat Completions", api: "chat", ..ENDLESS },
    Load { name: "the same, as a whole answer", streams: false, ..ENDLESS },
];

pub(crate) async fn measure(
    antiphon: &Path,
    load: Load,
    report: &mut Report,
) -> Result<(), Box<dyn Error>> {
    let upstream = Upstream::start(load.answer()).await?;
    let more = ["--upstream-api", load.api];
    let gateway = Gateway::start(antiphon, &upstream.base_url(), &more).await?;
    let body = format!(r#"{{"model":"m","input":"Hi","stream":{}}}"#, load.streams);
    let before = wait_until_settled(&gateway, true).await?;
    let mut callers = Vec::new();
    for _ in 0..load.readers {
        let request = ("POST", "/v1/responses");
        callers.push(Caller::send(gateway.address(), request, body.as_bytes()).await?);
    }
    let requested = load.bound.unwrap_or(load.text.0 * load.text.1) * load.readers;
    if load.reads {
        for caller in callers.drain(..) {
            // The gateway refuses a JSON answer over its limit; the refusal counts as an answer.
            drop(caller.read_to_end().await);
        }
    }
    wait_until_settled(&gateway, false).await?;
    let peak = gateway.memory()?.peak;
    drop(callers);
    report.add(Row::measure(&gateway, load.name, (before, peak), requested as u64).await?);
    Ok(())
}

impl Load {
    fn answer(&self) -> Answer {
        let (count, length) = self.text;
        match self.api {
            "chat" => chat_answer(count, length),
            "anthropic" => anthropic_answer(count, length),
            _ => responses_answer(count, length),
        }
    }
}

fn event(name: &str, data: &str) -> String {
    format!("event: {name}\ndata: {data}\n\n")
}

/// A message of `count` deltas of `length` bytes, in the form of the Responses API.
pub(crate) fn responses_answer(count: usize, length: usize) -> Answer {
    let begun = concat!(
        r#"{"type":"response.output_item.added","output_index":0,"item":{"type":"message","#,
        r#""id":"msg_1","role":"assistant","status":"in_progress","content":[]}}"#,
    );
    let text = "x".repeat(length);
    let part = r#""item_id":"msg_1","output_index":0,"content_index":0"#;
    let delta = format!(r#"{{"type":"response.output_text.delta",{part},"delta":"{text}"}}"#);
    let end = concat!(
        r#"{"type":"response.completed","#,
        r#""response":{"object":"response","status":"completed","output":[]}}"#,
    );
    Answer {
        head: event("response.output_item.added", begun),
        delta: event("response.output_text.delta", &delta),
        count,
        tail: event("response.completed", end),
    }
}

fn chat_answer(count: usize, length: usize) -> Answer {
    let chunk = |delta: &str, reason: &str| {
        format!(
            "data: {{\"id\":\"c\",\"object\":\"chat.completion.chunk\",\"choices\":[{{\"index\":0,\
             \"delta\":{delta},\"finish_reason\":{reason}}}]}}\n\n"
        )
    };
    let text = "x".repeat(length);
    Answer {
        head: chunk(r#"{"role":"assistant","content":""}"#, "null"),
        delta: chunk(&format!(r#"{{"content":"{text}"}}"#), "null"),
        count,
        tail: chunk("{}", "\"stop\"") + "data: [DONE]\n\n",
    }
}

fn anthropic_answer(count: usize, length: usize) -> Answer {
    let text = "x".repeat(length);
    let message = concat!(
        r#"{"type":"message_start","message":{"id":"m","type":"message","role":"assistant","#,
        r#""content":[],"model":"m","usage":{"input_tokens":1,"output_tokens":1}}}"#,
    );
    let block =
        r#"{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}"#;
    let delta = format!(r#"{{"type":"text_delta","text":"{text}"}}"#);
    let delta = format!(r#"{{"type":"content_block_delta","index":0,"delta":{delta}}}"#);
    let stop = r#"{"type":"content_block_stop","index":0}"#;
    let end = concat!(
        r#"{"type":"message_delta","delta":{"stop_reason":"end_turn"},"#,
        r#""usage":{"output_tokens":9}}"#,
    );
    Answer {
        head: event("message_start", message) + &event("content_block_start", block),
        delta: event("content_block_delta", &delta),
        count,
        tail: event("content_block_stop", stop)
            + &event("message_delta", end)
            + &event("message_stop", r#"{"type":"message_stop"}"#),
    }
}
