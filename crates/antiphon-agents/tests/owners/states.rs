//! The states of runs that earlier versions wrote: each of them can be read and continued.
//!
//! A file of `tests/fixtures/run_states` has one state in each line, with the items that the other
//! parties had at that moment. The files of a version never change.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use antiphon::Item;
use antiphon::item::{CallId, CallKey, Kind};
use antiphon_agents::agent::WithModel;
use antiphon_agents::machine::{End, Pause, RunState};
use antiphon_agents::session::{MemorySessions, SessionContent, SessionError, SessionStore};
use antiphon_agents::tool::ToolOutput;
use antiphon_agents::{
    Agent, Handoff, Model, OutputVerdict, Run, RunResult, State, ToolContext, ToolGuardrail, tool,
    user,
};
use async_trait::async_trait;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use std::collections::BTreeMap;

use crate::memory_server::{Lists, MemoryServer};
use crate::scenario::answer;
use crate::world::SESSION;

/// The version that this library writes.
pub(crate) const VERSION: u32 = 1;

/// The owners of the fixtures.
pub(crate) const OWNERS: [&str; 4] = ["replay", "session", "conversation", "chain"];

/// The state of a run, and the content of all other parties.
#[derive(Serialize, Deserialize)]
pub(crate) struct Moment {
    pub(crate) state: Box<RawValue>,
    session: Vec<Box<RawValue>>,
    started: Vec<(String, String)>,
    conversations: BTreeMap<String, Vec<Box<RawValue>>>,
    responses: BTreeMap<String, Vec<Box<RawValue>>>,
    /// The end of the run; by default an answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) end: Option<End>,
}

/// The calls that ran.
pub(crate) type Ran = Mutex<Vec<String>>;

/// Looks something up.
#[tool]
async fn look_up(cx: &ToolContext<Ran>) -> String {
    cx.context().lock().unwrap().push(cx.call_id().to_string());
    "found".into()
}

/// Pays.
#[tool(needs_approval = true)]
async fn pay(cx: &ToolContext<Ran>) -> String {
    cx.context().lock().unwrap().push(cx.call_id().to_string());
    "paid".into()
}

/// Sends something.
#[tool(on_unknown = Ask)]
async fn send(cx: &ToolContext<Ran>) -> String {
    cx.context().lock().unwrap().push(cx.call_id().to_string());
    "sent".into()
}

/// Ends the run after the first output of a tool.
struct Trips;

#[async_trait]
impl ToolGuardrail<Ran> for Trips {
    fn name(&self) -> &'static str {
        "trips"
    }

    async fn after(&self, _: &ToolContext<Ran>, _: &ToolOutput) -> OutputVerdict {
        OutputVerdict::Trip
    }
}

pub(crate) fn agent(server: &MemoryServer) -> Agent<Ran, WithModel> {
    team(server, Agent::new("first").tool(look_up))
}

/// An agent whose guardrail ends the run.
pub(crate) fn guarded_agent(server: &MemoryServer) -> Agent<Ran, WithModel> {
    team(server, Agent::new("first").guarded_tool(look_up, Trips))
}

fn team(server: &MemoryServer, first: Agent<Ran>) -> Agent<Ran, WithModel> {
    let expert = Agent::new("expert").tool(look_up);
    let filtered =
        Handoff::to(&expert).name("ask_expert").filter(|items| items.into_iter().take(1).collect());
    first.tool(pay).tool(send).handoff(filtered).model(Model::new("m", server.clone()))
}

/// The answers of the model. The ids of their items come from `seed`.
pub(crate) fn answers(seed: &str) -> [antiphon_mock::Answer; 4] {
    let thinks = || answer().reasoning("Think.");
    let answers = [
        thinks().call("c1", "look_up", "{}").call("c2", "pay", "{}").call("c3", "send", "{}"),
        thinks().call("c4", "ask_expert", "{}"),
        thinks().call("c5", "look_up", "{}"),
        answer().message("Done."),
    ];
    let mut number = 0;
    answers.map(|answer| {
        number += 1;
        answer.seed(format!("{seed}{number}"))
    })
}

pub(crate) fn state(owner: &str, sessions: &Arc<dyn SessionStore>) -> State {
    match owner {
        "replay" => State::empty(),
        "session" => State::shared_session(Arc::clone(sessions), SESSION),
        "conversation" => State::conversation("conv_0"),
        "chain" => State::chain(),
        other => panic!("{other}"),
    }
}

/// Runs to the end, and decides about all that waits. With `interrupts`, the run stages input while
/// it waits first.
pub(crate) async fn finish(mut run: Run<Ran>, mut stages: bool) -> RunResult {
    loop {
        while run.next().await.is_some() {}
        if std::mem::take(&mut stages) {
            run.stage(user("also this")).unwrap();
        }
        let waiting = run.waiting();
        if waiting.is_empty() {
            return run.into_result().await.unwrap();
        }
        for pause in waiting {
            match &pause {
                Pause::Approval(_) => run.approve(pause.call_id()).unwrap(),
                Pause::UnknownOutcome(_) => run.retry(pause.call_id()).unwrap(),
            }
        }
    }
}

#[tokio::test]
async fn states_of_all_versions_are_continued() {
    for file in std::fs::read_dir(fixtures()).unwrap() {
        let file = file.unwrap().path();
        let lines = std::fs::read_to_string(&file).unwrap();
        assert!(lines.lines().count() > 2, "{}", file.display());
        for (number, line) in lines.lines().enumerate() {
            let case = format!("{}:{}", file.display(), number + 1);
            continue_moment(&serde_json::from_str(line).unwrap(), &case).await;
        }
    }
}

async fn continue_moment(moment: &Moment, case: &str) {
    let state = RunState::read(moment.state.get()).unwrap();
    let turns = usize::try_from(state.turns()).unwrap();
    let conversations = parse_lists(&moment.conversations);
    let next = answer().message("Next.").seed("next");
    let left = answers("continued").into_iter().skip(turns);
    let answers = left.filter(|_| moment.end.is_none()).chain([next]);
    let server = MemoryServer::new(conversations, parse_lists(&moment.responses), answers);
    let sessions = MemorySessions::new();
    let key = |(kind, id): &(String, String)| CallKey {
        kind: Kind::parse(kind),
        call_id: CallId::from(id.as_str()),
    };
    let started: Vec<_> = moment.started.iter().map(key).collect();
    sessions.append(SESSION, &parse(&moment.session), &started).await.unwrap();

    let ran = Arc::new(Ran::default());
    let store = |_| -> Arc<dyn SessionStore> { Arc::new(sessions.clone()) };
    let sessions = state.session().map(store);
    let agent = match moment.end {
        Some(End::Tripped { .. }) => guarded_agent(&server),
        _ => agent(&server),
    };
    let run = Run::resume(&agent, state, sessions, Arc::clone(&ran)).unwrap();
    let result = finish(run, false).await;
    let answered = End::Answered { agent: "expert".into() };
    assert_eq!(result.end(), moment.end.as_ref().unwrap_or(&answered), "{case}");
    continue_result(&server, &result, case).await;
    let ran = ran.lock().unwrap();
    let mut once = ran.clone();
    once.sort_unstable();
    once.dedup();
    assert_eq!(once.len(), ran.len(), "{case}: a tool ran twice: {ran:?}");
    if let Some(input) = server.content().inputs.last() {
        let count = input.iter().filter(|item| item.text().contains(r#""go""#)).count();
        assert_eq!(count, 1, "{case}: {input:#?}");
    }
}

/// Starts the next run. The server refuses an input with a call without an output.
async fn continue_result(server: &MemoryServer, result: &RunResult, case: &str) {
    let agent = agent(server);
    let run = Run::start_with(&agent, result.next_state(), "next", Ran::default()).unwrap();
    assert_eq!(finish(run, false).await.text(), "Next.", "{case}");
}

/// Keeps the whole world whenever a run is saved.
pub(crate) struct Camera {
    sessions: MemorySessions,
    pub(crate) server: MemoryServer,
    pub(crate) moments: Mutex<Vec<Moment>>,
}

impl Camera {
    /// A camera of a new world, with a conversation that has no items.
    pub(crate) fn new() -> Arc<Self> {
        let conversations = Lists::from([("conv_0".to_owned(), Vec::new())]);
        Self::with_server(MemoryServer::new(conversations, Lists::new(), answers("first")))
    }

    /// A camera of a world with this server.
    pub(crate) fn with_server(server: MemoryServer) -> Arc<Self> {
        Arc::new(Self { sessions: MemorySessions::new(), server, moments: Mutex::default() })
    }
}

#[async_trait]
impl SessionStore for Camera {
    async fn load(&self, key: &str) -> Result<SessionContent, SessionError> {
        self.sessions.load(key).await
    }

    async fn append(
        &self,
        key: &str,
        items: &[Item],
        started: &[CallKey],
    ) -> Result<(), SessionError> {
        self.sessions.append(key, items, started).await
    }

    async fn replace(&self, key: &str, old: usize, new: &[Item]) -> Result<(), SessionError> {
        self.sessions.replace(key, old, new).await
    }

    async fn pop(&self, key: &str, tail: &[Item]) -> Result<bool, SessionError> {
        self.sessions.pop(key, tail).await
    }

    async fn clear(&self, key: &str) -> Result<(), SessionError> {
        self.sessions.clear(key).await
    }

    async fn save_run(&self, _: &str, state: Option<&str>) -> Result<(), SessionError> {
        let SessionContent { items, started } = self.sessions.load(SESSION).await?;
        let content = self.server.content();
        let name = |key: &CallKey| (key.kind.as_str().to_owned(), key.call_id.as_str().to_owned());
        self.moments.lock().unwrap().push(Moment {
            state: RawValue::from_string(state.unwrap().to_owned()).unwrap(),
            session: raw(&items),
            started: started.iter().map(name).collect(),
            conversations: raw_lists(&content.conversations),
            responses: raw_lists(&content.responses),
            end: None,
        });
        Ok(())
    }

    async fn run(&self, _: &str) -> Result<Option<String>, SessionError> {
        Ok(None)
    }
}

/// Writes the fixtures of the present version. A version whose fixtures exist is never written
/// again: its states are in the stores of applications.
#[tokio::test]
#[ignore = "writes files"]
async fn write_fixtures() {
    for owner in OWNERS {
        let file = fixtures().join(format!("v{VERSION}_{owner}.jsonl"));
        let camera = Camera::new();
        let sessions: Arc<dyn SessionStore> = Arc::clone(&camera) as _;
        let agent = agent(&camera.server);
        let run = Run::start_with(&agent, state(owner, &sessions), "go", Ran::default()).unwrap();
        let result = finish(run.journal(sessions, "run"), true).await;
        assert_eq!(result.end(), &End::Answered { agent: "expert".into() });
        write(&file, &camera.moments.lock().unwrap());
    }
}

/// Writes moments to a file that does not exist.
pub(crate) fn write(file: &Path, moments: &[Moment]) {
    assert!(!file.exists(), "{} exists", file.display());
    let lines = moments.iter().map(|moment| serde_json::to_string(moment).unwrap() + "\n");
    std::fs::create_dir_all(fixtures()).unwrap();
    std::fs::write(file, lines.collect::<String>()).unwrap();
}

pub(crate) fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/run_states")
}

fn raw(items: &[Item]) -> Vec<Box<RawValue>> {
    items.iter().map(|item| RawValue::from_string(item.text().to_owned()).unwrap()).collect()
}

fn raw_lists(lists: &Lists) -> BTreeMap<String, Vec<Box<RawValue>>> {
    lists.iter().map(|(id, items)| (id.clone(), raw(items))).collect()
}

fn parse(items: &[Box<RawValue>]) -> Vec<Item> {
    items.iter().map(|item| Item::parse(item.get().to_owned().into()).unwrap()).collect()
}

fn parse_lists(lists: &BTreeMap<String, Vec<Box<RawValue>>>) -> Lists {
    lists.iter().map(|(id, items)| (id.clone(), parse(items))).collect()
}
