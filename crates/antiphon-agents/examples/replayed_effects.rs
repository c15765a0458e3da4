//! The machine in an engine that records effects, as Temporal, Restate and DBOS do.
//!
//! The workflow runs from its start after each interruption. An effect that is in the journal is
//! not performed again: its recorded result is used.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use antiphon_agents::machine::{Ask, End, Machine, ModelAnswer, NewOwner, Step, call_key};
use antiphon_agents::roster::Limits;
use antiphon_agents::{Agent, Model, Team, ToolContext, tool, user};
use serde::Serialize;
use serde::de::DeserializeOwned;

/// The number of times that the clock was asked.
type Asked = AtomicUsize;

/// Returns the time.
#[tool]
async fn clock(cx: &ToolContext<Asked>) -> &'static str {
    cx.context().fetch_add(1, Ordering::Relaxed);
    "noon"
}

/// The journal of an engine: the results of the effects so far, as JSON.
#[derive(Default)]
struct Journal {
    results: Vec<String>,
    replayed: usize,
}

impl Journal {
    /// The recorded result of the next effect. If there is none, the effect is performed and
    /// recorded, and the workflow is interrupted: as if the process died.
    async fn effect<T: Serialize + DeserializeOwned>(
        &mut self,
        effect: impl Future<Output = T>,
    ) -> Option<T> {
        if let Some(result) = self.results.get(self.replayed) {
            self.replayed += 1;
            return Some(serde_json::from_str(result).expect("it was written below"));
        }
        let result = effect.await;
        self.results.push(serde_json::to_string(&result).expect("results have a JSON form"));
        None
    }
}

/// Runs the workflow; `None` if it is interrupted.
async fn workflow(team: &Team<Asked>, asked: &Arc<Asked>, journal: &mut Journal) -> Option<End> {
    let (owner, input) = (NewOwner::Replay(Vec::new()), vec![user("Ask the clock")]);
    let mut machine = Machine::start(team.roster(), "assistant", owner, input);
    loop {
        match machine.step() {
            // The journal is the store.
            Step::Save(save) => machine.saved(&save),
            Step::Ask(ask) => {
                machine.ask(None).expect("the items of the step are planned");
                machine.answered(&journal.effect(answer(team, ask, asked)).await?);
            }
            Step::Call(calls) => {
                for call in calls {
                    let key = call_key(&call);
                    let context = ToolContext::new(Arc::clone(asked), "clock", key.call_id.clone());
                    let calling = team.call(machine.agent_of(&key), &call, context);
                    let outcome = journal.effect(calling).await?;
                    machine.call_ended(&key, outcome);
                }
            }
            Step::Done(end) => return Some(end),
            step => unreachable!("no such effect in this example: {step:?}"),
        }
    }
}

/// Asks the model. The built-in one does not fail; `Machine::ask_failed` records a failure.
async fn answer(team: &Team<Asked>, ask: Ask, asked: &Asked) -> ModelAnswer {
    let (model, request) = team.request(ask, asked).expect("the team has the agent");
    let answer = model.backend().respond(request).await.expect("the model answers");
    ModelAnswer::from(&answer.finish().await.expect("the model ends its answer"))
}

#[tokio::main]
pub(crate) async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let agent = Agent::new("assistant").tool(clock).model(Model::sim());
    let (team, asked) = (Team::new(&agent, Limits::default())?, Arc::new(Asked::default()));
    let mut journal = Journal::default();
    let end = loop {
        journal.replayed = 0;
        if let Some(end) = workflow(&team, &asked, &mut journal).await {
            break end;
        }
    };
    println!("{end}, with {} effects", journal.results.len());
    assert_eq!(end, End::Answered { agent: "assistant".into() });
    // Two answers of the model, and a call between them, each performed once.
    assert_eq!((journal.results.len(), asked.load(Ordering::Relaxed)), (3, 1));
    Ok(())
}
