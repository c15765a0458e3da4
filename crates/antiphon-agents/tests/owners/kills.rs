//! Processes that are killed between any two steps, and others that continue their runs.

use antiphon_mock::{OnAbort, Options, Script, StrictProvider};
use tempfile::TempDir;

use crate::agents::model;
use crate::scenario::{Owner, SCENARIOS, Scenario};
use crate::verdict::{assert_clean, assert_effects, last_input_count};
use crate::worker::{Fate, Job, kill};

const ON_ABORT: [OnAbort; 3] = [OnAbort::StorePart, OnAbort::StoreWhole, OnAbort::StoreNothing];

/// More points than any run has.
const ALL: usize = 1_000;

/// A provider, and the folder that the processes of a run share.
struct Case {
    name: String,
    provider: StrictProvider,
    job: Job,
    _folder: TempDir,
}

impl Case {
    async fn new(owner: Owner, scenario: Scenario, on_abort: OnAbort, name: String) -> Self {
        let options = Options { on_abort, ..Options::default() };
        let provider = StrictProvider::with_options(options).start().await;
        let base_url = provider.base_url();
        let created = model(&base_url).backend().create_conversation(Vec::new()).await;
        let conversation = created.unwrap().as_str().to_owned();
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().to_owned();
        let job = Job { owner, scenario, base_url, conversation, folder: path };
        Self { name, provider, job, _folder: folder }
    }

    /// Continues the run in another process, and checks all requests and effects.
    async fn continue_and_judge(&self) {
        self.provider.wait_until_idle().await;
        assert_eq!(self.job.run(ALL).await, Fate::Ended, "{}", self.name);
        assert_eq!(last_input_count(&self.provider, "go"), 1, "{}", self.name);
        assert_clean(&self.provider, &self.name);
        assert_effects(&self.provider, &self.job.effects(), &self.name);
    }
}

/// Kills a process at each of its points. The last process ends by itself.
async fn kill_everywhere(owner: Owner, scenario: Scenario) {
    for points in 0..ALL {
        let name = format!("{owner:?}, {scenario:?}, killed after {points} points");
        let case = Case::new(owner, scenario, OnAbort::default(), name).await;
        for answer in scenario.answers() {
            case.provider.script(answer);
        }
        let fate = case.job.run(points).await;
        case.continue_and_judge().await;
        if fate == Fate::Ended {
            assert!(points > 10, "{}", case.name);
            return;
        }
    }
}

/// Kills a process while it waits for the rest of an answer that the provider has begun, after each
/// event of each answer.
async fn kill_in_answers(owner: Owner, on_abort: OnAbort) {
    let answers = Scenario::Approval.answers();
    for (turn, answer) in answers.iter().enumerate() {
        for events in 0..answer.frames().len() {
            let name = format!("{owner:?}, {on_abort:?}, killed in answer {turn} after {events}");
            let case = Case::new(owner, Scenario::Approval, on_abort, name).await;
            for before in &answers[..turn] {
                case.provider.script(before.clone());
            }
            let stopped = Script::from(answer.clone()).hang_after(events);
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
            case.continue_and_judge().await;
        }
    }
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
            use super::{ON_ABORT, Owner, SCENARIOS, Scenario, kill_everywhere, kill_in_answers};

            #[tokio::test]
            async fn killed_run_continues_from_every_point() {
                kill_everywhere($owner, Scenario::Approval).await;
            }

            #[tokio::test]
            #[ignore = "starts about 500 processes"]
            async fn killed_runs_of_all_scenarios_continue() {
                for scenario in SCENARIOS {
                    kill_everywhere($owner, scenario).await;
                }
            }

            #[tokio::test]
            async fn run_killed_in_an_answer_continues() {
                for on_abort in ON_ABORT {
                    kill_in_answers($owner, on_abort).await;
                }
            }
        }
    };
}

tests_of!(replay, Owner::Replay);
tests_of!(session, Owner::Session);
tests_of!(journaled_session, Owner::JournaledSession);
tests_of!(conversation, Owner::Conversation);
tests_of!(chain, Owner::Chain);
