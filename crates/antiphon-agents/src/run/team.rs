//! All agents that a run can reach.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::agent::{Agent, Handoff, HandoffTool, HasModel, Parts};
use crate::guardrail::ToolGuardrail;
use crate::machine::Ask;
use crate::model::{Model, ModelRequest};
use crate::roster::{AgentFacts, Limits, Roster};
use crate::tool::{ErrorText, SpecError, Tool};

/// The agents that a run can reach from its first one, by name.
pub(crate) struct Team<C> {
    pub(crate) roster: Arc<Roster>,
    members: BTreeMap<String, Member<C>>,
}

/// One agent of a run, with the model that it uses.
struct Member<C> {
    parts: Arc<Parts<C>>,
    model: Model,
}

/// A tool, or a handoff that runs as one.
pub(crate) struct TeamTool<C> {
    pub(crate) tool: Arc<dyn Tool<C>>,
    pub(crate) is_handoff: bool,
    owner: Arc<Parts<C>>,
}

impl<C: 'static> TeamTool<C> {
    /// The guardrails of its agent that check its calls. Handoffs have none.
    pub(crate) fn guardrails(&self) -> Vec<&dyn ToolGuardrail<C>> {
        let name = &self.tool.spec().name;
        let is_for_it = |tool: &Option<String>| tool.as_ref().is_none_or(|tool| tool == name);
        let all = self.owner.tool_guardrails.iter().filter(|_| !self.is_handoff);
        all.filter(|(tool, _)| is_for_it(tool)).map(|(_, guardrail)| &**guardrail).collect()
    }

    /// The function that writes the text of its errors, if it or its agent has one.
    pub(crate) fn error_text(&self) -> Option<&ErrorText> {
        self.tool.spec().error_text.as_ref().or(self.owner.error_text.as_ref())
    }
}

/// The reason why the agents of a run do not fit together.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TeamError {
    /// Two different agents have one name.
    #[error("two agents have the name '{0}'")]
    RepeatedAgent(String),
    /// Two tools or handoffs of an agent have one name.
    #[error("the agent '{agent}' has two tools with the name '{tool}'")]
    RepeatedTool {
        /// The name of the agent.
        agent: String,
        /// The name of the tool.
        tool: String,
    },
    /// A handoff names an agent that the run does not reach.
    #[error(
        "the agent '{agent}' hands over to '{target}', which is no agent of the run: \
         add a handoff to it with `Handoff::to`, or correct the name"
    )]
    UnknownTarget {
        /// The agent with the handoff.
        agent: String,
        /// The name in the handoff.
        target: String,
    },
    /// The state of a run names an agent that the first agent does not reach.
    #[error("the run stopped at the agent '{0}', which this agent does not reach")]
    UnknownAgent(String),
    /// A tool is not valid.
    #[error(transparent)]
    Tool(#[from] SpecError),
}

impl<C: 'static> Team<C> {
    /// The agents that `first` reaches. An agent without a model has that of the agent before it.
    pub(crate) fn new(
        first: &Arc<Parts<C>>,
        model: &Model,
        limits: Limits,
    ) -> Result<Self, TeamError> {
        let mut members = BTreeMap::new();
        gather(first, model, &mut members)?;
        check_targets(&members)?;
        let facts = members.iter().map(|(name, member): (&String, &Member<C>)| {
            Ok((name.clone(), facts_of(&member.parts)?))
        });
        let facts = facts.collect::<Result<Vec<_>, TeamError>>()?;
        Ok(Self { roster: Arc::new(Roster::new(facts, limits)), members })
    }

    /// The agents that `first` reaches.
    pub(crate) fn of<M: HasModel>(first: &Agent<C, M>, limits: Limits) -> Result<Self, TeamError> {
        let parts = first.parts();
        let model = parts.model.as_ref().expect("the type of the agent has a model");
        Self::new(parts, model, limits)
    }

    pub(crate) fn parts(&self, agent: &str) -> Option<&Arc<Parts<C>>> {
        self.members.get(agent).map(|member| &member.parts)
    }

    pub(crate) fn model(&self, agent: &str) -> Option<&Model> {
        self.members.get(agent).map(|member| &member.model)
    }

    /// The handoff `name` of `agent`.
    pub(crate) fn handoff(&self, agent: &str, name: &str) -> Option<&Handoff<C>> {
        let mut handoffs = self.parts(agent)?.handoffs.iter();
        handoffs.find(|handoff| handoff.tool_name() == name)
    }
}

impl<C: Send + Sync + 'static> Team<C> {
    /// The tool or the handoff `name` of `agent`, or else the tool of any agent that has it.
    pub(crate) fn tool(&self, agent: &str, name: &str) -> Option<TeamTool<C>> {
        if let Some(handoff) = self.handoff(agent, name) {
            let tool = Arc::new(HandoffTool(handoff.clone()));
            let owner = Arc::clone(self.parts(agent)?);
            return Some(TeamTool { tool, owner, is_handoff: true });
        }
        let own = self.parts(agent).into_iter();
        let mut all = own.chain(self.members.values().map(|member| &member.parts));
        all.find_map(|owner| {
            let tool = owner.tools.iter().find(|tool| tool.spec().name == name)?;
            let (tool, owner) = (Arc::clone(tool), Arc::clone(owner));
            Some(TeamTool { tool, owner, is_handoff: false })
        })
    }

    /// The request of a step.
    pub(crate) fn request(&self, ask: Ask, context: &C) -> Option<(Model, ModelRequest)> {
        let Member { parts, model } = self.members.get(&ask.agent)?;
        let tools = parts.tools.iter().filter_map(|tool| tool.spec().definition().ok());
        let hosted = parts.hosted.iter().map(crate::tool::HostedTool::definition);
        let handoffs = parts.handoffs.iter().filter(|handoff| handoff.is_enabled(context));
        let handoffs = handoffs.filter_map(|handoff| handoff.definition().ok());
        let request = ModelRequest {
            model: model.name().to_owned(),
            instructions: parts.instructions.as_ref().map(|it| it.text(context)),
            continuation: ask.continuation.clone(),
            items: ask.into_items(),
            tools: tools.chain(hosted).chain(handoffs).collect(),
            tool_choice: parts.tool_choice.clone(),
            output_format: parts
                .output
                .as_ref()
                .map(|output| output.format().expect("the team checks it")),
            settings: parts.settings.clone(),
        };
        Some((model.clone(), request))
    }
}

fn gather<C: 'static>(
    parts: &Arc<Parts<C>>,
    model: &Model,
    members: &mut BTreeMap<String, Member<C>>,
) -> Result<(), TeamError> {
    let model = parts.model.as_ref().unwrap_or(model);
    if let Some(known) = members.get(&parts.name) {
        let is_same = Arc::ptr_eq(&known.parts, parts);
        return if is_same { Ok(()) } else { Err(TeamError::RepeatedAgent(parts.name.clone())) };
    }
    let member = Member { parts: Arc::clone(parts), model: model.clone() };
    members.insert(parts.name.clone(), member);
    let mut targets = parts.handoffs.iter().filter_map(Handoff::target_parts);
    targets.try_for_each(|target| gather(target, model, members))
}

/// Checks that every agent that a handoff names is there.
fn check_targets<C: 'static>(members: &BTreeMap<String, Member<C>>) -> Result<(), TeamError> {
    let parts = members.values().map(|member| &member.parts);
    let mut targets =
        parts.flat_map(|parts| parts.handoffs.iter().map(|it| (&parts.name, it.target())));
    match targets.find(|(_, target)| !members.contains_key(*target)) {
        None => Ok(()),
        Some((agent, target)) => {
            Err(TeamError::UnknownTarget { agent: agent.clone(), target: target.to_owned() })
        }
    }
}

fn facts_of<C: 'static>(parts: &Parts<C>) -> Result<AgentFacts, TeamError> {
    let mut facts = AgentFacts {
        checks_output: parts.output.is_some() || !parts.output_guardrails.is_empty(),
        stop: parts.stop.clone(),
        ..AgentFacts::default()
    };
    let repeated =
        |tool: &str| TeamError::RepeatedTool { agent: parts.name.clone(), tool: tool.to_owned() };
    for tool in &parts.tools {
        let spec = tool.spec();
        spec.definition()?;
        tool.check()?;
        let tool = spec.facts();
        if facts.tools.insert(spec.name.clone(), tool).is_some() {
            return Err(repeated(&spec.name));
        }
    }
    for handoff in &parts.handoffs {
        handoff.definition()?;
        let name = handoff.tool_name();
        let is_tool = facts.tools.contains_key(name);
        if facts.handoffs.insert(name.to_owned(), handoff.facts()).is_some() || is_tool {
            return Err(repeated(name));
        }
    }
    Ok(facts)
}
