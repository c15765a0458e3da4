//! All agents that a run can reach.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::agent::{Agent, Handoff, HasModel, Parts};
use crate::machine::Ask;
use crate::model::{Model, ModelRequest};
use crate::roster::{AgentFacts, HandoffFacts, Limits, Roster};
use crate::tool::{SpecError, Tool};

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
    /// The state of a run names an agent that the first agent does not reach.
    #[error("the run stopped at the agent '{0}', which this agent does not reach")]
    UnknownAgent(String),
    /// The definition of a tool is not valid.
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

    /// The tool `name` of `agent`, or else of any agent that has it.
    pub(crate) fn tool(&self, agent: &str, name: &str) -> Option<Arc<dyn Tool<C>>> {
        let own = self.parts(agent).into_iter();
        let all = own.chain(self.members.values().map(|member| &member.parts));
        let mut tools = all.flat_map(|parts| &parts.tools);
        tools.find(|tool| tool.spec().name == name).cloned()
    }

    pub(crate) fn handoff(&self, name: &str) -> Option<&Handoff<C>> {
        let all = self.members.values().flat_map(|member| &member.parts.handoffs);
        all.into_iter().find(|handoff| handoff.tool_name() == name)
    }

    /// The request of a step.
    pub(crate) fn request(&self, ask: Ask, context: &C) -> Option<(Model, ModelRequest)> {
        let Member { parts, model } = self.members.get(&ask.agent)?;
        let tools = parts.tools.iter().filter_map(|tool| tool.spec().definition().ok());
        let hosted = parts.hosted.iter().map(crate::tool::HostedTool::definition);
        let handoffs = parts.handoffs.iter().map(Handoff::definition);
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
    parts.handoffs.iter().try_for_each(|handoff| gather(handoff.target_parts(), model, members))
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
        let tool = spec.facts();
        if facts.tools.insert(spec.name.clone(), tool).is_some() {
            return Err(repeated(&spec.name));
        }
    }
    for handoff in &parts.handoffs {
        let (name, target) = (handoff.tool_name(), handoff.target().to_owned());
        let handoff = HandoffFacts { target, has_view: handoff.view().is_some() };
        let is_tool = facts.tools.contains_key(name);
        if facts.handoffs.insert(name.to_owned(), handoff).is_some() || is_tool {
            return Err(repeated(name));
        }
    }
    Ok(facts)
}
