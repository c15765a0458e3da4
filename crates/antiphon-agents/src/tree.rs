//! A run as a tree for the terminal.

use std::fmt;

use antiphon::Item;
use antiphon_client::text_of;

use crate::machine::{AnswerRecord, End, RunState, tool_name};

/// The longest text of an item in characters.
const WIDTH: usize = 60;

/// A run as a tree: its agents, their answers and calls, and the end.
///
/// ```text
/// run
/// ├─ user: I want my money back
/// ├─ triage (120 tokens)
/// │  ├─ transfer_to_billing(call_1)
/// │  └─ output of call_1: Transferred to billing.
/// └─ billing (80 tokens)
///    └─ assistant: Done.
/// ```
#[derive(Clone, Copy, Debug)]
pub struct RunTree<'a>(pub &'a RunState);

impl fmt::Display for RunTree<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("run")?;
        let (state, mut branches) = (self.0, Vec::new());
        let mut from = 0;
        for answer in state.answers() {
            branches.extend(state.items()[from..answer.items.start].iter().map(Branch::item));
            branches.push(Branch::answer(state, answer));
            from = answer.items.end;
        }
        branches.extend(state.items()[from..].iter().map(Branch::item));
        branches.extend(state.end().map(Branch::end));
        write_branches(f, &branches, "")
    }
}

/// A line and the lines below it.
struct Branch {
    line: String,
    below: Vec<Self>,
}

impl Branch {
    fn item(item: &Item) -> Self {
        Self { line: line_of(item), below: Vec::new() }
    }

    fn answer(state: &RunState, answer: &AnswerRecord) -> Self {
        let items = &state.items()[answer.items.clone()];
        let line = format!("{} ({} tokens)", answer.agent, answer.usage.total_tokens);
        Self { line, below: items.iter().map(Self::item).collect() }
    }

    fn end(end: &End) -> Self {
        Self { line: format!("end: {end}"), below: Vec::new() }
    }
}

fn write_branches(f: &mut fmt::Formatter<'_>, branches: &[Branch], indent: &str) -> fmt::Result {
    for (position, branch) in branches.iter().enumerate() {
        let is_last = position + 1 == branches.len();
        let (joint, below) = if is_last { ("└─", "   ") } else { ("├─", "│  ") };
        write!(f, "\n{indent}{joint} {}", branch.line)?;
        write_branches(f, &branch.below, &format!("{indent}{below}"))?;
    }
    Ok(())
}

fn line_of(item: &Item) -> String {
    let head = item.head();
    let call_id = head.call_id.as_ref().map_or("", |id| id.as_str());
    if head.role.is_some() {
        let object = item.object();
        let role = object.string("role").map(String::from).unwrap_or_default();
        return format!("{role}: {}", shortened(&text_of(std::slice::from_ref(item))));
    }
    match (head.kind.output(), head.kind.call()) {
        (Some(_), _) => format!("{}({call_id})", tool_name(item)),
        (_, Some(_)) => {
            let object = item.object();
            let output = object.string("output").map(String::from).unwrap_or_default();
            format!("output of {call_id}: {}", shortened(&output))
        }
        (None, None) => head.kind.as_str().to_owned(),
    }
}

/// The first line of a text, without control characters, and cut after [`WIDTH`].
fn shortened(text: &str) -> String {
    let line: String = text.chars().map(|it| if it.is_control() { ' ' } else { it }).collect();
    match line.char_indices().nth(WIDTH) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
    }
}
