//! Operations on a tracker.

use antiphon_surface::{ExcludedItem, Plan, Tracker, TrackerError};
use serde::{Deserialize, Serialize};
use serde_json::json;
use serde_json::value::{RawValue, to_raw_value};

use crate::case::{Expected, Outcome, bytes, read};
use crate::json::{Comparison, Ids};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Given<'a> {
    #[serde(borrow)]
    options: &'a RawValue,
    #[serde(borrow, default)]
    steps: Vec<Step<'a>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Step<'a> {
    r#do: String,
    #[serde(borrow)]
    with: Option<&'a RawValue>,
    #[serde(borrow)]
    gives: Option<&'a RawValue>,
    #[serde(borrow)]
    fails: Option<&'a RawValue>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Acceptance<'a> {
    attempt: u64,
    #[serde(borrow)]
    response: &'a RawValue,
}

/// The expected result of a step.
enum Done {
    Gives(Box<RawValue>),
    Fails(TrackerError),
}

pub(crate) fn run(given: &RawValue, expected: Expected<'_>) -> Outcome {
    let given: Given<'_> = read(given)?;
    let mut tracker = match (Tracker::new(given.options.get()), expected) {
        (Ok(tracker), Expected::Success) => tracker,
        (Err(error), Expected::Fails(fails)) => {
            let actual = json!({ "tracker": error.name() }).to_string();
            return Ids::default().compare(fails.get(), &actual, Comparison::Whole);
        }
        (Err(error), _) => return Err(format!("the options are refused: {error}")),
        (Ok(_), _) => return Err("each step has its own result; the case has none".into()),
    };
    for (number, step) in given.steps.iter().enumerate() {
        let ran = step.run(&mut tracker);
        ran.map_err(|error| format!("step {number}, {}: {error}", step.r#do))?;
    }
    Ok(())
}

impl Step<'_> {
    fn run(&self, tracker: &mut Tracker) -> Outcome {
        let done = self.take(tracker)?;
        match (done, Expected::of(self.gives, self.fails)?) {
            (Done::Gives(_), Expected::Success) => Ok(()),
            (Done::Gives(actual), Expected::Gives(gives)) if self.r#do == "plan" => {
                of_named_fields(gives, &actual)
            }
            (Done::Gives(actual), Expected::Gives(gives)) => {
                Ids::default().compare(gives.get(), actual.get(), Comparison::Whole)
            }
            (Done::Fails(error), Expected::Fails(fails)) => {
                let name = json!(error.name()).to_string();
                Ids::default().compare(fails.get(), &name, Comparison::Whole)
            }
            (Done::Gives(actual), Expected::Fails(_)) => {
                Err(format!("expected an error, but got {actual}"))
            }
            (Done::Fails(error), _) => Err(format!("expected success, but got: {error}")),
        }
    }

    fn take(&self, tracker: &mut Tracker) -> Result<Done, String> {
        let with = || self.with.ok_or_else(|| "needs 'with'".to_owned());
        Ok(match self.r#do.as_str() {
            "add" => done(tracker.add(&bytes(with()?))),
            "plan" => gives(&Planned::of(&tracker.plan())),
            "send" => done(tracker.send(&read::<Vec<u64>>(with()?)?)),
            "send_filtered" => done(tracker.send_filtered(&bytes(with()?))),
            "accept" => {
                let Acceptance { attempt, response } = read(with()?)?;
                done(tracker.accept(attempt, &bytes(response)))
            }
            "rewind" => done(tracker.rewind(read(with()?)?)),
            "hydrate" => done(tracker.hydrate(&bytes(with()?))),
            "unresolved" => gives(&tracker.unresolved()),
            "standing" => gives(&tracker.standing(read(with()?)?)),
            "turns" => gives(&tracker.turns()),
            "finish" => gives(&tracker.finish()),
            "restore" => done(Tracker::from_json(&tracker.to_json()).map(|new| *tracker = new)),
            unknown => return Err(format!("unknown step '{unknown}'")),
        })
    }
}

fn done(result: Result<impl serde::Serialize, TrackerError>) -> Done {
    result.map_or_else(Done::Fails, |value| gives(&value))
}

fn gives(value: &impl serde::Serialize) -> Done {
    Done::Gives(to_raw_value(value).unwrap())
}

/// A plan in the form that cases use.
#[derive(Serialize)]
struct Planned<'a> {
    items: Vec<RepairedItem<'a>>,
    left_out: &'a [ExcludedItem],
    conversation: Option<&'a str>,
    previous_response_id: Option<&'a str>,
}

#[derive(Serialize)]
#[serde(untagged)]
enum RepairedItem<'a> {
    AsAdded(u64),
    Changed { occurrence: u64, item: &'a RawValue },
}

impl<'a> Planned<'a> {
    fn of(plan: &'a Plan) -> Self {
        let items = plan.items.iter().map(|planned| match planned.is_as_added {
            true => RepairedItem::AsAdded(planned.occurrence),
            false => RepairedItem::Changed { occurrence: planned.occurrence, item: &planned.item },
        });
        Self {
            items: items.collect(),
            left_out: &plan.left_out,
            conversation: plan.conversation.as_deref(),
            previous_response_id: plan.previous_response_id.as_deref(),
        }
    }
}

/// Compares the expected fields, each completely.
fn of_named_fields(expected: &RawValue, actual: &RawValue) -> Outcome {
    let expected =
        antiphon::json::Object::parse_str(expected.get()).map_err(|error| error.to_string())?;
    let actual =
        antiphon::json::Object::parse_str(actual.get()).map_err(|error| error.to_string())?;
    for (field, value) in expected.iter() {
        let found = actual.get(field).ok_or_else(|| format!("a plan has no '{field}'"))?;
        let compared = Ids::default().compare(value, found, Comparison::Whole);
        compared.map_err(|error| format!("in '{field}': {error}"))?;
    }
    Ok(())
}
