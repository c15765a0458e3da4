//! Responses that are made in the background.

use std::collections::BTreeMap;

use antiphon_testkit::Frame;
use serde_json::{Value, json};

use crate::turn::Run;
use crate::world::World;

/// How many events tell that a response has begun.
const BEGINNING: usize = 2;

/// A response that is made while its caller looks after other things.
///
/// Nothing here takes time: it goes one step further whenever it is looked at, and is over when the
/// end of its stream is told. A caller that leaves its stream changes nothing.
///
/// ```text
///   Queued ──looked at──▶ InProgress ──looked at──▶ Ended (its turn is kept)
///     │  │                  │    │
///     │  └──────streamed to its end──────▶ Ended
///     └───────cancelled─────┴─────────────▶ Ended (`cancelled`, nothing is kept)
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

/// Those of all accounts, by token and response.
#[derive(Debug, Default)]
pub(crate) struct Backgrounds(BTreeMap<(String, String), Background>);

impl World {
    /// Takes an accepted turn on; gives the response as it is queued.
    pub(crate) fn queue(&mut self, run: Run) -> Value {
        let token = run.turn.token().to_owned();
        let queued = run.standing("queued");
        let background =
            Background { frames: run.made.frames.clone(), stage: Stage::Queued(Box::new(run)) };
        self.backgrounds.0.insert(key(&token, &queued["id"]), background);
        queued
    }

    /// The response as it stands; it is one step further the next time.
    pub(crate) fn look_at(&mut self, token: &str, id: &str) -> Option<Value> {
        let mut background = self.backgrounds.0.remove(&key(token, &id.into()))?;
        let (object, stage) = match background.stage {
            Stage::Queued(run) => (run.standing("in_progress"), Stage::InProgress(run)),
            Stage::InProgress(run) => {
                let object = self.conclude(*run);
                (object.clone(), Stage::Ended(object))
            }
            Stage::Ended(object) => (object.clone(), Stage::Ended(object)),
        };
        background.stage = stage;
        self.backgrounds.0.insert(key(token, &id.into()), background);
        Some(object)
    }

    /// The response as it is once it is cancelled; one that has ended stays what it is.
    pub(crate) fn cancel(&mut self, token: &str, id: &str) -> Option<Value> {
        let mut background = self.backgrounds.0.remove(&key(token, &id.into()))?;
        let object = match background.stage {
            Stage::Queued(run) | Stage::InProgress(run) => {
                let object = run.standing("cancelled");
                run.drop_from(self);
                background.frames = cut_short(&background.frames, &object);
                object
            }
            Stage::Ended(object) => object,
        };
        background.stage = Stage::Ended(object.clone());
        self.backgrounds.0.insert(key(token, &id.into()), background);
        Some(object)
    }

    /// The end of its stream is told, so it is over.
    pub(crate) fn end(&mut self, token: &str, id: &str) {
        while self.is_under_way(token, id) {
            self.look_at(token, id);
        }
    }

    /// Removes it; whatever it was about to leave is not left.
    pub(crate) fn discard(&mut self, token: &str, id: &str) -> bool {
        let is_there = self.cancel(token, id).is_some();
        self.backgrounds.0.remove(&key(token, &id.into()));
        is_there
    }

    /// The events of its stream.
    pub(crate) fn events_of(&self, token: &str, id: &str) -> Option<&[Frame]> {
        let background = self.backgrounds.0.get(&key(token, &id.into()))?;
        Some(&background.frames)
    }

    fn is_under_way(&self, token: &str, id: &str) -> bool {
        let background = self.backgrounds.0.get(&key(token, &id.into()));
        background.is_some_and(|it| !matches!(it.stage, Stage::Ended(_)))
    }

    fn conclude(&mut self, run: Run) -> Value {
        let object = run.made.response.clone();
        run.finish(self);
        object
    }
}

/// The stream of a response that was cancelled: it had only begun, and it fails.
fn cut_short(frames: &[Frame], cancelled: &Value) -> Vec<Frame> {
    let mut begun: Vec<Frame> = frames.iter().take(BEGINNING).cloned().collect();
    begun.push(Frame::event(&json!({
        "type": "response.failed",
        "sequence_number": begun.len(),
        "response": cancelled,
    })));
    begun.push(Frame::done());
    begun
}

fn key(token: &str, id: &Value) -> (String, String) {
    (token.to_owned(), id.as_str().unwrap_or_default().to_owned())
}
