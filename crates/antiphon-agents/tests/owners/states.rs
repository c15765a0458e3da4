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
use antiphon_agents::{Agent, Handoff, Model, Run, State, ToolContext, tool, user};
use async_trait::async_trait;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use std::collections::BTreeMap;

use crate::memory_server::{Lists, MemoryServer};
use crate::scenario::answer;
use crate::world::SESSION;

/// The version that this library writes.
const VERSION: u32 = 1;

/// The owners of the fixtures.
const OWNERS: [&str; 4] = ["replay", "session", "conversation", "chain"];

/// The state of a run, and the content of all other parties.
#[derive(Serialize, Deserialize)]
struct Moment {
    state: Box<RawValue>,
    session: Vec<Box<RawValue>>,
    started: Vec<(String, String)>,
    conversations: BTreeMap<String, Vec<Box<RawValue>>>,
    responses: BTreeMap<String, Vec<Box<RawValue>>>,
}

/// The calls that ran.
type Ran = Mutex<Vec<String>>;

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

fn agent(server: &MemoryServer) -> Agent<Ran, WithModel> {
    let expert = Agent::new("expert").tool(look_up);
    let filtered =
        Handoff::to(&expert).name("ask_expert").filter(|items| items.into_iter().take(1).collect());
    let first = Agent::new("first").tool(look_up).tool(pay).tool(send);
    first.handoff(filtered).model(Model::new("m", server.clone()))
}

/// The answers of the model. The ids of their items come from `seed`.
fn answers(seed: &str) -> [antiphon_mock::Answer; 4] {
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

fn state(owner: &str, sessions: &Arc<dyn SessionStore>) -> State {
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
async fn finish(mut run: Run<Ran>, mut stages: bool) -> End {
    loop {
        while run.next().await.is_some() {}
        if std::mem::take(&mut stages) {
            run.stage(user("also this")).unwrap();
        }
        let waiting = run.waiting();
        if waiting.is_empty() {
            return run.finish().await.unwrap().end().clone();
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
        assert!(lines.lines().count() > 5, "{}", file.display());
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
    let answers = answers("continued").into_iter().skip(turns);
    let server = MemoryServer::new(conversations, parse_lists(&moment.responses), answers);
    let sessions = MemorySessions::new();
    let key = |(kind, id): &(String, String)| CallKey {
        kind: Kind::parse(kind),
        call_id: CallId::from(id.as_str()),
    };
    let started: Vec<_> = moment.started.iter().map(key).collect();
    sessions.append(SESSION, &parse(&moment.session), &started).await.unwrap();

    let ran = Arc::new(Ran::default());
    let sessions: Option<Arc<dyn SessionStore>> = Some(Arc::new(sessions));
    let run = Run::resume(&agent(&server), state, sessions, Arc::clone(&ran)).unwrap();
    assert_eq!(finish(run, false).await, End::Answered { agent: "expert".into() }, "{case}");
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

/// Keeps the whole world whenever a run is saved.
struct Camera {
    sessions: MemorySessions,
    server: MemoryServer,
    moments: Mutex<Vec<Moment>>,
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
        assert!(!file.exists(), "{} exists", file.display());
        let conversations = Lists::from([("conv_0".to_owned(), Vec::new())]);
        let server = MemoryServer::new(conversations, Lists::new(), answers("first"));
        let sessions = MemorySessions::new();
        let camera = Camera { sessions, server: server.clone(), moments: Mutex::default() };
        let camera = Arc::new(camera);
        let sessions: Arc<dyn SessionStore> = Arc::clone(&camera) as _;
        let run = Run::start_with(&agent(&server), state(owner, &sessions), "go", Ran::default());
        let run = run.unwrap().journal(sessions, "run");
        assert_eq!(finish(run, true).await, End::Answered { agent: "expert".into() });
        let moments = camera.moments.lock().unwrap();
        let lines = moments.iter().map(|moment| serde_json::to_string(moment).unwrap() + "\n");
        std::fs::create_dir_all(fixtures()).unwrap();
        std::fs::write(file, lines.collect::<String>()).unwrap();
    }
}

fn fixtures() -> PathBuf {
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
