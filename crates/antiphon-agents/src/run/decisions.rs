//! The application's decisions about calls.

use antiphon::Item;

use super::Run;
use crate::machine::{DecisionError, Pause, Step};

impl<C: Send + Sync + 'static> Run<C> {
    /// The calls that wait for decisions.
    pub fn waiting(&self) -> Vec<Pause> {
        match self.machine.step() {
            Step::Wait(pauses) => pauses,
            // The run was resumed, and has not read its session yet.
            Step::Load(_) => self.machine.pauses(),
            _ => Vec::new(),
        }
    }

    /// Approves a call: its tool runs.
    pub fn approve(&mut self, call_id: &str) -> Result<(), DecisionError> {
        self.reopen();
        self.machine.approve(call_id)
    }

    /// Rejects a call: the model reads `reason` in place of an output.
    pub fn reject(&mut self, call_id: &str, reason: &str) -> Result<(), DecisionError> {
        self.reopen();
        self.machine.reject(call_id, reason)
    }

    /// Approves all calls of a tool in this run: those that wait, and those to come. The tool of a
    /// hosted MCP server has the name `LABEL.NAME`, with the label of the server. The state of the
    /// run keeps the decision.
    pub fn approve_always(&mut self, tool: &str) {
        self.reopen();
        self.machine.approve_always(tool);
    }

    /// Rejects all calls of a tool in this run: those that wait for approval, and those to come.
    /// The model reads `reason` in place of their outputs. The state of the run keeps the decision.
    pub fn reject_always(&mut self, tool: &str, reason: &str) {
        self.reopen();
        self.machine.reject_always(tool, reason);
    }

    /// Runs the tool of a call with an unknown outcome again.
    pub fn retry(&mut self, call_id: &str) -> Result<(), DecisionError> {
        self.reopen();
        self.machine.retry(call_id)
    }

    /// Gives a call with an unknown outcome the output that the application found out. See
    /// [`output_item`](crate::tool::output_item).
    pub fn supply(&mut self, call_id: &str, output: Item) -> Result<(), DecisionError> {
        self.reopen();
        self.machine.supply(call_id, output)
    }

    /// Lets a run continue that waited. One that has ended or failed stays so.
    fn reopen(&mut self) {
        self.is_over &= self.machine.view().end().is_some() || self.error.is_some();
    }
}
