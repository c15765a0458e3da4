//! Thinking: its parameters and the blocks that are sent back.

use serde_json::Value;

use super::field::Field;
use super::message::{Message, Role};
use crate::judge::reasons;
use crate::{Refusal, seal};

const MINIMUM_BUDGET: u64 = 1024;

/// Whether `model` thinks before it answers: it reasons, and the request enables thinking.
pub(crate) fn thinks(model: &str, request: &Value) -> bool {
    let asked = request["thinking"]["type"].as_str();
    reasons(model) && matches!(asked, Some("enabled" | "adaptive"))
}

/// Checks the thinking parameters and the parameters that exclude them.
pub(super) fn parameters(request: &Field<'_>, max_tokens: u64) -> Result<(), Refusal> {
    let Some(thinking) = request.present("thinking") else {
        return Ok(());
    };
    let kind = thinking.tag(&["adaptive", "disabled", "enabled"])?;
    let typed = thinking.as_a(kind);
    match kind {
        "disabled" => return typed.only(&["type"]),
        "adaptive" => typed.only(&["type", "display"])?,
        _ => budget(&typed, max_tokens)?,
    }
    let (temperature, top_k) = (request.present("temperature"), request.present("top_k"));
    if temperature.is_some_and(|temperature| temperature.value().as_f64() != Some(1.0)) {
        return Err(Refusal::thinking_with_temperature());
    }
    if top_k.is_some() {
        return Err(Refusal::thinking_with_top_k());
    }
    let choice = request.value()["tool_choice"]["type"].as_str();
    if kind == "enabled" && matches!(choice, Some("any" | "tool")) {
        return Err(Refusal::thinking_with_forced_tool());
    }
    Ok(())
}

fn budget(thinking: &Field<'_>, max_tokens: u64) -> Result<(), Refusal> {
    let budget = thinking.required("budget_tokens")?.integer_from(MINIMUM_BUDGET)?;
    thinking.only(&["type", "budget_tokens", "display"])?;
    if budget >= max_tokens { Err(Refusal::budget_over_max_tokens()) } else { Ok(()) }
}

/// Checks that thinking blocks are as issued, and that the current turn has its thinking.
pub(super) fn check(model: &str, request: &Value, messages: &[Message<'_>]) -> Result<(), Refusal> {
    messages.iter().try_for_each(|message| check_signatures(model, message))?;
    if reasons(model) && request["thinking"]["type"] == "enabled" {
        turn_begins_with_thinking(messages)?;
    }
    Ok(())
}

fn check_signatures(model: &str, message: &Message<'_>) -> Result<(), Refusal> {
    message.blocks().try_for_each(|block| match block.kind() {
        "thinking" => {
            let issued = seal::thinking_signature(model, block.text("thinking"));
            if block.text("signature") == issued {
                return Ok(());
            }
            Err(Refusal::invalid_signature(block.place))
        }
        "redacted_thinking" if block.text("data") != seal::redacted_thinking(model) => {
            Err(Refusal::invalid_redacted_thinking(block.place))
        }
        _ => Ok(()),
    })
}

/// The current turn is everything after the last user message without results. With `adaptive`
/// thinking the model may begin a turn without a thinking block, so this rule does not apply.
fn turn_begins_with_thinking(messages: &[Message<'_>]) -> Result<(), Refusal> {
    let of_the_turn = messages.iter().rev().take_while(|message| !begins_a_turn(message));
    let Some(first) = of_the_turn.filter(|it| it.role == Role::Assistant).last() else {
        return Ok(());
    };
    match first.blocks().next().map_or("text", |block| block.kind()) {
        "thinking" | "redacted_thinking" => Ok(()),
        found => Err(Refusal::turn_without_thinking(first.index, found)),
    }
}

fn begins_a_turn(message: &Message<'_>) -> bool {
    message.role == Role::User && message.blocks_of("tool_result").next().is_none()
}
