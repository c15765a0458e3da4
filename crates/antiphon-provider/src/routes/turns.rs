//! `POST /v1/responses`.

use antiphon_testkit::{Answer, Exchange, Hold, Refusal, Reply, recall};
use http::StatusCode;
use serde_json::Value;

use super::asked::Asked;
use crate::answered::{Answered, Effect};
use crate::request::Create;
use crate::script::{Play, Script};
use crate::turn::{Made, Run, Turn};
use crate::world::World;

pub(super) fn create(asked: &Asked<'_>) -> Result<Answered, Refusal> {
    let body = asked.json()?;
    let options = &asked.shared.options;
    let create = Create::read(&body, options)?;
    let mut world = asked.shared.world();
    let (account, ids) = world.account(&asked.token);
    let turn = Turn::read(&create, &asked.token, (account, ids), options.is_strict())?;
    let (script, exchange) = next(&mut world, &create, &turn);
    let answer = match script.play.clone() {
        Play::Reply(reply) => return Ok(Answered::verbatim(script.deliver(reply), exchange)),
        Play::Answer(answer) => answer,
    };
    let (account, ids) = world.account(&asked.token);
    turn.begin(account);
    let made = Made::of(answer, &create, &turn, &ids.next_digits());
    let run = Run { turn, made };
    if create.background {
        return Ok(in_background(run, &create, &script, exchange, &mut world));
    }
    let hold = world.take_hold(&asked.token).filter(|_| create.stream);
    Ok(answered(run, &create, &script, exchange, hold))
}

/// What is scripted, or what the default model says.
fn next(world: &mut World, create: &Create<'_>, turn: &Turn) -> (Script, Exchange) {
    if let Some(scripted) = world.scripts.pop_front() {
        return scripted;
    }
    let script = Script::from(recalled(create, turn, &world.ids.next_digits()));
    let exchange = script.exchange();
    (script, exchange)
}

fn recalled(create: &Create<'_>, turn: &Turn, seed: &str) -> Answer {
    let mut request = create.body.clone();
    request["input"] = Value::from(turn.given());
    recall::answer_with(&request, seed)
}

fn in_background(
    run: Run,
    create: &Create<'_>,
    script: &Script,
    exchange: Exchange,
    world: &mut World,
) -> Answered {
    let given = Some(run.turn.given());
    let events = run.made.frames.clone();
    let queued = world.queue(run);
    let answered = match create.stream {
        true => {
            let reply = script.deliver(Reply::sse(events.clone()));
            let streamed = Answered::events(queued["id"].as_str().unwrap_or_default(), events);
            Answered { reply, exchange, ..streamed }
        }
        false => Answered::json(&queued),
    };
    Answered { given, ..answered }
}

fn answered(
    run: Run,
    create: &Create<'_>,
    script: &Script,
    exchange: Exchange,
    hold: Option<Hold>,
) -> Answered {
    let given = Some(run.turn.given());
    let reply = match (create.stream, hold) {
        (true, Some(hold)) => hold.stream(run.made.frames.clone()),
        (true, None) => script.deliver(Reply::sse(run.made.frames.clone())),
        (false, _) => script.deliver(Reply::json(StatusCode::OK, &run.made.response)),
    };
    let exchange = if hold.is_some() { reply.exchange() } else { exchange };
    let effect = match create.stream {
        true => Effect::EndsStreamed(run),
        false => Effect::EndsWhole(run),
    };
    Answered { effect, given, ..Answered::verbatim(reply, exchange) }
}
