//! One turn of a client, and what it is told of it.

use http::Method;
use serde_json::Value;

use crate::fuse::{Fuse, Moment};
use crate::ledger::{Row, Told};
use crate::wire::{Answer, Extra, Lost, Wire};

/// Where turns are posted.
pub(crate) const RESPONSES: &str = "/v1/responses";

/// What a client heard of its turn.
#[derive(Debug)]
pub(crate) struct Heard {
    /// The id that it was told.
    pub(crate) response: Option<String>,
    /// How it ended; `Err` where the connection broke.
    pub(crate) told: Result<Told, Lost>,
}

/// Sends a turn and hears it to its end, or leaves after `patience` events.
pub(crate) async fn ask(
    wire: Wire,
    body: &Value,
    extra: &[Extra],
    patience: Option<usize>,
    fuse: &Fuse,
) -> Heard {
    fuse.saw(Moment::Asking);
    let mut heard = Heard { response: None, told: Ok(Told::Nothing) };
    heard.told = match wire.send(Method::POST, RESPONSES, Some(body), extra).await {
        Ok(answer) if body["stream"] == true && answer.status.is_success() => {
            events(answer, patience, fuse, &mut heard.response).await
        }
        Ok(answer) => whole(answer, &mut heard.response).await,
        Err(lost) => Err(lost),
    };
    if matches!(heard.told, Ok(Told::Done(_))) {
        fuse.saw(Moment::Answered);
    }
    heard
}

async fn whole(answer: Answer, response: &mut Option<String>) -> Result<Told, Lost> {
    let (status, body) = answer.whole().await?;
    if !status.is_success() {
        return Ok(Told::Failed(format!("{status}: {body}")));
    }
    *response = body["id"].as_str().map(str::to_owned);
    Ok(done(&body))
}

async fn events(
    mut answer: Answer,
    patience: Option<usize>,
    fuse: &Fuse,
    response: &mut Option<String>,
) -> Result<Told, Lost> {
    let mut count = 0;
    while let Some(event) = answer.event().await? {
        match event["type"].as_str().unwrap_or_default() {
            "response.created" => {
                *response = event["response"]["id"].as_str().map(str::to_owned);
                fuse.saw(Moment::Announced);
            }
            "response.output_item.done" => fuse.saw(Moment::Finished),
            "response.completed" => return Ok(done(&event["response"])),
            "response.failed" | "response.incomplete" | "error" => {
                return Ok(Told::Failed(event.to_string()));
            }
            _ => {}
        }
        count += 1;
        if patience.is_some_and(|patience| count >= patience) {
            return Ok(Told::Nothing);
        }
    }
    Err(Lost::Broken)
}

fn done(response: &Value) -> Told {
    match response["status"].as_str() {
        Some("completed") => Told::Done(Row::all(&response["output"])),
        _ => Told::Failed(response.to_string()),
    }
}
