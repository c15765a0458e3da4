//! How a run is cancelled.

/// When a cancelled run stops.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CancelMode {
    /// At once; what is under way is cut off.
    Immediate,
    /// When the turn that runs is over: the model has answered, its tools have run, all is saved.
    AfterTurn,
}

/// A part of a turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// The model answers.
    Model,
    /// The tools that it called run.
    Tools,
    /// What the turn made is saved.
    Save,
}

/// What a run does next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// The next part of this turn, or the first of the next one.
    Enter(Phase),
    /// Nothing: the run has stopped.
    Stop,
}

/// What a cancellation asks of whoever runs the agent, at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CancelEffect {
    /// Abort what is under way, drop the events that wait, and wake every consumer that waits for
    /// one: none will come.
    Unblock,
    /// Nothing now: the turn goes on to its end.
    FinishTurn,
    /// Nothing: it was cancelled before, or is over.
    None,
}

/// Whether a run goes on.
///
/// ```text
/// Running --after turn--> Finishing --turn saved--> Stopped
///    '------ immediate -------'----- immediate ------^
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cancellation(State);

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum State {
    #[default]
    Running,
    Finishing,
    Stopped,
}

impl Cancellation {
    /// Somebody cancels the run.
    pub fn cancel(&mut self, mode: CancelMode) -> CancelEffect {
        match (self.0, mode) {
            (State::Running | State::Finishing, CancelMode::Immediate) => {
                self.0 = State::Stopped;
                CancelEffect::Unblock
            }
            (State::Running, CancelMode::AfterTurn) => {
                self.0 = State::Finishing;
                CancelEffect::FinishTurn
            }
            (State::Finishing | State::Stopped, _) => CancelEffect::None,
        }
    }

    /// A part of the turn is over. Tools run only where the model called some, but a turn is always
    /// saved.
    pub fn after(&mut self, phase: Phase) -> Step {
        match (self.0, phase) {
            (State::Stopped, _) => Step::Stop,
            (_, Phase::Model) => Step::Enter(Phase::Tools),
            (_, Phase::Tools) => Step::Enter(Phase::Save),
            (State::Running, Phase::Save) => Step::Enter(Phase::Model),
            (State::Finishing, Phase::Save) => {
                self.0 = State::Stopped;
                Step::Stop
            }
        }
    }
}
