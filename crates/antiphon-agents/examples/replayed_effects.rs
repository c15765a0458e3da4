//! The machine in an engine that records effects, as Temporal, Restate and DBOS do.
//!
//! The workflow runs from its start after each interruption. An effect that is in the journal is
//! not performed again: its recorded result is used.

use std::sync::Arc;

use antiphon::Item;
use antiphon_agents::machine::{End, Machine, ModelAnswer, NewOwner, Step};
use antiphon_agents::roster::{AgentFacts, Limits, Roster, ToolFacts};
use antiphon_agents::rules::Outcome;
use antiphon_agents::user;

/// The results of the effects so far, as the engine stores them.
#[derive(Default)]
struct Journal {
    results: Vec<Item>,
    performed: usize,
}

impl Journal {
    /// The recorded result of the effect at `position`, or the result of performing it now.
    fn effect(&mut self, position: usize, perform: impl FnOnce() -> &'static str) -> Item {
        if self.results.len() == position {
            let result = Item::parse(perform().into()).expect("the example has valid items");
            self.results.push(result);
            self.performed += 1;
        }
        self.results[position].clone()
    }
}

/// Runs the workflow. It is interrupted before the effect at `stop`.
fn workflow(journal: &mut Journal, stop: usize) -> Option<End> {
    let tools = [("clock".to_owned(), ToolFacts::default())].into();
    let agent = ("assistant".to_owned(), AgentFacts { tools, ..AgentFacts::default() });
    let roster = Arc::new(Roster::new([agent], Limits::default()));
    let owner = NewOwner::Replay(Vec::new());
    let mut machine = Machine::start(roster, "assistant", owner, vec![user("What time is it?")]);
    let mut effects = 0;
    loop {
        match machine.step() {
            Step::Save(save) => machine.saved(&save),
            Step::Done(end) => return Some(end),
            _ if effects == stop => return None,
            Step::Ask(_) => {
                machine.ask(None).expect("the items of the step are planned");
                let answer = journal.effect(effects, || match stop {
                    0..=1 => {
                        r#"{"type":"function_call","call_id":"c1","name":"clock","arguments":"{}"}"#
                    }
                    _ => r#"{"type":"message","role":"assistant","content":"It is noon."}"#,
                });
                machine.answered(&ModelAnswer { output: vec![answer], ..ModelAnswer::default() });
                effects += 1;
            }
            Step::Call(calls) => {
                let output = journal.effect(
                    effects,
                    || r#"{"type":"function_call_output","call_id":"c1","output":"noon"}"#,
                );
                let key = calls[0].head().pairing().expect("a call has a key").1;
                machine.call_ended(&key, Outcome::Output(output));
                effects += 1;
            }
            step => unreachable!("no such effect in this example: {step:?}"),
        }
    }
}

pub(crate) fn main() {
    let mut journal = Journal::default();
    for stop in 1..3 {
        assert_eq!(workflow(&mut journal, stop), None, "the engine stops the workflow");
    }
    let end = workflow(&mut journal, 3);
    assert_eq!(end, Some(End::Answered { agent: "assistant".into() }));
    assert_eq!(journal.performed, 3, "no effect was performed twice");
    println!("{} effects, performed once each", journal.performed);
}
