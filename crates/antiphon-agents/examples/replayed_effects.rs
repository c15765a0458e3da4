//! The machine in an engine that records effects, as Temporal, Restate and DBOS do.
//!
//! The workflow runs from its start after each interruption. An effect that is in the journal is
//! not performed again: its recorded result is used.

use std::sync::Arc;

use antiphon::Item;
use antiphon_agents::machine::{End, Machine, ModelAnswer, NewOwner, Step, call_key};
use antiphon_agents::roster::{AgentFacts, Limits, Roster, ToolFacts};
use antiphon_agents::rules::Outcome;
use antiphon_agents::user;

/// The effects of the conversation, in order: two answers of a model, and a tool between them.
const EFFECTS: [&str; 3] = [
    r#"{"type":"function_call","call_id":"c1","name":"clock","arguments":"{}"}"#,
    r#"{"type":"function_call_output","call_id":"c1","output":"noon"}"#,
    r#"{"type":"message","role":"assistant","content":"It is noon."}"#,
];

/// Runs the workflow with the recorded results. It is interrupted after the first new effect.
fn workflow(journal: &mut Vec<Item>) -> Option<End> {
    let tools = [("clock".to_owned(), ToolFacts::default())].into();
    let agent = ("assistant".to_owned(), AgentFacts { tools, ..AgentFacts::default() });
    let roster = Arc::new(Roster::new([agent], Limits::default()));
    let owner = NewOwner::Replay(Vec::new());
    let mut machine = Machine::start(roster, "assistant", owner, vec![user("What time is it?")]);
    let mut recorded = journal.clone().into_iter();
    loop {
        let step = machine.step();
        match step {
            Step::Save(save) => machine.saved(&save),
            Step::Done(end) => return Some(end),
            Step::Ask(_) | Step::Call(_) => {
                let Some(result) = recorded.next() else {
                    // The effect is performed here: a request to a model, or a tool.
                    let result = EFFECTS[journal.len()].into();
                    journal.push(Item::parse(result).expect("the example has valid items"));
                    return None;
                };
                if let Step::Call(calls) = step {
                    machine.call_ended(&call_key(&calls[0]), Outcome::Output(result));
                } else {
                    machine.ask(None).expect("the items of the step are planned");
                    let answer = ModelAnswer { output: vec![result], ..ModelAnswer::default() };
                    machine.answered(&answer);
                }
            }
            step => unreachable!("no such effect in this example: {step:?}"),
        }
    }
}

pub(crate) fn main() {
    let mut journal = Vec::new();
    for _ in EFFECTS {
        assert_eq!(workflow(&mut journal), None, "the engine stops the workflow");
    }
    assert_eq!(workflow(&mut journal), Some(End::Answered { agent: "assistant".into() }));
    println!("{} effects, performed once each", journal.len());
}
