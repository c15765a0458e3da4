//! All agents that a run can reach, and the functions that a machine's steps ask for.

mod error;
mod tool;

use std::collections::BTreeMap;
use std::sync::Arc;

use antiphon::Item;
use antiphon_client::text_of;

pub use error::TeamError;
pub(crate) use tool::{TeamTool, no_such_tool};

use self::error::OWN_FIELDS;
use crate::agent::{Agent, Handoff, HandoffTool, HasModel, Parts};
use crate::guardrail::Verdict;
use crate::machine::{Ask, Check};
use crate::model::{Model, ModelRequest};
use crate::output::OutputType;
use crate::roster::{AgentFacts, Limits, Roster};
use crate::rules::Outcome;
use crate::tool::{ToolContext, arguments, tool_name};

/// The agents that a run can reach from its first one, for a runner of your own.
///
/// A [`Machine`](crate::machine::Machine) has no functions; it asks for them. A team performs these
/// steps with the models, the tools, the filters and the guardrails of its agents. A
/// [`Run`](crate::Run) does so with tokio, and a workflow engine can record each result.
///
/// | step of the machine | method |
/// |---|---|
/// | [`Ask`](crate::machine::Step::Ask) | [`request`](Self::request) |
/// | [`Review`](crate::machine::Step::Review) | [`needs_approval`](Self::needs_approval) |
/// | [`Call`](crate::machine::Step::Call) | [`call`](Self::call) |
/// | [`Check`](crate::machine::Step::Check) | [`check`](Self::check) |
/// | [`View`](crate::machine::Step::View) | [`view`](Self::view) |
///
/// Guardrails of the input, hooks, compactions, and approvals inside agents that are tools belong
/// to `Run`.
///
/// ```
/// use antiphon_agents::machine::{Machine, NewOwner, Step};
/// use antiphon_agents::roster::Limits;
/// use antiphon_agents::{Agent, Model, Team, user};
///
/// let agent = Agent::new("greeter").model(Model::scripted(["Hello."]));
/// let team = Team::new(&agent, Limits::default()).unwrap();
/// let owner = NewOwner::Replay(Vec::new());
/// let mut machine = Machine::start(team.roster(), "greeter", owner, vec![user("Hi")]);
///
/// let Step::Save(save) = machine.step() else { panic!("the input comes first") };
/// machine.saved(&save);
/// let Step::Ask(ask) = machine.step() else { panic!("then the model is asked") };
/// let (model, request) = team.request(ask, &()).unwrap();
/// assert_eq!((model.name(), request.items.len()), ("scripted", 1));
/// ```
pub struct Team<C = ()> {
    roster: Arc<Roster>,
    members: BTreeMap<String, Member<C>>,
}

/// One agent of a run, with the model that it uses.
struct Member<C> {
    parts: Arc<Parts<C>>,
    model: Model,
}

impl<C: 'static> Team<C> {
    /// The agents that `first` reaches. An agent without a model has that of the agent before it.
    pub fn new<M: HasModel>(first: &Agent<C, M>, limits: Limits) -> Result<Self, TeamError> {
        let parts = first.parts();
        let model = parts.model.as_ref().expect("the type of the agent has a model");
        let mut members = BTreeMap::new();
        gather(parts, model, &mut members)?;
        check_targets(&members)?;
        let facts = members.iter().map(|(name, member): (&String, &Member<C>)| {
            Ok((name.clone(), facts_of(&member.parts)?))
        });
        let facts = facts.collect::<Result<Vec<_>, TeamError>>()?;
        Ok(Self { roster: Arc::new(Roster::new(facts, limits)), members })
    }

    /// The facts about the agents, for a machine.
    pub fn roster(&self) -> Arc<Roster> {
        Arc::clone(&self.roster)
    }

    pub(crate) fn parts(&self, agent: &str) -> Option<&Arc<Parts<C>>> {
        self.members.get(agent).map(|member| &member.parts)
    }

    pub(crate) fn model(&self, agent: &str) -> Option<&Model> {
        self.members.get(agent).map(|member| &member.model)
    }

    /// The items that the filter of a handoff chooses, for
    /// [`Step::View`](crate::machine::Step::View).
    pub fn view(&self, agent: &str, handoff: &str, items: Vec<Item>) -> Vec<Item> {
        match self.handoff(agent, handoff).and_then(Handoff::view) {
            Some(filter) => filter(items),
            None => items,
        }
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

    /// Whether a call of `agent` needs an approval, for
    /// [`Step::Review`](crate::machine::Step::Review).
    pub fn needs_approval(&self, agent: &str, call: &Item, context: &ToolContext<C>) -> bool {
        let tool = self.tool(agent, &tool_name(call));
        tool.is_none_or(|it| it.tool.needs_approval(context, &arguments(call)))
    }

    /// Runs a call of `agent`, for [`Step::Call`](crate::machine::Step::Call): the guardrails of
    /// its tool and the tool itself, within its time limit.
    pub async fn call(&self, agent: &str, call: &Item, context: ToolContext<C>) -> Outcome {
        match self.tool(agent, &tool_name(call)) {
            Some(tool) => tool.run(call, context, false).await.0,
            None => no_such_tool(),
        }
    }

    /// Checks the last answer of `agent` by its output type and its guardrails, for
    /// [`Step::Check`](crate::machine::Step::Check). `may_repeat` is whether the model may correct
    /// it: [`RunState::has_repeated_answer`](crate::machine::RunState::has_repeated_answer) is
    /// false.
    pub async fn check(
        &self,
        agent: &str,
        answer: &[Item],
        may_repeat: bool,
        context: &C,
    ) -> Check {
        let Some(parts) = self.parts(agent) else { return Check::Passed };
        if let Some(output) = &parts.output
            && let Err(faults) = output.validate(&text_of(answer))
        {
            return if may_repeat { Check::Again(faults) } else { Check::Failed(faults) };
        }
        for guardrail in &parts.output_guardrails {
            if guardrail.check(context, answer).await == Verdict::Trip {
                return Check::Tripped(guardrail.name().to_owned());
            }
        }
        Check::Passed
    }

    /// The model and the request of [`Step::Ask`](crate::machine::Step::Ask); `None` if the team
    /// has no such agent.
    pub fn request(&self, ask: Ask, context: &C) -> Option<(Model, ModelRequest)> {
        let Member { parts, model } = self.members.get(&ask.agent)?;
        let tools = parts.tools.iter().filter_map(|tool| tool.spec().definition().ok());
        let hosted = parts.hosted.iter().map(crate::tool::HostedTool::definition);
        let handoffs = parts.handoffs.iter().filter(|handoff| handoff.is_enabled(context));
        let handoffs = handoffs.filter_map(|handoff| handoff.definition().ok());
        let request = ModelRequest {
            model: model.name().to_owned(),
            instructions: parts.instructions.as_ref().map(|it| it.text(context)),
            continuation: ask.continuation.clone(),
            items: ask.items,
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

/// Checks the settings and the output type of an agent.
fn check_request<C>(parts: &Parts<C>) -> Result<(), TeamError> {
    let agent = || parts.name.clone();
    if let Some((field, _)) =
        OWN_FIELDS.iter().find(|(name, _)| parts.settings.other.contains_key(*name))
    {
        return Err(TeamError::Setting { agent: agent(), field: (*field).to_owned() });
    }
    let format = parts.output.as_ref().map(OutputType::format).transpose();
    format.map(drop).map_err(|fault| TeamError::Output { agent: agent(), fault })
}

fn facts_of<C: 'static>(parts: &Parts<C>) -> Result<AgentFacts, TeamError> {
    check_request(parts)?;
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
