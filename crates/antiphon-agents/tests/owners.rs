//! Every owner of the state, against the strict provider: it refuses what OpenAI refuses, and finds
//! duplicates in the input of the model.

#![allow(clippy::unwrap_used, reason = "a world that cannot be set up fails the test")]

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use antiphon_agents::agent::WithModel;
use antiphon_agents::machine::{End, RunState};
use antiphon_agents::session::{MemorySessions, SessionStore};
use antiphon_agents::{Agent, Handoff, Model, Run, RunEvent, RunResult, State, ToolContext, tool};
use antiphon_mock::{Answer, OnAbort, Options, StrictProvider};

const MODEL: &str = "think-1";

/// The number of runs of each tool.
#[derive(Default)]
struct Runs {
    look_up: AtomicUsize,
    pay: AtomicUsize,
}

/// Looks something up.
#[tool]
async fn look_up(cx: &ToolContext<Runs>) -> String {
    cx.context().look_up.fetch_add(1, Ordering::Relaxed);
    tokio::task::yield_now().await;
    "found".into()
}

/// Pays.
#[tool(needs_approval = true)]
async fn pay(cx: &ToolContext<Runs>) -> String {
    cx.context().pay.fetch_add(1, Ordering::Relaxed);
    tokio::task::yield_now().await;
    "paid".into()
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Owner {
    Replay,
    Session,
    Conversation,
    Chain,
}

const OWNERS: [Owner; 4] = [Owner::Replay, Owner::Session, Owner::Conversation, Owner::Chain];

/// A provider, an application with its store, and the runs of its tools.
struct World {
    provider: StrictProvider,
    sessions: Arc<dyn SessionStore>,
    conversation: String,
    runs: Arc<Runs>,
}

impl World {
    async fn new(on_abort: OnAbort) -> Self {
        let options = Options { on_abort, ..Options::default() };
        let provider = StrictProvider::with_options(options).start().await;
        let model = Model::responses(MODEL).at(provider.base_url()).key("sk-test");
        let id = model.backend().create_conversation(Vec::new()).await.unwrap();
        Self {
            provider,
            sessions: Arc::new(MemorySessions::new()),
            conversation: id.as_str().to_owned(),
            runs: Arc::default(),
        }
    }

    fn agent(&self) -> Agent<Runs, WithModel> {
        let model = Model::responses(MODEL).at(self.provider.base_url()).key("sk-test");
        let expert = Agent::new("expert").tool(look_up);
        let filtered = Handoff::to(&expert)
            .name("ask_expert")
            .filter(|items| items.into_iter().take(1).collect());
        Agent::new("first").tool(look_up).tool(pay).handoff(&expert).handoff(filtered).model(model)
    }

    fn state(&self, owner: Owner) -> State {
        match owner {
            Owner::Replay => State::empty(),
            Owner::Session => State::shared_session(Arc::clone(&self.sessions), "s"),
            Owner::Conversation => State::conversation(self.conversation.clone()),
            Owner::Chain => State::chain(),
        }
    }

    fn start(&self, state: State, input: &str) -> Run<Runs> {
        let run = Run::start_with(&self.agent(), state, input, Arc::clone(&self.runs)).unwrap();
        run.journal(Arc::clone(&self.sessions), "run")
    }

    /// Continues the last run from its journal, in another process.
    async fn resume(&self) -> Option<Run<Runs>> {
        let state = RunState::read(&self.sessions.run("run").await.unwrap()?).unwrap();
        let sessions = Some(Arc::clone(&self.sessions));
        let run = Run::resume(&self.agent(), state, sessions, Arc::clone(&self.runs)).unwrap();
        Some(run.journal(Arc::clone(&self.sessions), "run"))
    }

    fn script(&self, answers: impl IntoIterator<Item = Answer>) {
        for answer in answers {
            self.provider.script(answer);
        }
    }

    fn assert_clean(&self, case: &str) {
        assert_eq!(self.provider.refusals(), [], "{case}");
        assert_eq!(self.provider.duplicates(), [], "{case}");
    }

    /// The number of user messages with this text in the last input of the model.
    fn last_input_count(&self, text: &str) -> usize {
        let turns = self.provider.turns();
        let input = turns.last().and_then(|turn| turn.model_input.clone()).unwrap_or_default();
        let is_it = |item: &&serde_json::Value| {
            item["role"] == "user"
                && (item["content"] == text || item["content"][0]["text"] == text)
        };
        input.iter().filter(is_it).count()
    }

    fn runs(&self) -> (usize, usize) {
        (self.runs.look_up.load(Ordering::Relaxed), self.runs.pay.load(Ordering::Relaxed))
    }
}

/// Continues a run to its end, and approves all that waits.
async fn finish(mut run: Run<Runs>) -> RunResult {
    loop {
        while run.next().await.is_some() {}
        let waiting = run.waiting();
        if waiting.is_empty() {
            return run.finish().await.unwrap();
        }
        for pause in waiting {
            run.approve(pause.call().head().call_id.as_ref().unwrap().as_str()).unwrap();
        }
    }
}

fn answer() -> Answer {
    Answer::new(MODEL)
}

#[tokio::test]
async fn runs_follow_each_other() {
    for owner in OWNERS {
        let world = World::new(OnAbort::default()).await;
        world.script([answer().message("One."), answer().message("Two.")]);
        let result = finish(world.start(world.state(owner), "first")).await;
        let result = finish(world.start(result.next_state(), "second")).await;
        assert_eq!(result.text(), "Two.", "{owner:?}");
        world.assert_clean(&format!("{owner:?}"));
    }
}

#[tokio::test]
async fn parallel_calls_and_approvals_run_once() {
    for owner in OWNERS {
        let world = World::new(OnAbort::default()).await;
        let calls = answer().call("c1", "look_up", "{}").call("c2", "pay", "{}");
        world.script([calls.call("c3", "look_up", "{}"), answer().message("Done.")]);
        let mut run = world.start(world.state(owner), "go");
        while run.next().await.is_some() {}
        assert_eq!(run.waiting().len(), 1, "{owner:?}");
        drop(run);
        let result = finish(world.resume().await.unwrap()).await;
        assert_eq!((result.text().as_str(), world.runs()), ("Done.", (2, 1)), "{owner:?}");
        world.assert_clean(&format!("{owner:?}"));
    }
}

#[tokio::test]
async fn handoffs_work_with_every_owner() {
    for owner in OWNERS {
        for handoff in ["transfer_to_expert", "ask_expert"] {
            let case = format!("{owner:?} {handoff}");
            let world = World::new(OnAbort::default()).await;
            let calls = answer().call("c1", handoff, "{}").call("c2", "look_up", "{}");
            let more = answer().call("c3", "look_up", "{}");
            world.script([calls, more, answer().message("Done."), answer().message("More.")]);
            let result = finish(world.start(world.state(owner), "go")).await;
            assert_eq!(result.end(), &End::Answered { agent: "expert".into() }, "{case}");
            let result = finish(world.start(result.next_state(), "and?")).await;
            assert_eq!((result.text().as_str(), world.runs()), ("More.", (2, 0)), "{case}");
            world.assert_clean(&case);
            // The conversation that the run left can still be continued.
            let result = finish(world.start(world.state(owner), "again")).await;
            assert!(matches!(result.end(), End::Answered { .. }), "{case}: {:?}", result.end());
            world.assert_clean(&case);
        }
    }
}

/// Drops a run after so many events. Returns whether it had not ended.
async fn drop_after(mut run: Run<Runs>, events: usize) -> bool {
    for _ in 0..events {
        match run.next().await {
            None if run.waiting().is_empty() => return false,
            None => {
                for pause in run.waiting() {
                    run.approve(pause.call().head().call_id.as_ref().unwrap().as_str()).unwrap();
                }
            }
            Some(RunEvent::Ended(_)) => return false,
            Some(_) => {}
        }
    }
    true
}

fn interrupted_script() -> [Answer; 3] {
    let calls = answer().call("c1", "look_up", "{}").call("c2", "pay", "{}");
    [calls, answer().call("c3", "look_up", "{}"), answer().message("Done.")]
}

/// Interrupts runs after every number of events, continues them with `next`, and checks that each
/// ends, that nothing is refused or doubled, and that no tool runs twice.
async fn interrupt_everywhere(owner: Owner, on_abort: OnAbort, resumes: bool) {
    for events in 1.. {
        let case = format!("{owner:?}, {on_abort:?}, resumed: {resumes}, after {events} events");
        let world = World::new(on_abort).await;
        world.script(interrupted_script());
        if !drop_after(world.start(world.state(owner), "go"), events).await {
            assert!(events > 10, "{case}");
            return;
        }
        world.provider.wait_until_idle().await;
        let resumed = if resumes { world.resume().await } else { None };
        let run = resumed.unwrap_or_else(|| world.start(world.state(owner), "still there?"));
        let result = finish(run).await;
        assert!(matches!(result.end(), End::Answered { .. }), "{case}: {:?}", result.end());
        // Without the state of the run, only a session certainly has its input.
        let expected = if resumes || owner == Owner::Session { 1..=1 } else { 0..=1 };
        assert!(expected.contains(&world.last_input_count("go")), "{case}");
        let (look_up, pay) = world.runs();
        assert!(look_up <= 2 && pay <= 1, "{case}: {look_up}, {pay}");
        world.assert_clean(&case);
    }
}

#[tokio::test]
async fn resumed_runs_lose_and_double_nothing() {
    for owner in OWNERS {
        for on_abort in [OnAbort::StorePart, OnAbort::StoreWhole, OnAbort::StoreNothing] {
            interrupt_everywhere(owner, on_abort, true).await;
        }
    }
}

#[tokio::test]
async fn new_runs_continue_interrupted_ones() {
    for owner in OWNERS {
        for on_abort in [OnAbort::StorePart, OnAbort::StoreWhole, OnAbort::StoreNothing] {
            interrupt_everywhere(owner, on_abort, false).await;
        }
    }
}
