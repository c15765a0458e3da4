//! The effects that take time.

use std::pin::Pin;
use std::sync::Arc;

use antiphon::Item;
use antiphon::tracker::Continuation;

use super::compaction::Summary;
use super::trace::{self, TracedAnswer};
use super::{Run, RunError, RunEvent};
use crate::guardrail::Verdict;
use crate::hooks::HookError;
use crate::machine::{Ask, Check, Compacted, End, Load, Loaded, Machine, Save, Step};
use crate::model::{Answered, Model, ModelError};
use crate::session::SessionStore;

/// An effect that is being performed.
pub(super) struct Effect {
    pub(super) future: Pin<Box<dyn Future<Output = Done> + Send>>,
    /// Whether a cancellation may abort it: a request to a model, or a compaction.
    pub(super) is_abortable: bool,
}

/// The result of an effect.
pub(super) enum Done {
    /// It is recorded like this.
    Machine(Box<dyn FnOnce(&mut Machine) + Send>),
    /// The run reports it.
    Event(RunEvent),
    /// The history has a summary, which is not stored yet.
    Summarized(Summary),
    /// The history was compacted.
    Compacted {
        /// The number of items before.
        old: usize,
        /// The items that replace them.
        new: usize,
        compacted: Compacted,
    },
    /// An answer has begun, or the request failed.
    Answer(Result<TracedAnswer, ModelError>),
    /// The run cannot continue.
    Failed(RunError),
}

impl Effect {
    fn ready(done: Done) -> Self {
        Self::new(async { done })
    }

    pub(super) fn new(future: impl Future<Output = Done> + Send + 'static) -> Self {
        Self { future: Box::pin(future), is_abortable: false }
    }
}

impl Done {
    pub(super) fn record(record: impl FnOnce(&mut Machine) + Send + 'static) -> Self {
        Self::Machine(Box::new(record))
    }
}

impl<C: Send + Sync + 'static> Run<C> {
    /// The effect of a step that takes time.
    pub(super) fn effect_of(&mut self, step: Step) -> Effect {
        match step {
            Step::Load(load) => self.load(load),
            Step::Save(save) => self.save(save),
            Step::Ask(ask) => self.ask(ask),
            Step::Check(answer) => self.check(answer),
            Step::Fork(items) => {
                let model = self.model();
                Effect::new(async move {
                    match model.backend().create_conversation(items).await {
                        Ok(id) => Done::record(move |machine| machine.forked(id)),
                        Err(error) => failed(&error),
                    }
                })
            }
            Step::Deliver(outputs) => {
                let (model, conversation) = (self.model(), self.conversation());
                Effect::new(async move {
                    let Some(id) = conversation else { return Done::record(Machine::delivered) };
                    match model.backend().deliver(&id, outputs).await {
                        Ok(()) => Done::record(Machine::delivered),
                        Err(_) => Done::record(Machine::delivery_failed),
                    }
                })
            }
            Step::Remove(items) => {
                let (model, conversation) = (self.model(), self.conversation());
                Effect::new(async move {
                    if let Some(id) = conversation {
                        let ids = items.iter().filter_map(|item| item.head().id.clone()).collect();
                        // The end of the run reports the guardrail; the answer was not returned.
                        let _ = model.backend().delete_items(&id, ids).await;
                    }
                    Done::record(Machine::removed)
                })
            }
            Step::Review(_) | Step::Call(_) | Step::Cancel(_) | Step::Wait(_) => {
                unreachable!("performed by the run")
            }
            Step::View { .. } | Step::Done(_) => unreachable!("performed by the run"),
        }
    }

    pub(super) fn model(&self) -> Model {
        let agent = self.machine.view().agent();
        self.team.model(agent).expect("the agent is in the team").clone()
    }

    pub(super) fn conversation(&self) -> Option<antiphon::tracker::ConversationId> {
        self.machine.view().continuation().and_then(Continuation::conversation_id).cloned()
    }

    fn load(&self, load: Load) -> Effect {
        let (model, sessions) = (self.model(), self.sessions.clone());
        let stored = self.machine.view().stored();
        Effect::new(async move {
            match load {
                Load::Session(key) => match load_session(sessions, &key, stored).await {
                    Ok(loaded) => Done::record(move |machine| machine.loaded(loaded)),
                    Err(error) => Done::Failed(error),
                },
                Load::Server(from) => match model.backend().items(&from).await {
                    Ok(items) => Done::record(move |machine| {
                        machine.loaded(Loaded { items, started: Vec::new() });
                    }),
                    Err(error) => {
                        let error = error.to_string();
                        Done::record(move |machine| machine.load_failed(&error))
                    }
                },
            }
        })
    }

    /// Stores the items and the started calls in the session, and the state in the journal.
    fn save(&self, save: Save) -> Effect {
        let session = self.machine.view().session().map(str::to_owned);
        let session = self.sessions.clone().zip(session);
        let journal = self.options.journal.clone();
        let journal = journal.map(|it| (it, self.machine.state_after(&save).to_json()));
        Effect::new(async move {
            if let Some((store, key)) = session
                && let Err(error) = store.append(&key, &save.items, &save.started).await
            {
                return Done::Failed(error.into());
            }
            if let Some(((store, key), state)) = journal
                && let Err(error) = store.save_run(&key, Some(&state)).await
            {
                return Done::Failed(error.into());
            }
            Done::record(move |machine| machine.saved(&save))
        })
    }

    fn ask(&mut self, ask: Ask) -> Effect {
        if let Some(check) = self.check_input() {
            return check;
        }
        let mut ask = ask;
        let (agent, repairs, delay) = (ask.agent.clone(), ask.repairs.clone(), ask.delay);
        if let Some(filter) = &self.options.filter {
            ask.items = filter(ask.items);
        }
        let returned = ask.continuation.is_some().then(|| ask.items.clone());
        if let Err(error) = self.machine.ask(returned) {
            let error = error.to_string();
            return Effect::ready(Done::record(move |machine| machine.fail(&error)));
        }
        repairs.iter().for_each(trace::repaired);
        self.events.push_back(RunEvent::Asked { agent: agent.clone(), repairs });
        let (model, request) =
            self.team.request(ask, &self.context).expect("the agent is in the team");
        let journal = self.options.journal.clone();
        let journal = journal.map(|journal| (journal, self.machine.state().to_json()));
        let is_new_agent = self.asked.replace(agent.clone()).as_ref() != Some(&agent);
        let (context, hooks) = (Arc::clone(&self.context), self.options.hooks.clone());
        let conversation = trace::conversation_id(self.machine.view());
        let future = async move {
            for hook in &hooks {
                let started = match is_new_agent {
                    true => hook.agent_started(&context, &agent).await,
                    false => Ok(()),
                };
                let asked = match started {
                    Ok(()) => hook.model_asked(&context, &request).await,
                    failed => failed,
                };
                if let Err(error) = asked {
                    return hook_failed(&error);
                }
            }
            if let Some(((store, key), state)) = journal
                && let Err(error) = store.save_run(&key, Some(&state)).await
            {
                return Done::Failed(error.into());
            }
            if let Some(delay) = delay {
                tokio::time::sleep(delay).await;
            }
            Done::Answer(trace::respond(&model, request, conversation).await)
        };
        Effect { is_abortable: true, ..Effect::new(future) }
    }

    /// Runs the hooks after an answer.
    pub(super) fn answer_hooks(&self, agent: &str, answer: Answered) -> Option<Effect> {
        let (context, hooks) = (Arc::clone(&self.context), self.options.hooks.clone());
        let agent = agent.to_owned();
        let run = async move {
            for hook in &hooks {
                if let Err(error) = hook.model_answered(&context, &agent, &answer).await {
                    return hook_failed(&error);
                }
            }
            Done::record(|_| {})
        };
        (!self.options.hooks.is_empty()).then(|| Effect::new(run))
    }

    /// Runs the hooks at the end of the run, once.
    pub(super) fn take_end_hooks(&mut self, end: &End) -> Option<Effect> {
        let hooks = std::mem::take(&mut self.options.hooks);
        let (context, end) = (Arc::clone(&self.context), end.clone());
        (!hooks.is_empty()).then(|| {
            Effect::new(async move {
                for hook in &hooks {
                    // The run has its result.
                    if let Err(error) = hook.run_ended(&context, &end).await {
                        tracing::warn!(%error, "a hook failed at the end of a run");
                    }
                }
                Done::record(|_| {})
            })
        })
    }

    /// Checks the last answer by the output type and the guardrails of its agent.
    fn check(&self, answer: Vec<Item>) -> Effect {
        let agent = self.machine.view().agent();
        let parts = Arc::clone(self.team.parts(agent).expect("the agent is in the team"));
        let context = Arc::clone(&self.context);
        let may_repeat = !self.machine.view().has_repeated_answer();
        Effect::new(async move {
            let text = antiphon_client::text_of(&answer);
            if let Some(output) = &parts.output
                && let Err(faults) = output.validate(&text)
            {
                return Done::record(move |machine| match may_repeat {
                    true => machine.checked(Check::Again(faults)),
                    false => machine.checked(Check::Failed(faults)),
                });
            }
            for guardrail in &parts.output_guardrails {
                if guardrail.check(&context, &answer).await == Verdict::Trip {
                    let name = guardrail.name().to_owned();
                    return Done::record(move |machine| machine.checked(Check::Tripped(name)));
                }
            }
            Done::record(|machine| machine.checked(Check::Passed))
        })
    }
}

/// Loads a session, in which the run has found or stored `stored` items before.
async fn load_session(
    sessions: Option<Arc<dyn SessionStore>>,
    key: &str,
    stored: usize,
) -> Result<Loaded, RunError> {
    let store = sessions.ok_or_else(|| RunError::NoSessionStore(key.to_owned()))?;
    let content = store.load(key).await?;
    if content.items.is_empty() && stored > 0 {
        return Err(RunError::EmptySession(key.to_owned()));
    }
    Ok(Loaded { items: content.items, started: content.started })
}

fn hook_failed(error: &HookError) -> Done {
    let error = format!("a hook failed: {error}");
    Done::record(move |machine| {
        machine.rewind_unsent();
        machine.fail(&error);
    })
}

fn failed(error: &ModelError) -> Done {
    let error = error.to_string();
    Done::record(move |machine| machine.fail(&error))
}
