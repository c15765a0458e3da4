//! The agents of all tests, and the effects of their tools.

use std::fs::OpenOptions;
use std::io::Write;
use std::path::PathBuf;
use std::sync::Mutex;

use antiphon_agents::agent::WithModel;
use antiphon_agents::{Agent, Handoff, Model, ToolContext, tool};

use crate::points;

pub(crate) const MODEL: &str = "think-1";

/// The calls whose tools had their effect, in order: `NAME CALL_ID`.
#[derive(Default)]
pub(crate) struct Effects {
    here: Mutex<Vec<String>>,
    /// Survives the process.
    file: Option<PathBuf>,
}

impl Effects {
    /// Effects that survive the process, in this file.
    pub(crate) fn in_file(file: PathBuf) -> Self {
        Self { file: Some(file), ..Self::default() }
    }

    fn add(&self, context: &ToolContext<Self>) {
        let line = format!("{} {}", context.tool(), context.call_id());
        if let Some(file) = &self.file {
            let mut file = OpenOptions::new().create(true).append(true).open(file).unwrap();
            writeln!(file, "{line}").unwrap();
        }
        self.here.lock().unwrap().push(line);
    }

    /// All effects of this process.
    pub(crate) fn lines(&self) -> Vec<String> {
        self.here.lock().unwrap().clone()
    }

    /// The number of effects of this tool.
    pub(crate) fn count(&self, tool: &str) -> usize {
        let is_it = |line: &&String| line.split(' ').next() == Some(tool);
        self.here.lock().unwrap().iter().filter(is_it).count()
    }
}

/// Looks something up.
#[tool]
async fn look_up(cx: &ToolContext<Effects>) -> String {
    has_effect(cx).await;
    "found".into()
}

/// Pays.
#[tool(needs_approval = true)]
async fn pay(cx: &ToolContext<Effects>) -> String {
    has_effect(cx).await;
    "paid".into()
}

async fn has_effect(context: &ToolContext<Effects>) {
    points::pass();
    context.context().add(context);
    points::pass();
    tokio::task::yield_now().await;
}

/// The model at this base URL.
pub(crate) fn model(base_url: &str) -> Model {
    Model::responses(MODEL).at(base_url).key("sk-test")
}

/// The first agent of a run.
pub(crate) fn first_agent(base_url: &str) -> Agent<Effects, WithModel> {
    let expert = Agent::new("expert").tool(look_up);
    let filtered =
        Handoff::to(&expert).name("ask_expert").filter(|items| items.into_iter().take(1).collect());
    let first = Agent::new("first").tool(look_up).tool(pay);
    first.handoff(&expert).handoff(filtered).model(model(base_url))
}
