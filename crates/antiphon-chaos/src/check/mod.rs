//! Checks, once the gateway is up again and nobody asks it anything, that what it promised is kept.

mod conversation;
mod shape;
mod view;

use std::collections::BTreeMap;

use conversation::Found;
use view::{Expected, marks};

use crate::ledger::{Kept, Ledger, Place, Row, Told, Turn};
use crate::look;
use crate::mark::Mark;
use crate::model::Plan;
use crate::provider::{Seen, View};
use crate::wire::Wire;
use crate::writers::FIRST;

/// What is wrong, each as a sentence with the ledger's entry.
pub(crate) type Violations = Vec<String>;

/// Looks at the open conversations and at all responses of the present round, and takes what it finds for
/// known from then on.
pub(crate) async fn round(
    wire: Wire,
    ledger: &mut Ledger,
    open: &[String],
    seen: Seen,
) -> anyhow::Result<Violations> {
    let mut violations: Violations =
        seen.refusals.iter().map(|refusal| format!("the provider refused: {refusal}")).collect();
    violations.extend(wrongly_refused(ledger));
    // The writers of shared conversations check their own.
    let views: Vec<View> = seen.views.into_iter().filter(|view| view.turn < FIRST).collect();
    ledger.views.extend(views.iter().map(|view| (view.turn, view.marks.clone())));
    for id in open {
        violations.extend(conversation(wire, ledger, id).await?);
    }
    violations.extend(responses(wire, ledger).await?);
    violations.extend(views.iter().filter_map(|view| fault_of_view(ledger, view)));
    ledger.settle();
    Ok(violations)
}

/// Looks at everything that there ever was, once more.
pub(crate) async fn everything(wire: Wire, ledger: &mut Ledger) -> anyhow::Result<Violations> {
    let mut violations = Violations::new();
    let all: Vec<String> = ledger.conversations.keys().cloned().collect();
    for id in all {
        violations.extend(conversation(wire, ledger, &id).await?);
    }
    for (id, kept) in &ledger.kept {
        let found = look::response(wire, id).await?.map(|body| Row::all(&body["output"]));
        let is_right = found
            .as_ref()
            .is_some_and(|found| shape::is_as_told(&kept.output, found, &ledger.deletions));
        if !is_right {
            let turn = entry(ledger, kept.turn);
            violations.push(format!("response {id} has changed to {found:?}\n{turn}"));
        }
    }
    Ok(violations)
}

/// Every request is one that a provider takes. It may be refused because the conversation is busy;
/// it fails where the provider breaks off, or the store's server does.
fn wrongly_refused(ledger: &Ledger) -> Violations {
    let is_wrong = |turn: &Turn| match &turn.told {
        Told::Failed(why) => {
            !ledger.crashed
                && turn.plan != Some(Plan::Break)
                && !why.contains("conversation_locked")
        }
        Told::Done(_) => turn.plan == Some(Plan::Break),
        Told::Nothing => false,
    };
    let wrong = ledger.round().filter(|(_, turn)| is_wrong(turn));
    wrong.map(|(number, _)| format!("ended in the wrong way\n{}", entry(ledger, number))).collect()
}

async fn conversation(wire: Wire, ledger: &mut Ledger, id: &str) -> anyhow::Result<Violations> {
    let now = look::items(wire, id).await?;
    let before = ledger.conversations.insert(id.to_owned(), now.clone()).unwrap_or_default();
    let turns: BTreeMap<u32, &Turn> =
        ledger.round().filter(|(_, turn)| turn.conversation() == Some(id)).collect();
    let found = Found {
        before: &before,
        now: &now,
        turns,
        deletions: &ledger.deletions,
        crashed: ledger.crashed,
    };
    let entries = || -> String { found.turns.keys().map(|turn| entry(ledger, *turn)).collect() };
    let faults = found.faults().into_iter();
    let violations =
        faults.map(|fault| format!("conversation {id}: {fault}\n{}", entries())).collect();
    ledger.looked_at(&before, &now);
    Ok(violations)
}

async fn responses(wire: Wire, ledger: &mut Ledger) -> anyhow::Result<Violations> {
    let mut violations = Violations::new();
    let known: Vec<(u32, String)> = ledger
        .round()
        .filter_map(|(number, turn)| Some((number, turn.response.clone()?)))
        .collect();
    for (number, id) in known {
        match response(wire, ledger, number, &id).await? {
            None => {}
            Some(Ok(kept)) => drop(ledger.kept.insert(id, kept)),
            Some(Err(fault)) => {
                violations.push(format!("response {id} {fault}\n{}", entry(ledger, number)));
            }
        }
    }
    Ok(violations)
}

/// A response that its client was told of is there, with its input and its output. `None` where
/// it need not be, and is not.
async fn response(
    wire: Wire,
    ledger: &Ledger,
    number: u32,
    id: &str,
) -> anyhow::Result<Option<Result<Kept, String>>> {
    let turn = &ledger.turns[&number];
    let Some(body) = look::response(wire, id).await? else {
        let may_be_lost = ledger.crashed && !matches!(turn.told, Told::Done(_));
        return Ok((!may_be_lost).then(|| Err("is missing".into())));
    };
    let Some(view) = ledger.views.get(&number) else {
        return Ok(Some(Err("was made without the model".into())));
    };
    let output = Row::all(&body["output"]);
    let mut rows = look::input(wire, id).await?;
    rows.extend(output.iter().cloned());
    let status = body["status"].as_str().unwrap_or_default();
    let fault = shape::fault(turn, number, &rows, &ledger.deletions)
        .or_else(|| fault_of_status(turn, status, &output))
        .or_else(|| match &turn.told {
            Told::Done(told) if !shape::is_as_told(told, &output, &ledger.deletions) => {
                Some(format!("is not as told: {output:?}"))
            }
            _ => None,
        });
    if let Some(fault) = fault {
        return Ok(Some(Err(fault)));
    }
    let transcript = view.iter().copied().chain(marks(&output)).collect();
    Ok(Some(Ok(Kept { turn: number, is_completed: status == "completed", output, transcript })))
}

fn fault_of_status(turn: &Turn, status: &str, output: &[Row]) -> Option<String> {
    let is_whole = output.len() == turn.plan.map_or(0, Plan::outputs);
    let is_right = match &turn.told {
        Told::Done(_) => status == "completed",
        Told::Failed(_) => status == "failed",
        Told::Nothing => {
            matches!(status, "cancelled" | "failed") || status == "completed" && is_whole
        }
    };
    (!is_right).then(|| format!("has the status {status:?} with {output:?}"))
}

fn fault_of_view(ledger: &Ledger, view: &View) -> Option<String> {
    let turn = &ledger.turns[&view.turn];
    let fault = match &turn.place {
        Place::New => fault(ledger, view, &Expected::All(&[])),
        Place::After(id) => match ledger.kept.get(id) {
            Some(kept) => fault(ledger, view, &Expected::All(&kept.transcript)),
            None => Some("the model was asked behind a response that is not kept".into()),
        },
        Place::Conversation(id) | Place::Items(id) => {
            let rows = ledger.conversations.get(id).map(Vec::as_slice).unwrap_or_default();
            let marks = marks(rows);
            let is_own = |mark: &Mark| mark.turn == view.turn;
            match marks.iter().rposition(is_own) {
                Some(end) => {
                    let own =
                        marks[..end].iter().rposition(|mark| !is_own(mark)).map_or(0, |at| at + 1);
                    fault(ledger, view, &Expected::All(&marks[..own]))
                }
                None => fault(ledger, view, &Expected::Some(&marks)),
            }
        }
    };
    fault.map(|fault| format!("{fault}\n{}", entry(ledger, view.turn)))
}

fn fault(ledger: &Ledger, view: &View, expected: &Expected<'_>) -> Option<String> {
    let began = ledger.turns[&view.turn].began;
    let marks: &[Mark] = &view.marks;
    view::fault(marks, view.turn, began, expected, &ledger.deletions)
}

fn entry(ledger: &Ledger, number: u32) -> String {
    format!("  turn {number}: {:?}\n", ledger.turns[&number])
}

#[cfg(test)]
mod tests;
