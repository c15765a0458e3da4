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

impl Backgrounds {
    /// The events of a response's stream.
    pub(crate) fn events_of(&self, token: &str, id: &str) -> Option<&[Frame]> {
        Some(&self.0.get(&key(token, id))?.frames)
    }

    fn is_under_way(&self, token: &str, id: &str) -> bool {
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

impl World {
    /// Takes an accepted turn on; gives the response as it is queued.
    pub(crate) fn queue(&mut self, run: Run) -> Value {
        let token = run.turn.token().to_owned();
        let queued = run.standing("queued");
        let background =
            Background { frames: run.made.frames.clone(), stage: Stage::Queued(Box::new(run)) };
        self.backgrounds.put(&token, queued["id"].as_str().unwrap_or_default(), background);
        queued
    }

    /// The response as it stands; it is one step further the next time.
    pub(crate) fn look_at(&mut self, token: &str, id: &str) -> Option<Value> {
        let mut background = self.backgrounds.take(token, id)?;
        let (object, stage) = match background.stage {
            Stage::Queued(run) => (run.standing("in_progress"), Stage::InProgress(run)),
            Stage::InProgress(run) => ended(self.conclude(*run)),
            Stage::Ended(object) => ended(object),
        };
        background.stage = stage;
        self.backgrounds.put(token, id, background);
        Some(object)
    }

    /// The response as it is once it is cancelled; one that has ended stays what it is.
    pub(crate) fn cancel(&mut self, token: &str, id: &str) -> Option<Value> {
        let mut background = self.backgrounds.take(token, id)?;
        let (object, stage) = match background.stage {
            Stage::Queued(run) | Stage::InProgress(run) => {
                let cancelled = run.standing("cancelled");
                run.drop_from(self);
                background.frames = cut_short(&background.frames, &cancelled);
                ended(cancelled)
            }
            Stage::Ended(object) => ended(object),
        };
        background.stage = stage;
        self.backgrounds.put(token, id, background);
        Some(object)
    }

    /// The end of its stream is told, so it is over.
    pub(crate) fn end(&mut self, token: &str, id: &str) {
        while self.backgrounds.is_under_way(token, id) {
            self.look_at(token, id);
        }
    }

    /// Removes it; whatever it was about to leave is not left.
    pub(crate) fn discard(&mut self, token: &str, id: &str) -> bool {
        self.cancel(token, id);
        self.backgrounds.take(token, id).is_some()
    }

    fn conclude(&mut self, run: Run) -> Value {
        let object = run.made.response.clone();
        run.finish(self);
        object
    }
}

fn ended(object: Value) -> (Value, Stage) {
    (object.clone(), Stage::Ended(object))
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

fn key(token: &str, id: &str) -> (String, String) {
    (token.to_owned(), id.to_owned())
}
