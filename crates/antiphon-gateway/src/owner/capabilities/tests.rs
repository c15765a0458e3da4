use antiphon_mock::Reply;
use futures_util::future::{join, join_all};
use http::StatusCode;
use serde_json::json;

use super::super::tests::world::{World, refusal};
use super::*;
use crate::settings::{Secret, UpstreamSettings};

const NO_CONVERSATION: &str =
    "Conversation with id 'conv_00000000000000000000000000000000000000000000000000' not found.";
const NO_RESPONSE: &str =
    "Response with id 'resp_00000000000000000000000000000000000000000000000000' not found.";
const NO_PATH: &str = "Not Found";

fn all() -> Capabilities {
    Preset::OpenAi.capabilities()
}

fn nothing() -> Capabilities {
    Capabilities { conversations: false, chains: false, item_deletion: false, input_items: false }
}

/// The capabilities that these answers lead to, and the number of requests.
async fn found(answers: Vec<Reply>) -> (Capabilities, usize) {
    let world = World::new().await;
    for answer in answers {
        world.upstream.script(answer);
    }
    let found = world.http().capabilities(&world.caller).await;
    (found, world.asked().len())
}

fn missing(message: &str) -> Reply {
    refusal(StatusCode::NOT_FOUND, message)
}

/// Scripts the answers of a server with all capabilities.
fn has_all(world: &World) {
    for message in [NO_CONVERSATION, NO_RESPONSE, NO_RESPONSE] {
        world.refuses(StatusCode::NOT_FOUND, message);
    }
}

#[tokio::test]
async fn configured_capabilities_are_not_probed() {
    let told = Preset::OpenResponses.capabilities();
    let world = World::with(|kept| kept.capabilities = Some(told)).await;
    assert_eq!(world.http().capabilities(&world.caller).await, told);
    assert!(world.asked().is_empty());
}

#[test]
fn known_hosts_have_preset_capabilities() {
    let preset = |url: &'static str| preset_of_host(&Uri::from_static(url));
    assert_eq!(preset("https://api.openai.com/v1"), Some(Preset::OpenAi));
    assert_eq!(preset("https://API.OpenAI.com:443/v1"), Some(Preset::OpenAi));
    for url in [
        "https://x.openai.azure.com/openai/v1",
        "https://x.services.ai.azure.com/openai/v1",
        "https://x.cognitiveservices.azure.com/openai/v1",
    ] {
        assert_eq!(preset(url), Some(Preset::Azure), "{url}");
    }
    for url in [
        "https://x.services.ai.azure.com/api/projects/p/openai/v1",
        "https://eu.api.openai.com.example/v1",
        "https://xapi.openai.com/v1",
        "https://openai.azure.com/v1",
        "http://127.0.0.1:8000/v1",
        "/v1",
    ] {
        assert_eq!(preset(url), None, "{url}");
    }
}

#[tokio::test]
async fn missing_object_error_shows_that_the_path_exists() {
    let world = World::new().await;
    has_all(&world);
    assert_eq!(world.http().capabilities(&world.caller).await, all());
    let zeros = "0".repeat(50);
    let expected = [
        format!("GET /v1/conversations/conv_{zeros}"),
        format!("GET /v1/responses/resp_{zeros}"),
        format!("GET /v1/responses/resp_{zeros}/input_items?limit=1"),
    ];
    assert_eq!(world.asked(), expected);
    let mut requests = world.upstream.requests().into_iter();
    assert!(requests.all(|it| it.authorization() == Some("Bearer token-of-alice")));
}

#[tokio::test]
async fn server_without_conversations_is_detected() {
    let chains = Capabilities { chains: true, ..nothing() };
    for status in
        [StatusCode::NOT_FOUND, StatusCode::METHOD_NOT_ALLOWED, StatusCode::NOT_IMPLEMENTED]
    {
        let no_path = || refusal(status, NO_PATH);
        let answers = vec![no_path(), missing(NO_RESPONSE), no_path()];
        assert_eq!(found(answers).await, (chains, 3), "{status}");
    }
    let html = Reply::new(StatusCode::NOT_FOUND, "text/html", "<h1>Not Found</h1>");
    let empty = Reply::new(StatusCode::NOT_FOUND, "text/plain", "");
    assert_eq!(found(vec![html, missing("Response not found"), empty]).await, (chains, 3));
}

#[tokio::test]
async fn stateless_server_is_not_probed_for_input_items() {
    assert_eq!(found(vec![missing(NO_PATH), missing(NO_PATH)]).await, (nothing(), 2));
}

#[tokio::test]
async fn empty_list_counts_and_error_with_status_200_does_not() {
    let error = json!({"error": "Unexpected endpoint or method. Returning 200 anyway"});
    let error = Reply::json(StatusCode::OK, &error);
    let list = Reply::json(StatusCode::OK, &json!({"object": "list", "data": []}));
    let expected = Capabilities { chains: true, input_items: true, ..nothing() };
    assert_eq!(found(vec![error, missing(NO_RESPONSE), list]).await, (expected, 3));
}

#[tokio::test]
async fn malformed_id_error_shows_that_the_path_exists() {
    let zeros = "0".repeat(50);
    let malformed = format!("Invalid conversation id 'conv_{zeros}', Malformed identifier.");
    let answers = vec![
        refusal(StatusCode::BAD_REQUEST, &malformed),
        missing(NO_RESPONSE),
        missing(NO_RESPONSE),
    ];
    assert_eq!(found(answers).await, (all(), 3));
}

#[tokio::test]
async fn detected_capabilities_are_remembered() {
    let world = World::new().await;
    world.refuses(StatusCode::NOT_FOUND, NO_PATH);
    world.refuses(StatusCode::NOT_FOUND, NO_PATH);
    for _ in 0..3 {
        assert_eq!(world.http().capabilities(&world.caller).await, nothing());
    }
    assert_eq!(world.asked().len(), 2);
}

#[tokio::test]
async fn inconclusive_probe_is_repeated_later() {
    let world = World::new().await;
    let failures = [
        refusal(StatusCode::UNAUTHORIZED, "Incorrect API key provided."),
        refusal(StatusCode::FORBIDDEN, "No access to conversations."),
        refusal(StatusCode::BAD_REQUEST, "Missing required query parameter: api-version"),
        refusal(StatusCode::TOO_MANY_REQUESTS, "Slow down"),
        refusal(StatusCode::INTERNAL_SERVER_ERROR, "Conversation not found"),
        Reply::new(StatusCode::OK, "text/html", "<h1>Maintenance</h1>"),
        Reply::new(StatusCode::FOUND, "text/plain", ""),
        Reply::hangup(),
    ];
    for (asked, reply) in failures.into_iter().enumerate() {
        world.upstream.script(reply);
        assert_eq!(world.http().capabilities(&world.caller).await, all());
        assert_eq!(world.asked().len(), asked + 1);
    }
    world.refuses(StatusCode::NOT_FOUND, NO_PATH);
    world.refuses(StatusCode::UNAUTHORIZED, "Expired.");
    assert_eq!(world.http().capabilities(&world.caller).await, all());

    world.refuses(StatusCode::NOT_FOUND, NO_PATH);
    world.refuses(StatusCode::NOT_FOUND, NO_PATH);
    assert_eq!(world.http().capabilities(&world.caller).await, nothing());
}

#[tokio::test]
async fn concurrent_callers_share_one_probe() {
    let world = World::new().await;
    let first = world.upstream.script(missing(NO_PATH).withhold_head());
    world.refuses(StatusCode::NOT_FOUND, NO_PATH);
    let callers = (0..5).map(|_| world.http().capabilities(&world.caller));
    let release = async {
        world.upstream.request(0).await;
        first.release_all();
    };
    let (found, ()) = join(join_all(callers), release).await;
    assert_eq!(found, [nothing(); 5]);
    assert_eq!(world.asked().len(), 2);
}

#[tokio::test]
async fn waiters_of_a_failed_probe_do_not_repeat_it() {
    let world = World::new().await;
    let first = refusal(StatusCode::UNAUTHORIZED, "Incorrect API key provided.");
    let first = world.upstream.script(first.withhold_head());
    let callers = (0..5).map(|_| world.http().capabilities(&world.caller));
    let release = async {
        world.upstream.request(0).await;
        first.release_all();
    };
    let (found, ()) = join(join_all(callers), release).await;
    assert_eq!(found, [all(); 5]);
    assert_eq!(world.asked().len(), 1);
}

#[tokio::test]
async fn next_caller_repeats_a_cancelled_probe() {
    let world = World::new().await;
    world.upstream.script(missing(NO_PATH).withhold_head());
    tokio::select! {
        _ = world.http().capabilities(&world.caller) => panic!("nothing was said"),
        _ = world.upstream.request(0) => {}
    }
    has_all(&world);
    assert_eq!(world.http().capabilities(&world.caller).await, all());
    assert_eq!(world.asked().len(), 4);
}

#[tokio::test]
async fn upstreams_with_a_key_are_probed_at_start() {
    let key = Some(Secret::new("sk-of-the-operator"));
    let world = World::with_entries(|kept| {
        let with_key = UpstreamSettings { key, ..kept.clone() };
        let kept_here = UpstreamSettings { state: State::Here, ..with_key.clone() };
        let told = Some(all());
        let told = UpstreamSettings { capabilities: told, ..with_key.clone() };
        vec![with_key, kept, kept_here, told]
    })
    .await;
    has_all(&world);

    detect_all(&world.upstreams).await;

    let requests = world.upstream.requests();
    assert_eq!(requests.len(), 3);
    assert!(requests.iter().all(|it| it.authorization() == Some("Bearer sk-of-the-operator")));
    assert_eq!(world.http().capabilities(&world.caller).await, all());
    assert_eq!(world.asked().len(), 3);
}
