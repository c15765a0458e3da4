//! The facts about all agents of a run that decide its next step. It is plain data: the functions
//! of tools, filters and guardrails stay with the runner.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::rules::{LOCKED_DELAYS, LONGEST_RETRY_DELAY, Retries};

/// The agents that a run can reach, by name.
#[derive(Clone, Debug, Default)]
pub struct Roster {
    agents: BTreeMap<String, AgentFacts>,
    /// The limits of the run.
    pub limits: Limits,
}

/// The facts about one agent.
#[derive(Clone, Debug, Default)]
pub struct AgentFacts {
    /// Its own tools by name.
    pub tools: BTreeMap<String, ToolFacts>,
    /// Its handoffs by the name of the tool that the model calls.
    pub handoffs: BTreeMap<String, HandoffFacts>,
    /// Whether its last answer is checked before the run ends: by a schema or by guardrails.
    pub checks_output: bool,
    /// The calls whose output ends the run.
    pub stop: StopRule,
}

/// The facts about a tool.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ToolFacts {
    /// Whether calls need an approval.
    pub approval: Approval,
    /// The treatment of a call that was started and has no output.
    pub on_unknown: OnUnknownOutcome,
}

/// The facts about a handoff.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HandoffFacts {
    /// The name of the next agent.
    pub target: String,
    /// Whether a filter decides which items the next agent is given.
    pub has_view: bool,
    /// Whether a call runs as a tool, and the handoff is made when it has an output.
    pub has_function: bool,
}

/// Whether the calls of a tool need an approval.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Approval {
    /// No call needs one.
    #[default]
    Never,
    /// Every call needs one.
    Always,
    /// [`Tool::needs_approval`](crate::tool::Tool::needs_approval) decides for each call.
    ByCall,
}

/// The treatment of a call whose outcome is unknown: its tool was started, and the process died
/// before it stored an output.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnUnknownOutcome {
    /// Run the tool again. Only for tools without side effects, or with the `call_id` as their
    /// idempotency key.
    Retry,
    /// Wait until the application decides.
    Ask,
    /// Report to the model that the outcome is unknown.
    #[default]
    Fail,
}

/// The calls whose output ends the run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum StopRule {
    /// None: the model reads every output.
    #[default]
    Never,
    /// The first answer with calls.
    FirstCalls,
    /// Calls of these tools.
    Tools(Vec<String>),
}

/// The limits of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The number of answers of models.
    pub turns: u64,
    /// The number of tools that run at the same time.
    pub parallel_calls: usize,
    /// The number of items of the history that the model is given; calls and outputs stay together.
    pub history: Option<usize>,
    /// The delays before retries of a request.
    pub retry_delays: Vec<Duration>,
    /// The delays before retries of a request whose conversation has another open turn.
    pub locked_delays: Vec<Duration>,
    /// The longest delay that a server can ask for with `retry-after`. If it asks for a longer one,
    /// the run fails at once.
    pub longest_retry_delay: Duration,
    /// The time in which a store of sessions or journals has to answer. A run whose store does not,
    /// fails; it would otherwise wait even if it is cancelled.
    pub store_timeout: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            turns: 10,
            parallel_calls: 8,
            history: None,
            retry_delays: [500, 1000, 2000].map(Duration::from_millis).into(),
            locked_delays: LOCKED_DELAYS.into(),
            longest_retry_delay: LONGEST_RETRY_DELAY,
            store_timeout: Duration::from_secs(30),
        }
    }
}

impl Limits {
    /// The retries of one request.
    pub(crate) fn retries(&self) -> Retries {
        Retries::new(self.retry_delays.clone())
            .with_locked_delays(self.locked_delays.clone())
            .with_longest_delay(self.longest_retry_delay)
    }
}

impl Roster {
    /// Creates a roster of these agents.
    pub fn new(agents: impl IntoIterator<Item = (String, AgentFacts)>, limits: Limits) -> Self {
        Self { agents: agents.into_iter().collect(), limits }
    }

    /// The facts about an agent.
    pub fn agent(&self, name: &str) -> Option<&AgentFacts> {
        self.agents.get(name)
    }

    /// The facts about the tool `name` of `agent`, or else of the first agent that has it: a call
    /// that an earlier run left may belong to any.
    pub(crate) fn tool(&self, agent: &str, name: &str) -> Option<ToolFacts> {
        let own = self.agent(agent).and_then(|facts| facts.tools.get(name));
        own.or_else(|| self.agents.values().find_map(|facts| facts.tools.get(name))).copied()
    }
}

/// The output of a call of a handoff.
pub(crate) fn transfer_text(target: &str) -> String {
    format!("Transferred to {target}.")
}

impl StopRule {
    /// Whether the output of a call of this tool ends the run.
    pub(crate) fn stops_at(&self, tool: &str) -> bool {
        match self {
            Self::Never => false,
            Self::FirstCalls => true,
            Self::Tools(names) => names.iter().any(|name| name == tool),
        }
    }
}
