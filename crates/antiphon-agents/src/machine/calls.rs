//! The open calls of a run.

use antiphon::Item;
use antiphon::item::CallKey;
use serde::{Deserialize, Serialize};

use super::inner::InnerRun;
use crate::item_json;
use crate::tool::Approval;
pub use crate::tool::tool_name;

/// A call without an output.
///
/// ```text
/// Unreviewed ---> AwaitsApproval ---> Ready ---> Started ---> its output
///      '--------------------------------^  ^         '---> OutcomeUnknown, after an interruption
///                                          |-- retry --------------'
///                                          '-- decisions -- InnerWaits <-- Started
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct OpenCall {
    #[serde(with = "item_json")]
    pub(crate) item: Item,
    pub(crate) status: CallStatus,
    /// The agent that made it. Early states do not name it.
    #[serde(default)]
    pub(crate) agent: String,
    /// The run inside it, if that has waited for decisions.
    pub(crate) inner: Option<InnerRun>,
}

/// The state of an open call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum CallStatus {
    /// Its tool decides whether it needs an approval.
    Unreviewed,
    /// The application decides whether it runs.
    AwaitsApproval,
    /// Its tool can run once that is stored.
    Ready,
    /// Its tool runs.
    Started,
    /// Its tool may have run in a process that died.
    OutcomeUnknown,
    /// A run inside it waits for decisions.
    InnerWaits,
}

impl OpenCall {
    pub(crate) fn new(item: Item, agent: &str, approval: Approval) -> Self {
        let status = match approval {
            Approval::Never => CallStatus::Ready,
            Approval::Always => CallStatus::AwaitsApproval,
            Approval::ByCall => CallStatus::Unreviewed,
        };
        Self { item, status, agent: agent.to_owned(), inner: None }
    }

    pub(crate) fn key(&self) -> CallKey {
        call_key(&self.item)
    }
}

/// The open calls, in the order of the model.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct OpenCalls(Vec<OpenCall>);

impl OpenCalls {
    pub(crate) fn push(&mut self, call: OpenCall) {
        self.0.push(call);
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Names the agent of calls without one.
    pub(crate) fn name_agents(&mut self, agent: &str) {
        for call in self.0.iter_mut().filter(|call| call.agent.is_empty()) {
            agent.clone_into(&mut call.agent);
        }
    }

    pub(crate) fn with_status(&self, status: CallStatus) -> impl Iterator<Item = &OpenCall> {
        self.0.iter().filter(move |call| call.status == status)
    }

    /// The items of the calls with this status.
    pub(crate) fn items(&self, status: CallStatus) -> Vec<Item> {
        self.with_status(status).map(|call| call.item.clone()).collect()
    }

    /// The calls to start next, if at most `limit` run at the same time.
    pub(crate) fn next_to_start(&self, limit: usize) -> impl Iterator<Item = &OpenCall> {
        let running = self.with_status(CallStatus::Started).count();
        self.with_status(CallStatus::Ready).take(limit.max(1).saturating_sub(running))
    }

    /// Records that these calls are started.
    pub(crate) fn start(&mut self, keys: &[CallKey]) {
        for call in self.0.iter_mut().filter(|call| call.status == CallStatus::Ready) {
            if keys.contains(&call.key()) {
                call.status = CallStatus::Started;
            }
        }
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &OpenCall> {
        self.0.iter()
    }

    pub(crate) fn contains(&self, key: &CallKey) -> bool {
        self.0.iter().any(|call| call.key() == *key)
    }

    pub(crate) fn iter_mut(&mut self) -> impl Iterator<Item = &mut OpenCall> {
        self.0.iter_mut()
    }

    /// The call with this `call_id`, whose status fits.
    pub(crate) fn find(
        &self,
        call_id: &str,
        fits: impl Fn(CallStatus) -> bool,
    ) -> Option<&OpenCall> {
        let is_it = |call: &&OpenCall| call.key().call_id.as_str() == call_id && fits(call.status);
        self.0.iter().find(is_it)
    }

    /// Records that the run inside a started call waits.
    pub(crate) fn pause(&mut self, key: &CallKey, inner: InnerRun) {
        let mut calls = self.0.iter_mut();
        let is_it = |call: &&mut OpenCall| call.status == CallStatus::Started && call.key() == *key;
        if let Some(call) = calls.find(is_it) {
            (call.status, call.inner) = (CallStatus::InnerWaits, Some(inner));
        }
    }

    /// Changes the status of a call from `from` to `to`.
    pub(crate) fn change(&mut self, key: &CallKey, from: CallStatus, to: CallStatus) {
        let mut calls = self.0.iter_mut();
        if let Some(call) = calls.find(|call| call.status == from && call.key() == *key) {
            call.status = to;
        }
    }

    /// Removes a call that has an output.
    pub(crate) fn remove(&mut self, key: &CallKey) -> Option<OpenCall> {
        let at = self.0.iter().position(|call| call.key() == *key)?;
        Some(self.0.remove(at))
    }

    pub(crate) fn take(&mut self) -> Vec<OpenCall> {
        std::mem::take(&mut self.0)
    }
}

/// The key that the output of a call must have.
///
/// # Panics
/// If the item is not a call that has an output. The steps of a machine have such calls only.
pub fn call_key(call: &Item) -> CallKey {
    call.head().pairing().expect("only calls that pair with an output are open").1
}
