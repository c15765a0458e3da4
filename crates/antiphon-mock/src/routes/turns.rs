//! `POST /v1/responses`.

use http::StatusCode;
use serde_json::Value;

use super::route_request::RouteRequest;
use crate::request::Create;
use crate::route_reply::{Effect, RouteReply};
use crate::script::{Play, Script};
use crate::turn::{RenderedAnswer, Run, Turn};
use crate::world::World;
use crate::{Answer, Exchange, Hold, Refusal, Reply, default_model};

pub(super) fn create(request: &RouteRequest<'_>) -> Result<RouteReply, Refusal> {
    let body = request.json()?;
    let options = &request.shared.options;
    let create = Create::read(&body, options)?;
    let mut world = request.shared.world();
    let (account, ids) = world.account(&request.token);
    let turn = Turn::read(&create, &request.token, (account, ids), options.is_strict())?;
    let (script, exchange) = next(&mut world, &create, &turn);
    let answer = match script.play.clone() {
        Play::Reply(reply) => return Ok(RouteReply::verbatim(script.deliver(reply), exchange)),
        Play::Answer(answer) => answer,
    };
    let (account, ids) = world.account(&request.token);
    turn.begin(account);
    let rendered = RenderedAnswer::new(answer, &create, &turn, &ids.next_digits());
    let run = Run { turn, rendered };
    if create.background {
        return Ok(in_background(run, &create, &script, exchange, &mut world));
    }
    let hold = world.take_hold(&request.token).filter(|_| create.stream);
    Ok(answered(run, &create, &script, exchange, hold))
}

/// The next scripted answer, or the default model's answer.
fn next(world: &mut World, create: &Create<'_>, turn: &Turn) -> (Script, Exchange) {
    if let Some(scripted) = world.scripts.pop_front() {
        return scripted;
    }
    let script = Script::from(default_answer(create, turn, &world.accounts.ids.next_digits()));
    let exchange = script.exchange();
    (script, exchange)
}

fn default_answer(create: &Create<'_>, turn: &Turn, seed: &str) -> Answer {
    let mut request = create.body.clone();
    request["input"] = Value::from(turn.model_input());
    default_model::answer_with(&request, seed)
}

fn in_background(
    run: Run,
    create: &Create<'_>,
    script: &Script,
    exchange: Exchange,
    world: &mut World,
) -> RouteReply {
    let model_input = Some(run.turn.model_input());
    let events = run.rendered.frames.clone();
    let queued = world.backgrounds.queue(run);
    let answered = match create.stream {
        true => {
            let reply = script.deliver(Reply::sse(events.clone()));
            let streamed = RouteReply::events(queued["id"].as_str().unwrap_or_default(), events);
            RouteReply { reply, exchange, ..streamed }
        }
        false => RouteReply::json(&queued),
    };
    RouteReply { model_input, ..answered }
}

fn answered(
    run: Run,
    create: &Create<'_>,
    script: &Script,
    exchange: Exchange,
    hold: Option<Hold>,
) -> RouteReply {
    let model_input = Some(run.turn.model_input());
    let reply = match (create.stream, hold) {
        (true, Some(hold)) => hold.stream(run.rendered.frames.clone()),
        (true, None) => script.deliver(Reply::sse(run.rendered.frames.clone())),
        (false, _) => script.deliver(Reply::json(StatusCode::OK, &run.rendered.response)),
    };
    let exchange = if hold.is_some() { reply.exchange() } else { exchange };
    let effect = match create.stream {
        true => Effect::EndsStreamedTurn(run),
        false => Effect::EndsTurn(run),
    };
    RouteReply { effect, model_input, ..RouteReply::verbatim(reply, exchange) }
}
