//! One turn of a client.

use http::Method;
use serde_json::Value;

use crate::gateway_client::{Answer, GatewayClient, Header, NoAnswer};
use crate::kill_trigger::{KillTrigger, Moment};
use crate::ledger::{ItemRecord, Outcome};

/// The path of turns.
pub(crate) const RESPONSES: &str = "/v1/responses";

/// The data that a client received about its turn.
#[derive(Debug)]
pub(crate) struct Received {
    /// The announced response id.
    pub(crate) response: Option<String>,
    /// The outcome; `Err` if the connection broke.
    pub(crate) outcome: Result<Outcome, NoAnswer>,
}

/// Sends a turn and reads the answer to its end, or disconnects after `leave_after` events.
pub(crate) async fn send_turn(
    gateway: GatewayClient,
    body: &Value,
    headers: &[Header],
    leave_after: Option<usize>,
    trigger: &KillTrigger,
) -> Received {
    trigger.observe(Moment::RequestSent);
    let mut received = Received { response: None, outcome: Ok(Outcome::Unknown) };
    received.outcome = match gateway.send(Method::POST, RESPONSES, Some(body), headers).await {
        Ok(answer) if body["stream"] == true && answer.status.is_success() => {
            events(answer, leave_after, trigger, &mut received.response).await
        }
        Ok(answer) => whole(answer, &mut received.response).await,
        Err(lost) => Err(lost),
    };
    if matches!(received.outcome, Ok(Outcome::Done(_))) {
        trigger.observe(Moment::RequestDone);
    }
    received
}

async fn whole(answer: Answer, response: &mut Option<String>) -> Result<Outcome, NoAnswer> {
    let (status, body) = answer.read_json().await?;
    if !status.is_success() {
        return Ok(Outcome::Failed(format!("{status}: {body}")));
    }
    *response = body["id"].as_str().map(str::to_owned);
    Ok(done(&body))
}

async fn events(
    mut answer: Answer,
    leave_after: Option<usize>,
    trigger: &KillTrigger,
    response: &mut Option<String>,
) -> Result<Outcome, NoAnswer> {
    let mut count = 0;
    while let Some(event) = answer.next_event().await? {
        match event["type"].as_str().unwrap_or_default() {
            "response.created" => {
                *response = event["response"]["id"].as_str().map(str::to_owned);
                trigger.observe(Moment::ResponseAnnounced);
            }
            "response.output_item.done" => trigger.observe(Moment::ItemDone),
            "response.completed" => return Ok(done(&event["response"])),
            "response.failed" | "response.incomplete" | "error" => {
                return Ok(Outcome::Failed(event.to_string()));
            }
            _ => {}
        }
        count += 1;
        if leave_after.is_some_and(|leave_after| count >= leave_after) {
            return Ok(Outcome::Unknown);
        }
    }
    Err(NoAnswer::Broken)
}

fn done(response: &Value) -> Outcome {
    match response["status"].as_str() {
        Some("completed") => Outcome::Done(ItemRecord::from_items(&response["output"])),
        _ => Outcome::Failed(response.to_string()),
    }
}
