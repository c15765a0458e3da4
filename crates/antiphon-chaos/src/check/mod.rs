//! Checks the gateway's guarantees after a restart, while no client sends requests.

mod conversation;
mod model_input;
mod stored_turn;

use std::collections::BTreeMap;

use conversation::ConversationCheck;
use model_input::{Expected, marks};

use crate::gateway_client::GatewayClient;
use crate::ledger::{ItemRecord, KnownResponse, Ledger, Outcome, Target, Turn};
use crate::lookup;
use crate::mark::{FIRST_WRITER_TURN, Mark};
use crate::model::Plan;
use crate::provider::{ModelInput, Observed};

/// The violations, each as a sentence with the ledger's entry.
pub(crate) type Violations = Vec<String>;

/// Checks the open conversations and all responses of the current round. Later rounds are compared
/// with the state found here.
pub(crate) async fn check_round(
    gateway: GatewayClient,
    ledger: &mut Ledger,
    open: &[String],
    observed: Observed,
) -> anyhow::Result<Violations> {
    let mut violations: Violations = observed
        .refusals
        .iter()
        .map(|refusal| format!("the provider refused: {refusal}"))
        .collect();
    violations.extend(wrong_outcomes(ledger));
    // The writers of shared conversations check their own requests.
    let model_inputs: Vec<ModelInput> = observed
        .model_inputs
        .into_iter()
        .filter(|model_input| model_input.turn < FIRST_WRITER_TURN)
        .collect();
    ledger.model_inputs.extend(
        model_inputs.iter().map(|model_input| (model_input.turn, model_input.marks.clone())),
    );
    for id in open {
        violations.extend(check_conversation(gateway, ledger, id).await?);
    }
    violations.extend(check_responses(gateway, ledger).await?);
    violations.extend(
        model_inputs.iter().filter_map(|model_input| model_input_fault(ledger, model_input)),
    );
    ledger.end_round();
    Ok(violations)
}

/// Checks all conversations and responses of the run once more.
pub(crate) async fn check_everything(
    gateway: GatewayClient,
    ledger: &mut Ledger,
) -> anyhow::Result<Violations> {
    let mut violations = Violations::new();
    let all: Vec<String> = ledger.conversations.keys().cloned().collect();
    for id in all {
        violations.extend(check_conversation(gateway, ledger, &id).await?);
    }
    for (id, known) in &ledger.known_responses {
        let found = lookup::response(gateway, id)
            .await?
            .map(|body| ItemRecord::from_items(&body["output"]));
        let is_right = found.as_ref().is_some_and(|found| {
            stored_turn::equals_received(&known.output, found, &ledger.deletions)
        });
        if !is_right {
            let turn = describe_turn(ledger, known.turn);
            violations.push(format!("response {id} has changed to {found:?}\n{turn}"));
        }
    }
    Ok(violations)
}

/// Finds requests with a wrong outcome. Every request is valid, but it may be refused because the
/// conversation is busy, and it fails if the provider breaks or the database server crashes.
fn wrong_outcomes(ledger: &Ledger) -> Violations {
    let is_wrong = |turn: &Turn| match &turn.outcome {
        Outcome::Failed(_) => {
            !ledger.crashed && turn.plan != Some(Plan::Break) && !turn.outcome.is_locked()
        }
        Outcome::Done(_) => turn.plan == Some(Plan::Break),
        Outcome::Unknown => false,
    };
    let wrong = ledger.current_round().filter(|(_, turn)| is_wrong(turn));
    wrong
        .map(|(number, _)| format!("has the wrong outcome\n{}", describe_turn(ledger, number)))
        .collect()
}

async fn check_conversation(
    gateway: GatewayClient,
    ledger: &mut Ledger,
    id: &str,
) -> anyhow::Result<Violations> {
    let now = lookup::items(gateway, id).await?;
    let before = ledger.conversations.insert(id.to_owned(), now.clone()).unwrap_or_default();
    let turns: BTreeMap<u32, &Turn> =
        ledger.current_round().filter(|(_, turn)| turn.conversation() == Some(id)).collect();
    let found = ConversationCheck {
        before: &before,
        now: &now,
        turns,
        deletions: &ledger.deletions,
        crashed: ledger.crashed,
    };
    let entries =
        || -> String { found.turns.keys().map(|turn| describe_turn(ledger, *turn)).collect() };
    let faults = found.faults().into_iter();
    let violations =
        faults.map(|fault| format!("conversation {id}: {fault}\n{}", entries())).collect();
    ledger.record_lookup(&before, &now);
    Ok(violations)
}

async fn check_responses(
    gateway: GatewayClient,
    ledger: &mut Ledger,
) -> anyhow::Result<Violations> {
    let mut violations = Violations::new();
    let known: Vec<(u32, String)> = ledger
        .current_round()
        .filter_map(|(number, turn)| Some((number, turn.response.clone()?)))
        .collect();
    for (number, id) in known {
        match check_response(gateway, ledger, number, &id).await? {
            None => {}
            Some(Ok(known)) => drop(ledger.known_responses.insert(id, known)),
            Some(Err(fault)) => {
                violations
                    .push(format!("response {id} {fault}\n{}", describe_turn(ledger, number)));
            }
        }
    }
    Ok(violations)
}

/// Checks that an announced response exists with its input and its output. Returns `None` if the
/// response is missing and may be missing.
async fn check_response(
    gateway: GatewayClient,
    ledger: &Ledger,
    number: u32,
    id: &str,
) -> anyhow::Result<Option<Result<KnownResponse, String>>> {
    let turn = &ledger.turns[&number];
    let Some(body) = lookup::response(gateway, id).await? else {
        let may_be_lost = ledger.crashed && !matches!(turn.outcome, Outcome::Done(_));
        return Ok((!may_be_lost).then(|| Err("is missing".into())));
    };
    let Some(model_input) = ledger.model_inputs.get(&number) else {
        return Ok(Some(Err("was created without a call to the model".into())));
    };
    let output = ItemRecord::from_items(&body["output"]);
    let mut rows = lookup::input(gateway, id).await?;
    rows.extend(output.iter().cloned());
    let status = body["status"].as_str().unwrap_or_default();
    let fault = stored_turn::fault(turn, number, &rows, &ledger.deletions)
        .or_else(|| status_fault(turn, status, &output))
        .or_else(|| match &turn.outcome {
            Outcome::Done(received)
                if !stored_turn::equals_received(received, &output, &ledger.deletions) =>
            {
                Some(format!("differs from the client's items: {output:?}"))
            }
            _ => None,
        });
    if let Some(fault) = fault {
        return Ok(Some(Err(fault)));
    }
    let transcript = model_input.iter().copied().chain(marks(&output)).collect();
    Ok(Some(Ok(KnownResponse {
        turn: number,
        is_completed: status == "completed",
        output,
        transcript,
    })))
}

fn status_fault(turn: &Turn, status: &str, output: &[ItemRecord]) -> Option<String> {
    let is_whole = output.len() == turn.plan.map_or(0, Plan::outputs);
    let is_right = match &turn.outcome {
        Outcome::Done(_) => status == "completed",
        Outcome::Failed(_) => status == "failed",
        Outcome::Unknown => {
            matches!(status, "cancelled" | "failed") || status == "completed" && is_whole
        }
    };
    (!is_right).then(|| format!("has the status {status:?} with {output:?}"))
}

fn model_input_fault(ledger: &Ledger, model_input: &ModelInput) -> Option<String> {
    let turn = &ledger.turns[&model_input.turn];
    let fault = match &turn.target {
        Target::New => fault(ledger, model_input, &Expected::All(&[])),
        Target::After(id) => match ledger.known_responses.get(id) {
            Some(known) => fault(ledger, model_input, &Expected::All(&known.transcript)),
            None => Some("the model was called after a response that is not stored".into()),
        },
        Target::Conversation(id) | Target::Items(id) => {
            let rows = ledger.conversations.get(id).map(Vec::as_slice).unwrap_or_default();
            let marks = marks(rows);
            let is_own = |mark: &Mark| mark.turn == model_input.turn;
            match marks.iter().rposition(is_own) {
                Some(end) => {
                    let own =
                        marks[..end].iter().rposition(|mark| !is_own(mark)).map_or(0, |at| at + 1);
                    fault(ledger, model_input, &Expected::All(&marks[..own]))
                }
                None => fault(ledger, model_input, &Expected::Some(&marks)),
            }
        }
    };
    fault.map(|fault| format!("{fault}\n{}", describe_turn(ledger, model_input.turn)))
}

fn fault(ledger: &Ledger, model_input: &ModelInput, expected: &Expected<'_>) -> Option<String> {
    let began = ledger.turns[&model_input.turn].began;
    let marks: &[Mark] = &model_input.marks;
    model_input::fault(marks, model_input.turn, began, expected, &ledger.deletions)
}

fn describe_turn(ledger: &Ledger, number: u32) -> String {
    format!("  turn {number}: {:?}\n", ledger.turns[&number])
}

#[cfg(test)]
mod tests;
