//! Tests of a client's steps.

mod answers;
mod rejections;
mod sending;
mod staleness;
mod sync;

use bytes::Bytes;

use super::{Method, StatefulClient, Step, Turn};
use crate::item::FingerprintKey;

const HELLO: &str = concat!(
    r#"{"type":"message","id":"msg_1","role":"assistant","status":"completed","#,
    r#""content":[{"type":"output_text","text":"Hello.","annotations":[]}]}"#,
);
const CALL: &str = concat!(
    r#"{"type":"function_call","id":"fc_1","call_id":"call_1","name":"echo","arguments":"{}","#,
    r#""status":"completed"}"#,
);
const NOW: i64 = 1_770_000_060;
const ITEMS: &str = "/conversations/conv_1/items?order=asc&limit=100";

fn client() -> StatefulClient {
    StatefulClient::new(FingerprintKey::new([7; 16]))
}

fn open(client: &StatefulClient, body: &str) -> Turn {
    client.open("account", Bytes::from(body.to_owned())).unwrap()
}

/// A turn in a conversation with these items as its input.
fn within(client: &StatefulClient, input: &str) -> Turn {
    open(client, &within_body(input))
}

fn within_body(input: &str) -> String {
    format!(r#"{{"model":"m","conversation":"conv_1","input":[{input}]}}"#)
}

fn user(text: &str) -> String {
    format!(r#"{{"role":"user","content":"{text}"}}"#)
}

fn output(call_id: &str) -> String {
    format!(r#"{{"type":"function_call_output","call_id":"{call_id}","output":"hi"}}"#)
}

fn page(items: &str) -> Bytes {
    format!(r#"{{"object":"list","data":[{items}],"has_more":false}}"#).into()
}

fn error(message: &str) -> Bytes {
    format!(r#"{{"error":{{"message":"{message}","code":null}}}}"#).into()
}

/// A response with this output, in one piece.
fn response(output: &str) -> String {
    format!(r#"{{"id":"resp_1","object":"response","status":"completed","output":[{output}]}}"#)
}

/// The path of the next question.
fn asked(turn: &Turn) -> String {
    match turn.step() {
        Step::Ask { method, path } => format!("{} {path}", method.as_str()),
        step => panic!("{step:?}"),
    }
}

fn get(path: &str) -> String {
    format!("{} {path}", Method::Get.as_str())
}

/// The body to send.
fn sent(turn: &Turn) -> String {
    match turn.step() {
        Step::Send { body } => String::from_utf8(body.into()).unwrap(),
        step => panic!("{step:?}"),
    }
}

/// Answers the question with these items of the conversation.
fn learns(turn: &mut Turn, items: &str) {
    assert_eq!(asked(turn), get(ITEMS));
    turn.record_answer(200, page(items));
}

/// Answers the turn in one piece.
fn ends(turn: &mut Turn, output: &str) {
    turn.start(false, NOW);
    turn.push(response(output).as_bytes(), NOW);
    turn.finish(NOW);
    assert_eq!(turn.step(), Step::Nothing);
}

/// A client that knows a conversation with a greeting and an answer.
fn client_with_history() -> StatefulClient {
    let client = client();
    let mut turn = within(&client, &user("Hi."));
    learns(&mut turn, "");
    ends(&mut turn, HELLO);
    client
}
