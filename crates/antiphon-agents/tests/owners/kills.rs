//! Processes that are killed between any two steps, and others that continue their runs.

use std::fmt;

use antiphon_mock::{OnAbort, Options, Script, StrictProvider};
use antiphon_testkit::postgres::Server;
use tempfile::TempDir;

use crate::agents::model;
use crate::extent::Extent;
use crate::scenario::{Owner, SCENARIOS, Scenario};
use crate::verdict::{
    assert_clean, assert_effects, assert_ran_once, count_unknown, last_input_count,
};
use crate::worker::{Fate, Job, kill};

/// More points than any run has.
const ALL: usize = 1_000;

/// The owner of a run, and the way in which the next process continues it.
struct Setup {
    owner: Owner,
    resumes: bool,
    /// The database of sessions and journals; `None` for a SQLite file for each run.
    database: Option<String>,
}

impl Setup {
    /// Runs are resumed if the owner has a journal.
    fn new(owner: Owner) -> Self {
        Self { owner, resumes: owner.has_journal(), database: None }
    }

    fn without_journal(owner: Owner) -> Self {
        Self { resumes: false, ..Self::new(owner) }
    }

    async fn in_postgresql(owner: Owner) -> Self {
        let url = Server::shared().await.create_database().await;
        Self { database: Some(format!("{url}?pool_max=2")), ..Self::new(owner) }
    }

    /// Whether the first input is certainly in the state that the next process continues.
    fn has_input(&self) -> bool {
        self.resumes || self.owner.has_session()
    }
}

impl fmt::Display for Setup {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let store = if self.database.is_some() { "PostgreSQL" } else { "SQLite" };
        write!(f, "{:?}, {store}, resumed: {}", self.owner, self.resumes)
    }
}

/// A folder for the files of a run. It is in memory if the system has such a file system: a killed
/// process loses nothing that it wrote, so the tests need not wait for a disk.
fn folder() -> TempDir {
    tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap()
}

/// A provider, and the folder that the processes of a run share.
struct Case<'a> {
    setup: &'a Setup,
    name: String,
    provider: StrictProvider,
    job: Job,
    _folder: TempDir,
}

impl<'a> Case<'a> {
    /// `number` is unique among the cases of the setup.
    async fn new(setup: &'a Setup, scenario: Scenario, on_abort: OnAbort, number: &str) -> Self {
        let options = Options { on_abort, ..Options::default() };
        let provider = StrictProvider::with_options(options).start().await;
        let base_url = provider.base_url();
        let created = model(&base_url).backend().create_conversation(Vec::new()).await;
        let conversation = created.unwrap().as_str().to_owned();
        let folder = folder();
        let path = folder.path().to_owned();
        let file = || format!("sqlite:{}", path.join("store.db").display());
        let name = format!("{scenario:?}, {on_abort:?}, killed {number}");
        let job = Job {
            owner: setup.owner,
            scenario,
            resumes: setup.resumes,
            base_url,
            conversation,
            store: setup.database.clone().unwrap_or_else(file),
            tenant: name.clone(),
            folder: path,
        };
        Self { setup, name: format!("{setup}, {name}"), provider, job, _folder: folder }
    }

    /// Continues the run in another process, and checks all requests and effects.
    async fn continue_and_judge(&self, tally: &mut Tally) {
        self.provider.wait_until_idle().await;
        assert_eq!(self.job.run(ALL).await, Fate::Ended, "{}", self.name);
        let inputs = last_input_count(&self.provider, "go");
        let expected = if self.setup.has_input() { 1..=1 } else { 0..=1 };
        assert!(expected.contains(&inputs), "{}: the input is there {inputs} times", self.name);
        assert_clean(&self.provider, &self.name);
        let effects = self.job.effects();
        assert_ran_once(&effects, &self.name);
        // Otherwise an output may be lost, and its call has an unknown outcome.
        if self.setup.has_input() {
            assert_effects(&self.provider, &effects, &self.name);
        }
        tally.runs += 1;
        tally.tools += effects.len();
        tally.unknown += count_unknown(&self.provider);
    }
}

/// The numbers of a test.
#[derive(Debug, Default)]
struct Tally {
    runs: usize,
    killed: usize,
    /// Tools that had their effect, each once.
    tools: usize,
    /// Calls whose outcome the model read as unknown.
    unknown: usize,
}

/// Kills a process at each of its points. The last process ends by itself.
async fn kill_everywhere(setup: &Setup, scenario: Scenario, tally: &mut Tally) {
    for points in 0..ALL {
        let number = format!("after {points} points");
        let case = Case::new(setup, scenario, OnAbort::default(), &number).await;
        for answer in scenario.answers(setup.owner) {
            case.provider.script(answer);
        }
        let fate = case.job.run(points).await;
        tally.killed += usize::from(fate == Fate::Killed);
        case.continue_and_judge(tally).await;
        if fate == Fate::Ended {
            assert!(points > 10, "{}", case.name);
            return;
        }
    }
}

/// Kills the processes of all scenarios, and prints the numbers.
async fn kill_all_scenarios(setup: Setup) {
    let mut tally = Tally::default();
    for scenario in SCENARIOS {
        kill_everywhere(&setup, scenario, &mut tally).await;
        kill_in_answers(&setup, scenario, Extent::All, &mut tally).await;
    }
    println!("{setup}: {tally:?}");
}

/// Kills a process while it waits for the rest of an answer that the provider has begun, after each
/// event of each answer.
async fn kill_in_answers(setup: &Setup, scenario: Scenario, extent: Extent, tally: &mut Tally) {
    let answers = scenario.answers(setup.owner);
    for (turn, answer) in answers.iter().enumerate() {
        for events in 0..answer.frames().len() {
            for on_abort in extent.outcomes(events + turn) {
                kill_in_answer(setup, scenario, on_abort, (turn, events), tally).await;
            }
        }
    }
}

async fn kill_in_answer(
    setup: &Setup,
    scenario: Scenario,
    on_abort: OnAbort,
    (turn, events): (usize, usize),
    tally: &mut Tally,
) {
    let answers = scenario.answers(setup.owner);
    let number = format!("in answer {turn} after {events}");
    let case = Case::new(setup, scenario, on_abort, &number).await;
    for before in &answers[..turn] {
        case.provider.script(before.clone());
    }
    let stopped = Script::from(answers[turn].clone()).hang_after(events);
    let stopped = if events == 0 { stopped.withhold_head() } else { stopped };
    let exchange = case.provider.script(stopped);
    for after in &answers[turn + 1..] {
        case.provider.script(after.clone());
    }
    let worker = case.job.spawn(ALL);
    wait_for_turn(&case.provider, turn).await;
    exchange.wait_for_sent(events).await;
    kill(worker);
    exchange.wait_for_disconnect().await;
    tally.killed += 1;
    case.continue_and_judge(tally).await;
}

/// Waits until the provider has accepted so many turns, and one more.
async fn wait_for_turn(provider: &StrictProvider, turn: usize) {
    let mut accepted = 0;
    for index in 0.. {
        accepted += usize::from(provider.request(index).await.is_turn());
        if accepted > turn {
            return;
        }
    }
}

/// The tests of one owner.
macro_rules! tests_of {
    ($name:ident, $owner:expr) => {
        mod $name {
            use super::{Extent, Owner, Scenario, Setup, Tally, kill_everywhere, kill_in_answers};

            #[tokio::test]
            async fn killed_run_continues_from_every_point() {
                let setup = Setup::new($owner);
                kill_everywhere(&setup, Scenario::Approval, &mut Tally::default()).await;
            }

            #[tokio::test]
            async fn run_killed_in_an_answer_continues() {
                let (setup, mut tally) = (Setup::new($owner), Tally::default());
                kill_in_answers(&setup, Scenario::Approval, Extent::Sample, &mut tally).await;
            }
        }
    };
}

tests_of!(replay, Owner::Replay);
tests_of!(session, Owner::Session);
tests_of!(journaled_session, Owner::JournaledSession);
tests_of!(conversation, Owner::Conversation);
tests_of!(chain, Owner::Chain);

/// Kills the processes of all scenarios, for every owner and with every outcome of an abort: `cargo
/// test -p antiphon-agents --test owners -- --ignored kills --nocapture`.
mod all_scenarios {
    use super::{Owner, Setup, kill_all_scenarios};

    macro_rules! tests {
        ($($test:ident: $setup:expr;)*) => {$(
            #[tokio::test]
            #[ignore = "starts about 1,500 processes"]
            async fn $test() {
                kill_all_scenarios($setup).await;
            }
        )*};
    }

    tests! {
        replay: Setup::new(Owner::Replay);
        replay_without_journal: Setup::without_journal(Owner::Replay);
        session: Setup::new(Owner::Session);
        session_in_postgresql: Setup::in_postgresql(Owner::Session).await;
        journaled_session: Setup::new(Owner::JournaledSession);
        journaled_session_in_postgresql: Setup::in_postgresql(Owner::JournaledSession).await;
        conversation: Setup::new(Owner::Conversation);
        conversation_without_journal: Setup::without_journal(Owner::Conversation);
        chain: Setup::new(Owner::Chain);
        chain_without_journal: Setup::without_journal(Owner::Chain);
    }
}
