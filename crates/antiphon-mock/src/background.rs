//! Background responses.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::Frame;
use crate::account::Accounts;
use crate::turn::Run;

/// The number of events that announce a response: `response.created`, `response.in_progress`.
const BEGINNING: usize = 2;

/// A response that runs in the background.
///
/// It does not depend on time: each read advances it by one step, and delivering the last event of
/// its stream ends it. A caller that disconnects from the stream does not change it.
///
/// ```text
///   Queued ──read──▶ InProgress ──read──▶ Ended (the turn is stored)
///     │  │             │    │
///     │  └───streamed to its end─────▶ Ended
///     └──────cancelled─┴─────────────▶ Ended (`cancelled`, nothing is stored)
/// ```
#[derive(Debug)]
pub(crate) struct Background {
    frames: Vec<Frame>,
    stage: Stage,
}

#[derive(Debug)]
enum Stage {
    Queued(Box<Run>),
    InProgress(Box<Run>),
    Ended(Value),
}

/// The background responses of all accounts, by token and response id.
#[derive(Debug, Default)]
pub(crate) struct Backgrounds(BTreeMap<(String, String), Background>);

impl Backgrounds {
    /// Queues an accepted turn and returns the queued response object.
    pub(crate) fn queue(&mut self, run: Run) -> Value {
        let token = run.turn.token().to_owned();
        let queued = run.unfinished_response("queued");
        let background =
            Background { frames: run.rendered.frames.clone(), stage: Stage::Queued(Box::new(run)) };
        self.put(&token, queued["id"].as_str().unwrap_or_default(), background);
        queued
    }

    /// Returns the current response object and advances the response by one step.
    pub(crate) fn advance(
        &mut self,
        token: &str,
        id: &str,
        accounts: &mut Accounts,
    ) -> Option<Value> {
        let mut background = self.take(token, id)?;
        let (object, stage) = match background.stage {
            Stage::Queued(run) => (run.unfinished_response("in_progress"), Stage::InProgress(run)),
            Stage::InProgress(run) => ended(conclude(*run, accounts)),
            Stage::Ended(object) => ended(object),
        };
        background.stage = stage;
        self.put(token, id, background);
        Some(object)
    }

    /// Cancels the response and returns it. A response that has ended does not change.
    pub(crate) fn cancel(
        &mut self,
        token: &str,
        id: &str,
        accounts: &mut Accounts,
    ) -> Option<Value> {
        let mut background = self.take(token, id)?;
        let (object, stage) = match background.stage {
            Stage::Queued(run) | Stage::InProgress(run) => {
                let cancelled = run.unfinished_response("cancelled");
                run.discard(accounts);
                background.frames = cancelled_frames(&background.frames, &cancelled);
                ended(cancelled)
            }
            Stage::Ended(object) => ended(object),
        };
        background.stage = stage;
        self.put(token, id, background);
        Some(object)
    }

    /// Ends the response, because the last event of its stream was delivered.
    pub(crate) fn end(&mut self, token: &str, id: &str, accounts: &mut Accounts) {
        while self.is_open(token, id) {
            self.advance(token, id, accounts);
        }
    }

    /// Removes the response. An open one is cancelled first and stores nothing.
    pub(crate) fn discard(&mut self, token: &str, id: &str, accounts: &mut Accounts) -> bool {
        self.cancel(token, id, accounts);
        self.take(token, id).is_some()
    }

    /// The events of a response's whole stream.
    pub(crate) fn events(&self, token: &str, id: &str) -> Option<&[Frame]> {
        Some(&self.0.get(&key(token, id))?.frames)
    }

    fn is_open(&self, token: &str, id: &str) -> bool {
        let background = self.0.get(&key(token, id));
        background.is_some_and(|it| !matches!(it.stage, Stage::Ended(_)))
    }

    fn take(&mut self, token: &str, id: &str) -> Option<Background> {
        self.0.remove(&key(token, id))
    }

    fn put(&mut self, token: &str, id: &str, background: Background) {
        self.0.insert(key(token, id), background);
    }
}

/// Ends the turn with its answer and returns the response object.
fn conclude(run: Run, accounts: &mut Accounts) -> Value {
    let object = run.rendered.response.clone();
    run.finish(accounts);
    object
}

fn ended(object: Value) -> (Value, Stage) {
    (object.clone(), Stage::Ended(object))
}

/// The stream of a cancelled response: its first two events, then `response.failed`.
fn cancelled_frames(frames: &[Frame], cancelled: &Value) -> Vec<Frame> {
    let mut begun: Vec<Frame> = frames.iter().take(BEGINNING).cloned().collect();
    begun.push(Frame::event(&json!({
        "type": "response.failed",
        "sequence_number": begun.len(),
        "response": cancelled,
    })));
    begun.push(Frame::done());
    begun
}

fn key(token: &str, id: &str) -> (String, String) {
    (token.to_owned(), id.to_owned())
}
