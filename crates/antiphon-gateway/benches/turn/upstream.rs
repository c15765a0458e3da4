//! The upstream: each answer is a text of 60 words, as a stream of a delta for each, or as JSON.
//! Both are rendered once.

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
    let forms = [("text/event-stream", stream()), ("application/json", json())];
    while let Ok((connection, _)) = listener.accept().await {
        tokio::spawn(answer_all(connection, forms.clone()));
    }
}

async fn answer_all(mut connection: TcpStream, forms: [(&str, String); 2]) -> io::Result<()> {
    let [stream, json] = forms;
    let mut received = Vec::with_capacity(1 << 16);
    let mut answers = 0;
    while read_message(&mut connection, &mut received).await? {
        answers += 1;
        let is_streamed = memchr::memmem::find(&received, br#""stream":true"#).is_some();
        let (kind, text) = if is_streamed { &stream } else { &json };
        let body = text.replace(NUMBER, &format!("{answers:012}"));
        let length = body.len();
        let head =
            format!("HTTP/1.1 200 OK\r\ncontent-type: {kind}\r\ncontent-length: {length}\r\n\r\n");
        connection.write_all(&[head.as_bytes(), body.as_bytes()].concat()).await?;
    }
    Ok(())
}

/// The events of an answer, as a provider sends them.
fn stream() -> String {
    let words = words();
    let mut events = Events::default();
    let begun = json!({"response": response("in_progress", &[])});
    events.add("response.created", &begun);
    events.add("response.in_progress", &begun);
    let added = json!({"output_index": 0, "item": item("in_progress", &[])});
    events.add("response.output_item.added", &added);
    events.add_content("response.content_part.added", "part", &part(""));
    for index in 0..DELTAS {
        events.add_content("response.output_text.delta", "delta", &word(index).into());
    }
    events.add_content("response.output_text.done", "text", &words.as_str().into());
    events.add_content("response.content_part.done", "part", &part(&words));
    let done = item("completed", &[part(&words)]);
    events.add("response.output_item.done", &json!({"output_index": 0, "item": done}));
    events.add("response.completed", &json!({"response": response("completed", &[done])}));
    events.text + "data: [DONE]\n\n"
}

/// The same answer as JSON.
fn json() -> String {
    response("completed", &[item("completed", &[part(&words())])]).to_string()
}

fn response(status: &str, output: &[Value]) -> Value {
    json!({"id": format!("resp_{NUMBER}"), "object": "response", "created_at": 1_700_000_000,
        "status": status, "model": "m", "output": output})
}

fn item(status: &str, content: &[Value]) -> Value {
    json!({"id": format!("msg_{NUMBER}"), "type": "message", "status": status,
        "role": "assistant", "content": content})
}

fn part(text: &str) -> Value {
    json!({"type": "output_text", "text": text, "annotations": []})
}

fn words() -> String {
    (0..DELTAS).map(word).collect()
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
