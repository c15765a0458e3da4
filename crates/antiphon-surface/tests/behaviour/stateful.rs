//! The inputs and the steps of a stateful client.

use antiphon::FingerprintKey;
use antiphon::json::{Object, quote};
use antiphon::stateful::{Report, StatefulClient, Step, Turn};
use serde::Deserialize;
use serde_json::json;
use serde_json::value::RawValue;

use crate::case::{Expected, Outcome, bytes, read};
use crate::json::{Comparison, Ids};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Given<'a> {
    #[serde(borrow)]
    steps: Vec<Operation<'a>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Operation<'a> {
    r#do: String,
    #[serde(borrow)]
    with: Option<&'a RawValue>,
    #[serde(borrow)]
    gives: Option<&'a RawValue>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Delivery<'a> {
    conversation: String,
    #[serde(borrow)]
    items: &'a RawValue,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Answer<'a> {
    status: u16,
    #[serde(borrow)]
    body: &'a RawValue,
}

/// The account of the conversations.
const ACCOUNT: &str = "account";

/// The time of all answers, in Unix seconds.
const NOW: i64 = 1_770_000_060;

/// A stateful client, its latest turn, and the bytes that the caller received of the answer.
struct World {
    client: StatefulClient,
    turn: Option<Turn>,
    passed: Vec<u8>,
}

pub(crate) fn run(given: &RawValue, expected: Expected<'_>) -> Outcome {
    let Expected::Success = expected else {
        return Err("each step has its own result; the case has none".into());
    };
    let given: Given<'_> = read(given)?;
    let client = StatefulClient::new(FingerprintKey::new([0; 16]));
    let mut world = World { client, turn: None, passed: Vec::new() };
    for (number, operation) in given.steps.iter().enumerate() {
        let ran = world.run(operation);
        ran.map_err(|error| format!("step {number}, {}: {error}", operation.r#do))?;
    }
    Ok(())
}

impl World {
    fn run(&mut self, operation: &Operation<'_>) -> Outcome {
        let actual = self.take(operation)?;
        match operation.gives {
            None => Ok(()),
            Some(gives) => {
                Ids::default().compare(gives.get(), &actual, comparison(&operation.r#do))
            }
        }
    }

    fn take(&mut self, operation: &Operation<'_>) -> Result<String, String> {
        let with = || operation.with.ok_or_else(|| "needs 'with'".to_owned());
        match operation.r#do.as_str() {
            "open" => {
                let turn = self.client.open(ACCOUNT, bytes(with()?));
                self.turn = Some(turn.map_err(|error| error.to_string())?);
            }
            "deliver" => {
                let Delivery { conversation, items } = read(with()?)?;
                let turn = self.client.deliver(ACCOUNT, &conversation, &bytes(items));
                self.turn = Some(turn.map_err(|error| error.to_string())?);
            }
            "touched" => self.client.mark_stale(ACCOUNT, &read::<String>(with()?)?),
            "answered" => {
                let Answer { status, body } = read(with()?)?;
                self.turn()?.record_answer(status, bytes(body));
            }
            "refused" => {
                let Answer { status, body } = read(with()?)?;
                self.turn()?.record_rejection(status, bytes(body));
            }
            "begun" => {
                self.turn()?.start(read(with()?)?, NOW);
                self.passed.clear();
            }
            "heard" => {
                let passed = self.turn()?.push(answer(with()?)?.as_bytes(), NOW);
                self.passed.extend(passed);
            }
            "ended" => {
                let passed = self.turn()?.finish(NOW);
                self.passed.extend(passed);
            }
            "passed" => return Ok(passed(&String::from_utf8_lossy(&self.passed))),
            "left" => self.turn()?.abandon(),
            "report" => return Ok(reported(&self.turn()?.report())),
            unknown => return Err(format!("unknown step '{unknown}'")),
        }
        Ok(self.turn.as_ref().map_or_else(|| "null".to_owned(), |turn| step(&turn.step())))
    }

    fn turn(&mut self) -> Result<&mut Turn, String> {
        self.turn.as_mut().ok_or_else(|| "no turn was opened".to_owned())
    }
}

/// The comparison: complete for a step, else by expected fields.
fn comparison(operation: &str) -> Comparison {
    match operation {
        "report" | "passed" => Comparison::Named,
        _ => Comparison::Whole,
    }
}

/// The answer as its caller received it: the events of an event stream, or one object.
fn passed(text: &str) -> String {
    if text.starts_with('{') {
        return text.to_owned();
    }
    let events: Vec<&str> = text.lines().filter_map(|line| line.strip_prefix("data: ")).collect();
    format!("[{}]", events.join(","))
}

/// An answer in wire form. A list becomes an event stream.
fn answer(answer: &RawValue) -> Result<String, String> {
    if answer.get().starts_with('{') {
        return Ok(answer.get().to_owned());
    }
    let events: Vec<&RawValue> = read(answer)?;
    let line = |event: &RawValue| format!("data: {}\n\n", event.get().replace('\n', " "));
    Ok(events.into_iter().map(line).collect())
}

/// A step in the form that cases use.
fn step(step: &Step) -> String {
    let text = |body: &bytes::Bytes| String::from_utf8(body.to_vec()).unwrap();
    let mut object = Object::default();
    match step {
        Step::Ask { method, path } => {
            object.set("ask", quote(&format!("{} {path}", method.as_str())));
        }
        Step::Send { body } => object.set("send", text(body)),
        Step::GiveUp => return quote("give_up"),
        Step::Nothing => return quote("nothing"),
    }
    object.to_text()
}

fn reported(report: &Report) -> String {
    let repairs = report.repairs.iter().map(|repair| {
        json!({
            "position": repair.position,
            "id": repair.id.as_ref().map(ToString::to_string),
            "kind": repair.kind.as_str(),
            "fault": repair.fault,
            "action": repair.action,
            "message": repair.message,
        })
    });
    json!({
        "resent": report.resent,
        "mends": repairs.collect::<Vec<_>>(),
        "relearned": report.resynced_after,
        "by_kind": report.by_kind,
    })
    .to_string()
}
