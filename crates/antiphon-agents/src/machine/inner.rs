//! Runs inside calls: the tool of a call runs an agent, which may wait for decisions.

use antiphon::Item;
use antiphon::item::CallKey;
use serde::{Deserialize, Serialize};

use super::calls::{CallStatus, OpenCall, OpenCalls, call_key};
use super::decisions::Decision;
use super::{Machine, Pause};
use crate::item_json;
use crate::usage::RunUsage;

/// A run inside a call, which waits for decisions.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct InnerRun {
    /// The JSON of its state.
    pub(crate) state: String,
    waiting: Vec<InnerCall>,
    /// Whether the state of the outer run with this one is stored.
    is_saved: bool,
}

/// A call of a run inside another call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct InnerCall {
    #[serde(with = "item_json")]
    item: Item,
    status: CallStatus,
    decision: Option<Decision>,
}

impl InnerRun {
    pub(crate) fn new(state: String, waiting: &[Pause]) -> Self {
        let call = |pause: &Pause| {
            let status = match pause {
                Pause::Approval(_) => CallStatus::AwaitsApproval,
                Pause::UnknownOutcome(_) => CallStatus::OutcomeUnknown,
            };
            InnerCall { item: pause.call().clone(), status, decision: None }
        };
        Self { state, waiting: waiting.iter().map(call).collect(), is_saved: false }
    }

    /// The decisions about its calls.
    pub(crate) fn decisions(&self) -> impl Iterator<Item = (CallKey, &Decision)> {
        self.waiting.iter().filter_map(|call| Some((call_key(&call.item), call.decision.as_ref()?)))
    }

    fn undecided(&self) -> impl Iterator<Item = &InnerCall> {
        self.waiting.iter().filter(|call| call.decision.is_none())
    }
}

impl OpenCall {
    /// The decisions that the call waits for, or those of the run inside it.
    pub(super) fn pauses(&self) -> Vec<Pause> {
        let pause = |status: CallStatus, item: &Item| match status {
            CallStatus::AwaitsApproval => Some(Pause::Approval(item.clone())),
            CallStatus::OutcomeUnknown => Some(Pause::UnknownOutcome(item.clone())),
            _ => None,
        };
        match (&self.inner, self.status) {
            (Some(inner), CallStatus::InnerWaits) => {
                inner.undecided().filter_map(|call| pause(call.status, &call.item)).collect()
            }
            _ => pause(self.status, &self.item).into_iter().collect(),
        }
    }
}

impl OpenCalls {
    /// Records a decision about a call of a run inside another call. Returns whether there is such
    /// a call.
    pub(super) fn decide_inner(&mut self, call_id: &str, decision: &Decision) -> bool {
        let mut is_found = false;
        self.each_inner(|call| {
            let is_it = call_key(&call.item).call_id.as_str() == call_id;
            let fits = !is_found && is_it && decision.fits(call.status);
            is_found |= fits;
            fits.then(|| decision.clone())
        });
        is_found
    }

    /// Records the decisions about calls that wait for an approval in runs inside other calls.
    pub(super) fn apply_inner<'a>(&mut self, decision: impl Fn(&Item) -> Option<&'a Decision>) {
        self.each_inner(|call| {
            let awaits_approval = call.status == CallStatus::AwaitsApproval;
            decision(&call.item).filter(|_| awaits_approval).cloned()
        });
    }

    /// Decides about undecided calls. A run without any continues.
    fn each_inner(&mut self, mut decide: impl FnMut(&InnerCall) -> Option<Decision>) {
        for call in self.iter_mut().filter(|call| call.status == CallStatus::InnerWaits) {
            let Some(inner) = &mut call.inner else { continue };
            for call in inner.waiting.iter_mut().filter(|call| call.decision.is_none()) {
                call.decision = decide(call);
            }
            if inner.undecided().next().is_none() {
                call.status = CallStatus::Ready;
            }
        }
    }

    /// The calls whose inner runs wait, and are not stored.
    pub(super) fn unsaved_inner(&self) -> Vec<CallKey> {
        let is_unsaved = |call: &&OpenCall| {
            call.status == CallStatus::InnerWaits
                && call.inner.as_ref().is_some_and(|inner| !inner.is_saved)
        };
        self.iter().filter(is_unsaved).map(OpenCall::key).collect()
    }

    /// Records that the inner runs of these calls are stored.
    pub(super) fn saved_inner(&mut self, keys: &[CallKey]) {
        for call in self.iter_mut().filter(|call| keys.contains(&call.key())) {
            if let Some(inner) = &mut call.inner {
                inner.is_saved = true;
            }
        }
    }
}

impl Machine {
    /// Records that the run inside a started call waits for decisions.
    pub(crate) fn inner_waits(&mut self, key: &CallKey, inner: InnerRun) {
        self.state.calls.pause(key, inner);
        self.apply_standing();
        self.advance();
    }

    /// The run inside a call, which waited for decisions.
    pub(crate) fn inner_run(&self, key: &CallKey) -> Option<InnerRun> {
        self.state.calls.iter().find(|call| call.key() == *key)?.inner.clone()
    }

    /// Adds the tokens of a run inside a call.
    pub(crate) fn add_usage(&mut self, usage: &RunUsage) {
        self.state.inner_usage.add_run(usage);
    }
}
