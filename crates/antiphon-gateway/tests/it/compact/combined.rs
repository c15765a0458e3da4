//! A history that is compacted on the way of turns that are out of the ordinary otherwise.

use std::time::Duration;

use antiphon_gateway::settings::Retries;
use antiphon_mock::{Answer, Reply};
use http::StatusCode;
use serde_json::json;

use super::automatic::{compacting_world, script_unknown_field, with_auto_compaction};
use super::{SUMMARY, long_text, script_summary, summary_message};
use crate::support::{Ask, MODEL, Mode, PLAIN, World, ask, lines, output};

/// A turn that goes on from a history that is too long.
async fn ask_past_threshold(world: &World) -> Ask {
    let first = world.client().respond(&ask(long_text())).await;
    with_auto_compaction(ask("What is my color?").after(first.id()))
}

fn summary() -> Reply {
    Reply::sse(Answer::new(MODEL).message(SUMMARY).frames())
}

#[tokio::test]
async fn background_output_starts_with_the_compaction() {
    let world = compacting_world().await;
    let client = world.client();
    let asking = ask_past_threshold(&world).await.field("background", true);
    script_summary(&world);

    let queued = client.create(Mode::Whole, &asking).await.json();
    let id = queued["id"].as_str().unwrap();
    let ended = client.wait_until_ended(id).await;

    let output = ended["output"].as_array().unwrap();
    assert_eq!(lines(output), ["compaction", "assistant: purple"]);
    let again = client.stream_again(id, None).await.ended().await;
    assert_eq!(again.response, ended);
    client.respond(&ask("And?").after(id)).await;
    assert_eq!(
        world.last_view().await[2..],
        [&summary_message(SUMMARY), "assistant: purple", "user: And?"]
    );
}

#[tokio::test]
async fn background_turn_is_cancelled_during_compaction() {
    let world = compacting_world().await;
    let client = world.client();
    let asking = ask_past_threshold(&world).await.field("background", true);
    let withheld = world.script(summary().gated());
    let asked = world.times_asked();
    let queued = client.create(Mode::Whole, &asking).await.json();
    let id = queued["id"].as_str().unwrap();
    world.request(asked).await;

    let cancelled = client.cancel(id).await;

    assert_eq!((&cancelled["status"], &cancelled["output"]), (&json!("cancelled"), &json!([])));
    world.wait_for_disconnect(&withheld).await;
    assert_eq!(client.respond(&ask("Hello").after(id)).await.status(), "completed");
}

#[tokio::test]
async fn deletion_during_compaction_fails_the_turn() {
    let world = compacting_world().await;
    let client = world.client();
    let conversation = client.new_conversation().await;
    client.respond(&ask(long_text()).within(&conversation)).await;
    let withheld = world.script(summary().gated());
    let asked = world.times_asked();
    let asking = with_auto_compaction(ask("Hello").within(&conversation));
    let (other, path) = (client.clone(), format!("/v1/conversations/{conversation}"));
    let deleting = async {
        world.request(asked).await;
        other.delete(&path).await
    };

    let (answer, deleted) = tokio::join!(client.create(Mode::Streamed, &asking), deleting);

    assert_eq!((answer.status(), deleted.status()), (404, 200), "{:?}", answer.body());
    world.wait_for_disconnect(&withheld).await;
}

#[tokio::test]
async fn lane_continues_an_unstored_compaction() {
    let world = compacting_world().await;
    let mut socket = world.client().socket().await;
    let first = socket.turn(&ask(long_text()).unstored()).await;
    script_summary(&world);

    let asking = with_auto_compaction(ask("What is my color?").unstored().after(first.id()));
    let second = socket.turn(&asking).await;
    assert_eq!(lines(second.output()), ["compaction", "assistant: purple"]);
    socket.turn(&ask("And?").unstored().after(second.id())).await;

    let view = world.last_view().await;
    let rest =
        ["user: What is my color?", &summary_message(SUMMARY), "assistant: purple", "user: And?"];
    assert_eq!(view[1..], rest);
}

#[tokio::test]
async fn single_call_limit_holds_after_a_compaction() {
    let world = compacting_world().await;
    let client = world.client();
    let asking = ask_past_threshold(&world).await.field("parallel_tool_calls", false).model(PLAIN);
    let asking = asking.field("tools", json!([crate::support::echo_tool()]));
    world.script(script_unknown_field());
    client.respond(&with_auto_compaction(ask("Hello").model(PLAIN))).await;
    script_summary(&world);
    let calls = Answer::new(PLAIN).call("call_1", "echo", "{}").call("call_2", "echo", "{}");
    world.script(Reply::sse(calls.frames()));

    let turn = client.turn(Mode::Streamed, &asking).await;

    assert_eq!(lines(turn.output()), ["compaction", "call echo {}"]);
    let answered = ask(json!([output(turn.call_id(), "a")])).model(PLAIN).after(turn.id());
    assert_eq!(client.respond(&answered).await.status(), "completed");
}

#[tokio::test]
async fn retried_compaction_is_replayed() {
    let world = compacting_world().await;
    let client = world.client().with_header("idempotency-key", "k");
    let asking = ask_past_threshold(&world).await;
    script_summary(&world);
    let first = client.respond(&asking).await;
    let asked = world.times_asked();

    let again = client.turn(Mode::Whole, &asking).await;

    assert_eq!(again.response, first.response);
    assert_eq!(world.times_asked(), asked);
}

#[tokio::test]
async fn compaction_is_sent_once_despite_a_retry() {
    let at_once = Retries { max: 2, first_delay: Duration::ZERO, ..Retries::default() };
    let world = World::with(|settings| settings.upstreams[0].retries = at_once).await;
    world.script(script_unknown_field());
    let client = world.client();
    client.respond(&with_auto_compaction(ask("Hello"))).await;
    let asking = ask_past_threshold(&world).await;
    script_summary(&world);
    let passing = json!({"error": {"message": "Overloaded.", "type": "server_error"}});
    world.script(Reply::json(StatusCode::SERVICE_UNAVAILABLE, &passing));
    let begun = Answer::new(MODEL).frames()[..2].to_vec();
    world.script(Reply::sse(begun));

    let turn = client.turn(Mode::Streamed, &asking).await;

    assert_eq!(lines(turn.output()), ["compaction", "assistant: purple"]);
}

#[tokio::test]
async fn disconnect_after_compaction_leaves_a_usable_history() {
    let world = compacting_world().await;
    let client = world.client();
    let conversation = client.new_conversation().await;
    client.respond(&ask(long_text()).within(&conversation)).await;
    script_summary(&world);
    let answer = Answer::new(MODEL).message("Once upon a time");
    let until = crate::support::frames_until(&answer, "response.output_text.delta");
    let tale = world.script(Reply::sse(answer.frames()).hang_after(until));
    let mut events =
        client.stream(&with_auto_compaction(ask("A tale").within(&conversation))).await;
    events.until("response.output_text.delta").await;

    drop(events);
    world.wait_for_disconnect(&tale).await;
    client.respond(&ask("And?").within(&conversation)).await;

    let view = world.last_view().await;
    let rest = ["user: A tale", &summary_message(SUMMARY), "assistant: Once ", "user: And?"];
    assert_eq!(view[1..], rest);
}

#[tokio::test]
async fn trigger_ignores_a_required_tool_choice() {
    let world = compacting_world().await;
    let client = world.client();
    let first = client.respond(&ask("My color is purple")).await;
    script_summary(&world);
    let trigger = ask(json!([{"type": "compaction_trigger"}])).after(first.id());
    let trigger = trigger
        .field("tools", json!([crate::support::echo_tool()]))
        .field("tool_choice", "required");

    let turn = client.respond(&trigger).await;

    assert_eq!(lines(turn.output()), ["compaction"]);
    assert_eq!(turn.header("antiphon-repairs"), None);
}
