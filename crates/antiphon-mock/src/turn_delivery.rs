//! The delivery of a turn's answer, and its effect on the turn.

use std::sync::Arc;

use serde_json::Value;

use crate::turn::Run;
use crate::world::{Shared, World};
use crate::{Frame, Outcome, Witness};

/// Ends the turn while its answer is delivered: just before the terminal event, so that a caller
/// that has read this event finds the turn stored, or when the caller disconnects earlier. A
/// background turn ends in the same way, but a disconnect does not end it.
///
/// ```text
///            terminal event is sent
///   Open ────────────────────────────▶ Over (stored)
///    │   caller disconnects, or the provider breaks the connection
///    └───────────────────────────────▶ Over (`OnAbort` decides)
/// ```
#[derive(Debug)]
pub(crate) struct TurnDelivery {
    shared: Arc<Shared>,
    state: State,
}

#[derive(Debug)]
enum State {
    Open { run: Box<Run>, marks: Vec<Mark>, done: Vec<Value> },
    InBackground { token: String, id: String, end: usize },
    Over,
}

/// The effect of one chunk of the answer on the turn.
#[derive(Clone, Debug)]
enum Mark {
    Nothing,
    ItemDone(Value),
    End,
}

impl TurnDelivery {
    /// The delivery of a streamed answer.
    pub(crate) fn streamed(shared: &Arc<Shared>, run: Run) -> Self {
        let marks = run.rendered.frames.iter().map(Mark::new).collect();
        Self::open(shared, run, marks)
    }

    /// The delivery of an answer in one JSON body.
    pub(crate) fn json(shared: &Arc<Shared>, run: Run) -> Self {
        Self::open(shared, run, vec![Mark::End])
    }

    /// The delivery of these events of a background turn.
    pub(crate) fn in_background(
        shared: &Arc<Shared>,
        token: String,
        id: String,
        events: &[Frame],
    ) -> Self {
        let is_end = |frame: &Frame| matches!(Mark::new(frame), Mark::End);
        let state = match events.iter().position(is_end) {
            Some(end) => State::InBackground { token, id, end },
            None => State::Over,
        };
        Self { shared: Arc::clone(shared), state }
    }

    /// The delivery of a reply that changes no turn.
    pub(crate) fn without_turn(shared: &Arc<Shared>) -> Self {
        Self { shared: Arc::clone(shared), state: State::Over }
    }

    fn open(shared: &Arc<Shared>, run: Run, marks: Vec<Mark>) -> Self {
        shared.open_turns.send_modify(|count| *count += 1);
        let state = State::Open { run: Box::new(run), marks, done: Vec::new() };
        Self { shared: Arc::clone(shared), state }
    }

    fn end(&mut self, how: impl FnOnce(Run, Vec<Value>, &mut World)) {
        if let State::Open { run, done, .. } = std::mem::replace(&mut self.state, State::Over) {
            how(*run, done, &mut self.shared.world());
            self.shared.open_turns.send_modify(|count| *count -= 1);
        }
    }
}

impl Witness for TurnDelivery {
    fn sending(&mut self, index: usize) {
        match &mut self.state {
            State::Open { marks, done, .. } => match marks.get(index) {
                Some(Mark::ItemDone(item)) => done.push(item.clone()),
                Some(Mark::End) => self.end(|run, _, world| run.finish(&mut world.accounts)),
                Some(Mark::Nothing) | None => {}
            },
            State::InBackground { token, id, end } if *end == index => {
                self.shared.world().end(token, id);
            }
            State::InBackground { .. } | State::Over => {}
        }
    }

    fn over(&mut self, _: Outcome) {
        self.end(|run, done, world| run.abandon(done, world.on_abort, &mut world.accounts));
    }
}

impl Mark {
    fn new(frame: &Frame) -> Self {
        match frame.name() {
            Some("response.output_item.done") => {
                let event = frame.json().unwrap_or_default();
                Self::ItemDone(event["item"].clone())
            }
            Some("response.completed" | "response.incomplete" | "response.failed") => Self::End,
            _ => Self::Nothing,
        }
    }
}
