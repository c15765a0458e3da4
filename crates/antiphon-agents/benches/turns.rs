//! Measures the cost of a turn beside the model and the tools, the memory of a run, and the bytes
//! of its journal.
//!
//! The model answers at once: each answer is one event, which was built before.

use std::alloc::System;
use std::collections::VecDeque;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use antiphon::Item;
use antiphon::item::CallKey;
use antiphon::stateful::Report;
use antiphon::stream::Event;
use antiphon::tracker::Continuation;
use antiphon_agents::model::{Answer, AnswerEvent, Backend, Model, ModelError, ModelRequest};
use antiphon_agents::roster::Limits;
use antiphon_agents::session::{MemorySessions, SessionContent, SessionError, SessionStore};
use antiphon_agents::{Agent, Run, State, tool, user};
use async_trait::async_trait;
use divan::Bencher;
use divan::counter::ItemsCount;
use futures_util::stream;
use serde_json::json;
use stats_alloc::{INSTRUMENTED_SYSTEM, Region, StatsAlloc};
use tokio::runtime::Runtime;

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

/// The number of items before the run.
const HISTORIES: [usize; 4] = [0, 100, 1_000, 10_000];
/// The number of turns of a run: each but the last calls a tool.
const TURNS: usize = 20;
/// The numbers of turns of long runs.
const LONG: [usize; 3] = [10, 100, 1_000];

fn main() {
    for turns in [1, 10, 100, 1_000] {
        print_memory(turns);
        print_journal(turns);
    }
    divan::main();
}

/// Does nothing.
#[tool]
async fn nothing() -> &'static str {
    "ok"
}

/// A model whose answers were built before.
struct AtOnce(Mutex<VecDeque<AnswerEvent>>);

impl AtOnce {
    fn new(turns: usize) -> Self {
        Self(Mutex::new((0..turns).map(|turn| answer(turn, turn + 1 == turns)).collect()))
    }
}

#[async_trait]
impl Backend for AtOnce {
    async fn respond(&self, _: ModelRequest) -> Result<Answer, ModelError> {
        let event = self.0.lock().expect("no test panics").pop_front().expect("a turn is left");
        Ok(Answer::new(stream::iter([Ok(event)]), Report::default()))
    }

    async fn items(&self, _: &Continuation) -> Result<Vec<Item>, ModelError> {
        Ok(Vec::new())
    }
}

fn answer(turn: usize, is_last: bool) -> AnswerEvent {
    let item = match is_last {
        true => json!({"type": "message", "id": format!("msg_{turn}"), "role": "assistant",
            "status": "completed", "content": [{"type": "output_text", "text": "Done."}]}),
        false => json!({"type": "function_call", "id": format!("fc_{turn}"), "name": "nothing",
            "call_id": format!("call_{turn}"), "arguments": "{}", "status": "completed"}),
    };
    let response = json!({"id": format!("resp_{turn}"), "object": "response",
        "status": "completed", "output": [item], "usage": null});
    let data = json!({"type": "response.completed", "response": response, "sequence_number": 0});
    let kind = "response.completed".to_owned().into();
    AnswerEvent::new(Event { kind, data: data.to_string().into() }).expect("it is an event")
}

/// A history of dialogues with a call and its output, of about 1 kB per item.
fn history(items: usize) -> Vec<Item> {
    let text = "word ".repeat(200);
    let item = |at: usize| match at % 4 {
        0 => user(&text),
        1 => parse(&json!({"type": "function_call", "id": format!("fc_h{at}"), "name": "nothing",
            "call_id": format!("call_h{at}"), "arguments": json!({"text": text}).to_string()})),
        2 => parse(&json!({"type": "function_call_output", "output": text,
            "call_id": format!("call_h{}", at - 1)})),
        _ => parse(&json!({"type": "message", "id": format!("msg_h{at}"), "role": "assistant",
            "content": [{"type": "output_text", "text": text}]})),
    };
    (0..items).map(item).collect()
}

fn parse(item: &serde_json::Value) -> Item {
    Item::parse(item.to_string().into()).expect("it is an item")
}

fn run(state: State, turns: usize) -> Run {
    let agent = Agent::new("a").tool(nothing).model(Model::new("m", AtOnce::new(turns)));
    let limits = Limits { turns: u64::MAX, ..Limits::default() };
    Run::start(&agent, state, "go").expect("the agent is valid").limits(limits)
}

fn runtime() -> Runtime {
    tokio::runtime::Builder::new_current_thread().enable_all().build().expect("it can be built")
}

fn session(runtime: &Runtime, items: &[Item]) -> State {
    let sessions = MemorySessions::new();
    runtime.block_on(sessions.append("s", items, &[])).expect("memory is there");
    State::session(sessions, "s")
}

/// Runs until the end.
fn measure(bencher: Bencher<'_, '_>, turns: usize, new: impl Fn(&Runtime) -> Run + Sync) {
    let runtime = runtime();
    bencher
        .counter(ItemsCount::new(turns))
        .with_inputs(|| new(&runtime))
        .bench_local_values(|run| runtime.block_on(run.finish()).expect("the run ends"));
}

#[divan::bench(args = HISTORIES)]
fn replay(bencher: Bencher<'_, '_>, items: usize) {
    let history = history(items);
    measure(bencher, TURNS, |_| run(State::replay(history.clone()), TURNS));
}

#[divan::bench(args = HISTORIES)]
fn session_in_memory(bencher: Bencher<'_, '_>, items: usize) {
    let history = history(items);
    measure(bencher, TURNS, |runtime| run(session(runtime, &history), TURNS));
}

#[divan::bench(args = LONG)]
fn long_replay(bencher: Bencher<'_, '_>, turns: usize) {
    measure(bencher, turns, |_| run(State::empty(), turns));
}

#[divan::bench(args = LONG)]
fn long_chain(bencher: Bencher<'_, '_>, turns: usize) {
    measure(bencher, turns, |_| run(State::chain(), turns));
}

#[divan::bench(args = LONG)]
fn long_conversation(bencher: Bencher<'_, '_>, turns: usize) {
    measure(bencher, turns, |_| run(State::conversation("conv_1"), turns));
}

#[divan::bench(args = LONG)]
fn long_journaled_replay(bencher: Bencher<'_, '_>, turns: usize) {
    measure(bencher, turns, |_| {
        run(State::empty(), turns).journal(Arc::new(MemorySessions::new()), "run")
    });
}

/// Prints the memory of a run after so many turns.
fn print_memory(turns: usize) {
    let runtime = runtime();
    let region = Region::new(ALLOCATOR);
    let mut live = run(State::empty(), turns);
    runtime.block_on(async { while live.next().await.is_some() {} });
    let used = region.change();
    let bytes = used.bytes_allocated - used.bytes_deallocated;
    let json = live.suspend().to_json().len();
    println!("{turns} turns: a live run has {bytes} bytes, and its suspended state {json} bytes");
}

/// Counts the writes of a journal, and their bytes.
#[derive(Default)]
struct Counter {
    writes: AtomicUsize,
    bytes: AtomicUsize,
}

#[async_trait]
impl SessionStore for Counter {
    async fn load(&self, _: &str) -> Result<SessionContent, SessionError> {
        Ok(SessionContent::default())
    }

    async fn append(&self, _: &str, _: &[Item], _: &[CallKey]) -> Result<(), SessionError> {
        Ok(())
    }

    async fn replace(&self, _: &str, _: usize, _: &[Item]) -> Result<(), SessionError> {
        Ok(())
    }

    async fn pop(&self, _: &str, _: &[Item]) -> Result<bool, SessionError> {
        Ok(false)
    }

    async fn clear(&self, _: &str) -> Result<(), SessionError> {
        Ok(())
    }

    async fn save_run(&self, _: &str, state: Option<&str>) -> Result<(), SessionError> {
        self.writes.fetch_add(1, Ordering::Relaxed);
        self.bytes.fetch_add(state.map_or(0, str::len), Ordering::Relaxed);
        Ok(())
    }

    async fn run(&self, _: &str) -> Result<Option<String>, SessionError> {
        Ok(None)
    }
}

/// Prints the number and the bytes of the writes of a journal.
fn print_journal(turns: usize) {
    let counter = Arc::new(Counter::default());
    let journal = Arc::clone(&counter) as Arc<dyn SessionStore>;
    let run = run(State::empty(), turns).journal(journal, "run");
    runtime().block_on(run.finish()).expect("the run ends");
    let (writes, bytes) =
        (counter.writes.load(Ordering::Relaxed), counter.bytes.load(Ordering::Relaxed));
    println!("{turns} turns: the journal has {writes} writes of {bytes} bytes together");
}
