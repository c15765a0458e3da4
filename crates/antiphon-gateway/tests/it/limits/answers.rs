//! How much an upstream's answer may come to.

use antiphon::dialect::UpstreamApi;
use antiphon_gateway::settings::{Preset, Settings, State};
use antiphon_mock::{Answer, Api, Reply};
use http::StatusCode;
use serde_json::{Value, json};

use crate::support::{MODEL, Mode, World, ask};

const BOUND: usize = 50_000;

const APIS: [(UpstreamApi, Api); 3] = [
    (UpstreamApi::Responses, Api::Responses),
    (UpstreamApi::Chat, Api::Chat),
    (UpstreamApi::Anthropic, Api::Anthropic),
];

const MESSAGE: &str =
    "The upstream's answer is longer than 50000 bytes, the bound of max-answer-bytes.";

/// An answer of many pieces that come to three times the bound.
fn long_answer() -> Answer {
    Answer::new(MODEL).message("once more ".repeat(3 * BOUND / 10))
}

async fn world(dialect: UpstreamApi, change: impl FnOnce(&mut Settings)) -> World {
    World::with(|settings| {
        settings.upstreams[0].api = dialect;
        settings.upstreams[0].max_answer = BOUND;
        change(settings);
    })
    .await
}

/// The terminal events of the stream of a long answer.
async fn terminal_events(world: &World) -> Vec<Value> {
    let events = world.client().stream(&ask("Tell me a tale")).await.all().await;
    let terminal = ["response.completed", "response.incomplete", "response.failed"];
    let (last, received) = events.split_last().expect("there are events");
    assert!(terminal.contains(&last.name.as_str()), "{}", last.name);
    assert!(received.iter().all(|event| event.json["sequence_number"].is_u64()));
    let ends = events.into_iter().filter(|event| terminal.contains(&event.name.as_str()));
    ends.map(|event| event.json).collect()
}

fn assert_failed(ends: &[Value]) {
    let [end] = ends else { panic!("one terminal event, not {}", ends.len()) };
    assert_eq!(end["type"], "response.failed");
    let response = &end["response"];
    assert_eq!(response["status"], "failed");
    assert_eq!(response["error"]["message"], MESSAGE);
    assert_eq!(response["output"], json!([]));
}

#[tokio::test]
async fn too_long_stream_ends_in_one_failure() {
    for (dialect, api) in APIS {
        let world = world(dialect, |_| {}).await;
        world.script(Reply::sse(long_answer().frames_for(api)));
        assert_failed(&terminal_events(&world).await);
        assert_eq!(world.times_asked(), 1, "{dialect:?}: it is not asked again");
    }
}

#[tokio::test]
async fn too_long_whole_answer_is_a_bad_gateway() {
    for (dialect, api) in APIS {
        let world = world(dialect, |_| {}).await;
        world.script(Reply::sse(long_answer().frames_for(api)));
        world.script(Reply::json(StatusCode::OK, &long_answer().json_for(api)));
        let body = ask("Tell me a tale");
        let streamed = world.client().post("/v1/responses", body.body()).await;
        assert_eq!((streamed.status(), streamed.server_error()), (502, MESSAGE.to_owned()));
        let whole = world.client().post("/v1/responses", body.body()).await;
        assert_eq!(whole.status(), 502, "{dialect:?}: {}", whole.server_error());
    }
}

#[tokio::test]
async fn too_long_background_answer_fails() {
    let world = world(UpstreamApi::Responses, |_| {}).await;
    world.script(Reply::sse(long_answer().frames()));
    let body = ask("Tell me a tale").field("background", true);
    let queued = world.client().post("/v1/responses", body.body()).await.json();
    let id = queued["id"].as_str().expect("it has an id");

    let ended = world.client().wait_until_ended(id).await;

    assert_eq!(ended["status"], "failed");
    assert_eq!(ended["error"]["message"], MESSAGE);
}

#[tokio::test]
async fn too_long_answer_of_a_stateful_upstream_fails() {
    let world = world(UpstreamApi::Responses, |settings| {
        settings.upstreams[0].state = State::Upstream;
        settings.upstreams[0].capabilities = Some(Preset::OpenAi.capabilities());
    })
    .await;
    world.script(Reply::sse(long_answer().frames()));
    assert_failed(&terminal_events(&world).await);
}

#[tokio::test]
async fn conversation_continues_after_a_too_long_answer() {
    let world = world(UpstreamApi::Responses, |_| {}).await;
    let client = world.client();
    let conversation = client.new_conversation().await;
    world.script(Reply::sse(long_answer().frames()));
    client.stream(&ask("Tell me a tale").within(&conversation)).await.all().await;

    let next = client.turn(Mode::Streamed, &ask("Just say hello").within(&conversation)).await;

    assert_eq!(next.status(), "completed");
    assert_eq!(world.last_view().await.len(), 1, "nothing of the failed turn is there");
}
