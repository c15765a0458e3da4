//! Whose data a store holds, and what becomes of it: `tenants`, `export` and `erase`.

mod erase;
mod export;
mod import;
mod ledgers;
mod list;
mod on_postgres;
mod tokens;

use std::path::PathBuf;

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::world::{Ended, Serving, World};

/// A file in a folder of its own, with what two tenants have in it.
pub(crate) struct Kept {
    folder: TempDir,
}

impl Kept {
    pub(crate) fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap() }
    }

    fn path(&self) -> PathBuf {
        self.folder.path().join("antiphon.db")
    }

    pub(crate) fn url(&self) -> String {
        format!("sqlite:{}", self.path().display())
    }

    /// A gateway on it, for the two tenants.
    pub(crate) fn serve(&self) -> Serving {
        serve(&self.url())
    }

    /// The command, told which store.
    pub(crate) fn antiphon(&self, args: &[&str]) -> Ended {
        antiphon(&self.url(), args)
    }
}

/// A gateway for two tenants, acme and globex.
fn serve(store: &str) -> Serving {
    let keys = ["--api-key", "key-of-acme=acme", "--api-key", "key-of-globex=globex"];
    World::serve(&[&["--listen", "127.0.0.1:0", "--store", store], &keys[..]].concat()).ready()
}

fn antiphon(store: &str, args: &[&str]) -> Ended {
    World::antiphon(&[args, &["--store", store]].concat()).ends()
}

/// Stops a gateway that others are to come after.
fn stop(serving: Serving) {
    serving.signal("TERM");
    assert!(serving.ended().0.success());
}

/// What a caller with this token is answered, which has to go well.
pub(crate) fn ask(serving: &Serving, token: &str, method: &str, path: &str, body: &Value) -> Value {
    let header = format!("authorization: Bearer {token}");
    let answer = serving.ask_with(method, path, &header, &body.to_string());
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    let (_, body) = answer.split_once("\r\n\r\n").unwrap();
    serde_json::from_str(body).unwrap()
}

fn id(of: &Value) -> &str {
    of["id"].as_str().unwrap()
}

/// What a tenant has who was busy.
pub(crate) struct Had {
    pub(crate) conversation: String,
    /// In the conversation, then a chain of two.
    pub(crate) responses: [String; 3],
}

/// A tenant has a conversation of a turn, from which an item was deleted, and a chain of two
/// responses. What it says is of this color.
pub(crate) fn is_busy(serving: &Serving, token: &str, color: &str) -> Had {
    let post = |path: &str, body: &Value| ask(serving, token, "POST", path, body);
    let first = json!({"type": "message", "role": "user", "content": "delete me"});
    let created =
        post("/v1/conversations", &json!({"metadata": {"topic": color}, "items": [first]}));
    let conversation = id(&created).to_owned();
    let items = format!("/v1/conversations/{conversation}/items");
    let listed = ask(serving, token, "GET", &items, &Value::Null);
    let deleted = format!("{items}/{}", id(&listed["data"][0]));
    ask(serving, token, "DELETE", &deleted, &Value::Null);
    let message = format!("My color is {color}");
    let within = post(
        "/v1/responses",
        &json!({"model": "sim", "input": message, "conversation": conversation}),
    );
    let received = post("/v1/responses", &json!({"model": "sim", "input": message}));
    let next =
        json!({"model": "sim", "input": "What is it?", "previous_response_id": id(&received)});
    let next = post("/v1/responses", &next);
    Had {
        conversation,
        responses: [&within, &received, &next].map(|response| id(response).to_owned()),
    }
}

/// Lines of JSON.
fn lines(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// What [`is_busy`] comes to, in words.
const BUSY: &str =
    "1 conversation, 3 responses, 0 open turns, 0 ledgers, 6 items and 1 trace of a deleted item";
