//! The effects that take time.

use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use antiphon::Item;
use antiphon::tracker::Continuation;

use super::compaction::Summary;
use super::trace::{self, TracedAnswer};
use super::{Run, RunError, RunEvent};
use crate::hooks::{HookError, Hooks};
use crate::machine::{Ask, Compacted, End, Load, Loaded, Machine, Save, Step};
use crate::model::{Answered, Model, ModelError, ModelRequest};
use crate::session::{SessionError, SessionStore};
use crate::time_limit::within;

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
        let limit = self.machine.limits().store_timeout;
        Effect::new(async move {
            match load {
                Load::Session(key) => match load_session(sessions, &key, stored, limit).await {
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
        let journal = journal.map(|it| (it, self.machine.state_after(&save)));
        let limit = self.machine.limits().store_timeout;
        Effect::new(async move {
            if let Some((store, key)) = session {
                let appended = store.append(&key, &save.items, &save.started);
                if let Err(error) = answered_by_store(limit, appended).await {
                    return Done::Failed(error.into());
                }
            }
            if let Some((journal, state)) = journal
                && let Err(error) = journal.write(&state, limit).await
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
        let filtered = self.options.filter.as_ref().map(|filter| filter(ask.returned()));
        if let Some(filtered) = &filtered {
            ask.items = Arc::new(filtered.iter().map(|it| it.item.clone()).collect());
        }
        let returned = ask.continuation.is_some();
        let returned = returned.then(|| filtered.unwrap_or_else(|| ask.returned()));
        if let Err(error) = self.machine.ask(returned) {
            let error = error.to_string();
            return Effect::ready(Done::record(move |machine| machine.fail(&error)));
        }
        self.report_request(&repairs);
        self.events.push_back(RunEvent::Asked { agent: agent.clone(), repairs });
        let (model, request) =
            self.team.request(ask, &self.context).expect("the agent is in the team");
        let journal = self.options.journal.clone();
        let journal = journal.map(|journal| (journal, self.machine.state()));
        let from = self.asked.replace(agent.clone());
        let (context, hooks) = (Arc::clone(&self.context), self.options.hooks.clone());
        let conversation = trace::conversation_id(self.machine.view());
        let limit = self.machine.limits().store_timeout;
        let future = async move {
            for hook in &hooks {
                let hooked = before_request(&**hook, &context, from.as_deref(), &agent, &request);
                if let Err(error) = hooked.await {
                    return hook_failed(&error);
                }
            }
            if let Some((journal, state)) = journal
                && let Err(error) = journal.write(&state, limit).await
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
        let (team, context) = (Arc::clone(&self.team), Arc::clone(&self.context));
        let agent = self.machine.view().agent().to_owned();
        let may_repeat = !self.machine.view().has_repeated_answer();
        Effect::new(async move {
            let check = team.check(&agent, &answer, may_repeat, &context).await;
            Done::record(move |machine| machine.checked(check))
        })
    }
}

/// Loads a session, in which the run has found or stored `stored` items before.
async fn load_session(
    sessions: Option<Arc<dyn SessionStore>>,
    key: &str,
    stored: usize,
    limit: Duration,
) -> Result<Loaded, RunError> {
    let store = sessions.ok_or_else(|| RunError::NoSessionStore(key.to_owned()))?;
    let content = answered_by_store(limit, store.load(key)).await?;
    if content.items.is_empty() && stored > 0 {
        return Err(RunError::EmptySession(key.to_owned()));
    }
    Ok(Loaded { items: content.items, started: content.started })
}

/// Runs a hook before a request of `agent`. `from` is the agent of the request before it.
async fn before_request<C: Send + Sync + 'static>(
    hook: &dyn Hooks<C>,
    context: &C,
    from: Option<&str>,
    agent: &str,
    request: &ModelRequest,
) -> Result<(), HookError> {
    if let Some(from) = from.filter(|from| *from != agent) {
        hook.handed_off(context, from, agent).await?;
    }
    if from != Some(agent) {
        hook.agent_started(context, agent).await?;
    }
    hook.model_asked(context, request).await
}

/// Waits for the answer of a session store.
pub(super) async fn answered_by_store<T>(
    limit: Duration,
    answer: impl Future<Output = Result<T, SessionError>>,
) -> Result<T, SessionError> {
    within(limit, answer).await.unwrap_or(Err(SessionError::TimedOut(limit)))
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
