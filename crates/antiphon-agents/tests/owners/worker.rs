//! A process of its own that runs an agent, and that the tests of kills start and kill.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;

use antiphon_agents::machine::{End, RunState};
use antiphon_agents::session::{SessionStore, StoreSessions};
use antiphon_agents::{Compaction, Run};
use serde::{Deserialize, Serialize};

use crate::agents::{Effects, first_agent};
use crate::points::{self, STOPPED, Watched};
use crate::scenario::{Owner, Scenario};
use crate::world::{JOURNAL, SESSION, approve_all, state};

/// The variable of the environment with the work of a process.
const JOB: &str = "ANTIPHON_TEST_JOB";

/// The work of a process.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Job {
    pub(crate) owner: Owner,
    pub(crate) scenario: Scenario,
    /// Whether the run has a journal, from which the next process resumes it. Otherwise the next
    /// process starts another run.
    pub(crate) resumes: bool,
    pub(crate) base_url: String,
    pub(crate) conversation: String,
    /// The URL of the store of sessions and journals.
    pub(crate) store: String,
    /// The tenant of the sessions and journals of this job.
    pub(crate) tenant: String,
    /// The folder with the effects of tools.
    pub(crate) folder: PathBuf,
}

/// The end of a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    /// It was killed.
    Killed,
    /// The run ended, and the process after it.
    Ended,
}

impl Job {
    /// Starts a process, which stops after so many points.
    pub(crate) fn spawn(&self, points: usize) -> Child {
        let job = serde_json::to_string(&(self, points)).unwrap();
        let mut worker = Command::new(std::env::current_exe().unwrap());
        worker.args(["worker::run_the_job", "--exact", "--ignored", "--nocapture"]);
        worker.env(JOB, job).stdout(Stdio::piped()).spawn().unwrap()
    }

    /// Runs a process until it ends, or kills it at a point.
    pub(crate) async fn run(&self, points: usize) -> Fate {
        let mut worker = self.spawn(points);
        tokio::task::spawn_blocking(move || {
            let output = BufReader::new(worker.stdout.take().unwrap());
            for line in output.lines() {
                if line.unwrap() == STOPPED {
                    kill(worker);
                    return Fate::Killed;
                }
            }
            assert!(worker.wait().unwrap().success(), "the process of the run failed");
            Fate::Ended
        })
        .await
        .unwrap()
    }

    /// The calls whose tools had their effect in any process: `NAME CALL_ID`.
    pub(crate) fn effects(&self) -> Vec<String> {
        let effects = std::fs::read_to_string(effects_file(&self.folder)).unwrap_or_default();
        effects.lines().map(str::to_owned).collect()
    }

    /// Continues the run of the last process, or starts the first one, and drives it to its end.
    async fn perform(&self) {
        let opened = StoreSessions::open(&self.store).await.unwrap().tenant(&self.tenant);
        let sessions: Arc<dyn SessionStore> = Arc::new(Watched(Arc::new(opened.clone())));
        let mut run = self.next_run(&sessions).await;
        if self.scenario == Scenario::Compaction {
            let compaction = Compaction::by_model().when(|history| history.len() > 3);
            run = run.compaction(compaction.pin(|item| item.text().contains(r#""go""#)));
        }
        loop {
            while run.next().await.is_some() {
                points::pass();
            }
            if !approve_all(&mut run) {
                break;
            }
        }
        let result = run.into_result().await.unwrap();
        assert!(matches!(result.end(), End::Answered { .. }), "{:?}", result.end());
        opened.close().await;
    }

    async fn next_run(&self, sessions: &Arc<dyn SessionStore>) -> Run<Effects> {
        let agent = first_agent(&self.base_url);
        let effects = Effects::in_file(effects_file(&self.folder));
        let journal = sessions.run(JOURNAL).await.unwrap().filter(|_| self.resumes);
        if let Some(journal) = journal {
            let state = RunState::read(&journal).unwrap();
            let store = state.session().map(|_| Arc::clone(sessions));
            let run = Run::resume(&agent, state, store, effects).unwrap();
            return run.journal(Arc::clone(sessions), JOURNAL);
        }
        let input = if self.has_input(sessions).await { "still there?" } else { "go" };
        let state = state(self.owner, sessions, &self.conversation);
        let run = Run::start_with(&agent, state, input, effects).unwrap();
        match self.resumes {
            true => run.journal(Arc::clone(sessions), JOURNAL),
            false => run,
        }
    }

    /// Whether another process gave the first input to the owner of the state, or tried to. It may
    /// have died before it stored the input in the session or in the journal.
    async fn has_input(&self, sessions: &Arc<dyn SessionStore>) -> bool {
        match self.resumes || self.owner.has_session() {
            true => !sessions.load(SESSION).await.unwrap().items.is_empty(),
            false => File::create_new(self.folder.join("started")).is_err(),
        }
    }
}

/// Ends a process by SIGKILL, and waits for its end.
pub(crate) fn kill(mut worker: Child) {
    worker.kill().unwrap();
    worker.wait().unwrap();
}

fn effects_file(folder: &Path) -> PathBuf {
    folder.join("effects.txt")
}

#[test]
#[ignore = "a process that the tests of kills start"]
fn run_the_job() {
    let Ok(job) = std::env::var(JOB) else { return };
    let (job, points): (Job, usize) = serde_json::from_str(&job).unwrap();
    points::allow(points);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(job.perform());
}
