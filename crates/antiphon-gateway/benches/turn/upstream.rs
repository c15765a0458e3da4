//! The upstream: each answer is a stream of 60 deltas, rendered once.

use std::fmt::Write as _;
use std::io;

use serde_json::{Value, json};
use tokio::io::AsyncWriteExt as _;
use tokio::net::{TcpListener, TcpStream};

use crate::wire::read_message;

const DELTAS: usize = 60;
/// The part of each id that differs from answer to answer.
const NUMBER: &str = "000000000000";

pub(crate) async fn serve(listener: TcpListener) {
    let stream = stream();
    while let Ok((connection, _)) = listener.accept().await {
        tokio::spawn(answer_all(connection, stream.clone()));
    }
}

async fn answer_all(mut connection: TcpStream, stream: String) -> io::Result<()> {
    let mut received = Vec::with_capacity(1 << 16);
    let mut answers = 0;
    while read_message(&mut connection, &mut received).await? {
        answers += 1;
        let body = stream.replace(NUMBER, &format!("{answers:012}"));
        let length = body.len();
        let head = format!(
            "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncontent-length: {length}\r\n\r\n"
        );
        connection.write_all(&[head.as_bytes(), body.as_bytes()].concat()).await?;
    }
    Ok(())
}

/// The events of an answer, as a provider sends them.
fn stream() -> String {
    let words: String = (0..DELTAS).map(word).collect();
    let part = |text: &str| json!({"type": "output_text", "text": text, "annotations": []});
    let item = |status: &str, content: &[Value]| {
        json!({"id": format!("msg_{NUMBER}"), "type": "message", "status": status,
            "role": "assistant", "content": content})
    };
    let response = |status: &str, output: &[Value]| {
        json!({"response": {"id": format!("resp_{NUMBER}"), "object": "response", "model": "m",
            "created_at": 1_700_000_000, "status": status, "output": output}})
    };
    let done = item("completed", &[part(&words)]);
    let mut events = Events::default();
    events.add("response.created", &response("in_progress", &[]));
    events.add("response.in_progress", &response("in_progress", &[]));
    let added = json!({"output_index": 0, "item": item("in_progress", &[])});
    events.add("response.output_item.added", &added);
    events.add_content("response.content_part.added", "part", &part(""));
    for index in 0..DELTAS {
        events.add_content("response.output_text.delta", "delta", &word(index).into());
    }
    events.add_content("response.output_text.done", "text", &words.as_str().into());
    events.add_content("response.content_part.done", "part", &part(&words));
    let item = json!({"output_index": 0, "item": done});
    events.add("response.output_item.done", &item);
    events.add("response.completed", &response("completed", &[done]));
    events.text + "data: [DONE]\n\n"
}

fn word(index: usize) -> String {
    format!(" word{index:02}")
}

#[derive(Default)]
struct Events {
    text: String,
    count: usize,
}

impl Events {
    fn add(&mut self, name: &str, fields: &Value) {
        let (number, fields) = (self.count, fields.to_string());
        let fields = fields.trim_start_matches('{');
        let event = format!(r#"{{"type":"{name}","sequence_number":{number},{fields}"#);
        write!(self.text, "event: {name}\ndata: {event}\n\n").expect("a string takes all");
        self.count += 1;
    }

    /// An event of the item's one content part.
    fn add_content(&mut self, name: &str, key: &str, value: &Value) {
        let fields = json!({"item_id": format!("msg_{NUMBER}"), "output_index": 0,
            "content_index": 0, "logprobs": [], key: value});
        self.add(name, &fields);
    }
}
