//! The delivery of a turn's answer, and what it does to the turn.

use std::sync::Arc;

use antiphon_testkit::{Frame, Outcome, Witness};
use serde_json::Value;

use super::Run;
use crate::world::{Shared, World};

/// Ends the turn as its answer goes out: just before the terminal event, so that who has read it
/// finds the turn kept, or when the caller leaves before that. A turn in the background ends in the
/// same way, but no caller that leaves ends it.
///
/// ```text
///            terminal event goes out
///   Open ────────────────────────────▶ Over (kept)
///    │   caller leaves, or is cut off
///    └───────────────────────────────▶ Over (as `OnAbort` says)
/// ```
#[derive(Debug)]
pub(crate) struct Course {
    shared: Arc<Shared>,
    state: State,
}

#[derive(Debug)]
enum State {
    Open { run: Box<Run>, marks: Vec<Mark>, done: Vec<Value> },
    InBackground { token: String, id: String, end: usize },
    Over,
}

/// What a chunk of the answer means for the turn.
#[derive(Clone, Debug)]
enum Mark {
    Nothing,
    ItemDone(Value),
    End,
}

impl Course {
    /// The course of an answer that is streamed.
    pub(crate) fn streamed(shared: &Arc<Shared>, run: Run) -> Self {
        let marks = run.made.frames.iter().map(Mark::of).collect();
        Self::open(shared, run, marks)
    }

    /// The course of an answer that is given in one piece.
    pub(crate) fn in_one_piece(shared: &Arc<Shared>, run: Run) -> Self {
        Self::open(shared, run, vec![Mark::End])
    }

    /// The course of these events of a turn in the background.
    pub(crate) fn in_background(
        shared: &Arc<Shared>,
        token: String,
        id: String,
        events: &[Frame],
    ) -> Self {
        let is_end = |frame: &Frame| matches!(Mark::of(frame), Mark::End);
        let state = match events.iter().position(is_end) {
            Some(end) => State::InBackground { token, id, end },
            None => State::Over,
        };
        Self { shared: Arc::clone(shared), state }
    }

    /// The course of what changes nothing.
    pub(crate) fn of_no_turn(shared: &Arc<Shared>) -> Self {
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

impl Witness for Course {
    fn sending(&mut self, index: usize) {
        match &mut self.state {
            State::Open { marks, done, .. } => match marks.get(index) {
                Some(Mark::ItemDone(item)) => done.push(item.clone()),
                Some(Mark::End) => self.end(|run, _, world| run.finish(world)),
                Some(Mark::Nothing) | None => {}
            },
            State::InBackground { token, id, end } if *end == index => {
                self.shared.world().end(token, id);
            }
            State::InBackground { .. } | State::Over => {}
        }
    }

    fn over(&mut self, _: Outcome) {
        self.end(Run::abandon);
    }
}

impl Mark {
    fn of(frame: &Frame) -> Self {
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
