//! Generates conversations with turns, reasoning, parallel calls of many kinds, and repeated texts.

use antiphon::Item;
use proptest::collection::vec;
use proptest::prelude::*;
use serde_json::{Value, json};

/// One turn: user message, steps, final answer.
#[derive(Clone, Debug)]
pub(crate) struct Turn {
    user: &'static str,
    steps: Vec<Step>,
    /// `None` if the turn was abandoned before the final answer.
    answer: Option<&'static str>,
}

/// One round of calls.
#[derive(Clone, Debug)]
struct Step {
    reasons: bool,
    searches: bool,
    /// The model's text before the calls, and after them.
    says: (Option<&'static str>, Option<&'static str>),
    kinds: Vec<CallKind>,
}

/// The server's numbering of calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Numbering {
    /// Every call has an id of its own.
    Unique,
    /// The numbers restart in every step.
    Restarted,
    /// All calls have the same id.
    Constant,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum CallKind {
    Function,
    Custom,
    Shell,
    LocalShell,
    ApplyPatch,
    Computer,
    ToolSearch,
    Program,
    MultiAgent,
}

/// The role of an item in its conversation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    User,
    Assistant,
    Reasoning,
    Search,
    Call,
    Output,
}

#[derive(Clone, Debug)]
pub(crate) struct Piece {
    pub(crate) part: Part,
    pub(crate) json: Value,
}

/// The state of the calls of the last step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// The last turn is over.
    Over,
    /// Its last calls wait for their outputs.
    Waiting,
}

/// A conversation, and the outputs of the calls that wait at its end.
#[derive(Clone, Debug)]
pub(crate) struct History {
    pub(crate) pieces: Vec<Piece>,
    pub(crate) outputs_to_come: Vec<Piece>,
}

pub(crate) const TEXTS: [&str; 4] = ["yes", "no", "What is the weather?", "Ünïcode \"quoted\"\n"];

pub(crate) fn text() -> impl Strategy<Value = &'static str> {
    proptest::sample::select(&TEXTS[..])
}

pub(crate) fn numbering() -> impl Strategy<Value = Numbering> {
    use Numbering::{Constant, Restarted, Unique};
    proptest::sample::select(&[Unique, Restarted, Constant][..])
}

pub(crate) fn turns() -> impl Strategy<Value = Vec<Turn>> {
    let answer = proptest::option::weighted(0.85, text());
    let turn = (text(), vec(step(), 0..3), answer);
    vec(turn.prop_map(|(user, steps, answer)| Turn { user, steps, answer }), 1..5)
}

/// The turns, with an answer in the last one.
pub(crate) fn answered(mut turns: Vec<Turn>) -> Vec<Turn> {
    if let Some(last) = turns.last_mut() {
        last.answer.get_or_insert(TEXTS[0]);
    }
    turns
}

fn step() -> impl Strategy<Value = Step> {
    use CallKind as K;
    let kinds = vec(
        prop_oneof![
            2 => Just(K::Function),
            1 => Just(K::Custom),
            1 => Just(K::Shell),
            1 => Just(K::LocalShell),
            1 => Just(K::ApplyPatch),
            1 => Just(K::Computer),
            1 => Just(K::ToolSearch),
            1 => Just(K::Program),
            1 => Just(K::MultiAgent),
        ],
        1..4,
    );
    let says = || proptest::option::weighted(0.3, text());
    let step = (any::<bool>(), any::<bool>(), (says(), says()), kinds);
    step.prop_map(|(reasons, searches, says, kinds)| Step { reasons, searches, says, kinds })
}

impl History {
    /// The conversation of `turns`. All calls are answered, except the last ones if `end` requires
    /// it.
    pub(crate) fn from_turns(turns: &[Turn], numbering: Numbering, end: End) -> Self {
        Self::numbered_from(0, turns, numbering, end)
    }

    /// The same, with ids that start after `number`.
    pub(crate) fn numbered_from(
        number: usize,
        turns: &[Turn],
        numbering: Numbering,
        end: End,
    ) -> Self {
        let mut writer = Writer { numbering, number, pieces: Vec::new() };
        for turn in turns {
            writer.turn(turn);
        }
        let mut history = Self { pieces: writer.pieces, outputs_to_come: Vec::new() };
        if end == End::Waiting {
            history.wait();
        }
        history
    }

    pub(crate) fn items(&self) -> Vec<Item> {
        items(self.pieces.iter().map(|piece| &piece.json))
    }

    /// Cuts the conversation off after its last calls.
    fn wait(&mut self) {
        let is_output = |piece: &Piece| piece.part == Part::Output;
        let Some(last) = self.pieces.iter().rposition(is_output) else { return };
        self.pieces.truncate(last + 1);
        let first = self.pieces.iter().rposition(|piece| !is_output(piece));
        self.outputs_to_come = self.pieces.split_off(first.map_or(0, |first| first + 1));
    }
}

/// The items that `values` hold.
pub(crate) fn items<'a>(values: impl IntoIterator<Item = &'a Value>) -> Vec<Item> {
    values
        .into_iter()
        .map(|json| Item::parse(json.to_string().into()).expect("it is an item"))
        .collect()
}

pub(crate) fn user(text: &str) -> Value {
    json!({"role": "user", "content": text})
}

struct Writer {
    numbering: Numbering,
    number: usize,
    pieces: Vec<Piece>,
}

impl Writer {
    fn turn(&mut self, turn: &Turn) {
        self.push(Part::User, user(turn.user));
        turn.steps.iter().for_each(|step| self.step(step));
        self.assistant(turn.answer);
    }

    fn step(&mut self, step: &Step) {
        if step.reasons {
            let id = format!("rs_{}", self.next());
            let content = format!("gAAAA-{id}");
            let json = json!({"type": "reasoning", "id": id, "summary": [],
                "encrypted_content": content});
            self.push(Part::Reasoning, json);
        }
        if step.searches {
            let id = format!("ws_{}", self.next());
            let json = json!({"type": "web_search_call", "id": id, "status": "completed",
                "action": {"type": "search", "query": id}});
            self.push(Part::Search, json);
        }
        self.assistant(step.says.0);
        let first = self.number;
        let calls: Vec<(CallKind, usize)> =
            step.kinds.iter().map(|kind| (*kind, self.next())).collect();
        for (kind, number) in &calls {
            let call_id = self.call_id(*number, number - first);
            self.push(Part::Call, kind.call(*number, &call_id));
        }
        self.assistant(step.says.1);
        for (kind, number) in &calls {
            let call_id = self.call_id(*number, number - first);
            self.push(Part::Output, kind.output(*number, &call_id));
        }
    }

    fn assistant(&mut self, text: Option<&str>) {
        let Some(text) = text else { return };
        let id = format!("msg_{}", self.next());
        let content = json!([{"type": "output_text", "text": text, "annotations": []}]);
        let json = json!({"type": "message", "id": id, "role": "assistant",
            "status": "completed", "content": content});
        self.push(Part::Assistant, json);
    }

    fn call_id(&self, number: usize, nth_of_step: usize) -> String {
        match self.numbering {
            Numbering::Unique => format!("call_{number}"),
            Numbering::Restarted => format!("call_{nth_of_step}"),
            Numbering::Constant => "call".to_owned(),
        }
    }

    fn push(&mut self, part: Part, json: Value) {
        self.pieces.push(Piece { part, json });
    }

    fn next(&mut self) -> usize {
        self.number += 1;
        self.number
    }
}

impl CallKind {
    /// A unique call.
    fn call(self, n: usize, call_id: &str) -> Value {
        match self {
            Self::Function => json!({"type": "function_call", "id": format!("fc_{n}"),
                "call_id": call_id, "name": "f", "arguments": format!(r#"{{"n":{n}}}"#),
                "status": "completed"}),
            Self::Custom => json!({"type": "custom_tool_call", "id": format!("ctc_{n}"),
                "call_id": call_id, "name": "f", "input": n.to_string()}),
            Self::Shell => json!({"type": "shell_call", "id": format!("sh_{n}"),
                "call_id": call_id, "action": {"commands": [n.to_string()]}}),
            Self::LocalShell => json!({"type": "local_shell_call", "id": format!("lsh_{n}"),
                "call_id": call_id, "action": {"command": [n.to_string()]},
                "status": "completed"}),
            Self::ApplyPatch => json!({"type": "apply_patch_call", "id": format!("apc_{n}"),
                "call_id": call_id, "operation": {"path": n.to_string()}, "status": "completed"}),
            Self::Computer => json!({"type": "computer_call", "id": format!("cu_{n}"),
                "call_id": call_id, "action": {"x": n}, "pending_safety_checks": [],
                "status": "completed"}),
            Self::ToolSearch => json!({"type": "tool_search_call", "id": format!("tsc_{n}"),
                "call_id": call_id, "execution": "client", "arguments": {"query": n.to_string()},
                "status": "completed"}),
            Self::Program => json!({"type": "program", "id": format!("prog_{n}"),
                "call_id": call_id, "code": n.to_string(), "fingerprint": format!("{n:x}")}),
            // Servers accept this type, but its other fields are not documented.
            Self::MultiAgent => json!({"type": "multi_agent_call", "id": format!("mac_{n}"),
                "call_id": call_id, "arguments": n.to_string()}),
        }
    }

    /// Its output, which is unique too.
    fn output(self, n: usize, call_id: &str) -> Value {
        let result = format!("result {n}");
        match self {
            Self::Function => json!({"type": "function_call_output", "call_id": call_id,
                "output": result}),
            Self::Custom => json!({"type": "custom_tool_call_output", "call_id": call_id,
                "output": result}),
            Self::Shell => json!({"type": "shell_call_output", "call_id": call_id,
                "output": [{"stdout": result, "stderr": "",
                    "outcome": {"type": "exit", "exit_code": 0}}]}),
            Self::LocalShell => json!({"type": "local_shell_call_output", "id": call_id,
                "output": result}),
            Self::ApplyPatch => json!({"type": "apply_patch_call_output", "call_id": call_id,
                "status": "completed", "output": result}),
            Self::Computer => json!({"type": "computer_call_output", "call_id": call_id,
                "output": {"type": "computer_screenshot", "image_url": result}}),
            Self::ToolSearch => json!({"type": "tool_search_output", "call_id": call_id,
                "execution": "client", "status": "completed", "tools": [{"type": "function",
                    "name": result}]}),
            Self::Program => json!({"type": "program_output", "id": format!("progo_{n}"),
                "call_id": call_id, "result": result, "status": "completed"}),
            Self::MultiAgent => json!({"type": "multi_agent_call_output", "call_id": call_id,
                "output": result}),
        }
    }
}
