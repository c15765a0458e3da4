//! Several upstreams behind one gateway, chosen by the model's name.

use antiphon_gateway::settings::{ModelPattern, Secret, UpstreamSettings};
use antiphon_mock::{Answer, Reply};
use antiphon_testkit::{FakeUpstream, Recorded};
use serde_json::{Value, json};

use super::{ANTHROPIC, CHAT};
use crate::support::{MODEL, MODES, Mode, OTHER_MODEL, World, ask, lines, output, soon};

/// `foreign-*` is at an upstream of Anthropic's API with a key, all others at one of Chat
/// Completions without.
async fn two() -> (World, FakeUpstream) {
    let anthropic = FakeUpstream::start().await;
    let url = anthropic.base_url().parse().expect("it is a URL");
    let world = World::with(|settings| {
        settings.upstreams[0].api = CHAT.upstream;
        let key = Some(Secret::new("key-of-the-gateway"));
        let mut second = UpstreamSettings::new(url, key);
        second.api = ANTHROPIC.upstream;
        second.models = vec![ModelPattern::new("foreign-*")];
        settings.upstreams.insert(0, second);
    })
    .await;
    (world, anthropic)
}

async fn asked(upstream: &FakeUpstream, index: usize) -> Recorded {
    let request = soon("the upstream is asked", upstream.request(index)).await;
    assert_eq!(request.verdict, Ok(()), "a provider accepts {}", request.body);
    request
}

#[tokio::test]
async fn model_name_selects_the_upstream() {
    let (world, anthropic) = two().await;
    let client = world.client();

    client.respond(&ask("Hello").model(OTHER_MODEL)).await;
    client.respond(&ask("Hello").model(MODEL)).await;

    assert_eq!(asked(&anthropic, 0).await.path, "/v1/messages");
    assert_eq!(world.request(0).await.path, "/v1/chat/completions");
    assert_eq!((anthropic.requests().len(), world.times_asked()), (1, 1));
}

#[tokio::test]
async fn token_goes_only_to_upstreams_without_key() {
    let (world, anthropic) = two().await;
    let client = world.client();

    client.respond(&ask("Hello").model(OTHER_MODEL)).await;
    client.respond(&ask("Hello").model(MODEL)).await;

    let with_key = asked(&anthropic, 0).await;
    assert_eq!(with_key.headers["x-api-key"], "key-of-the-gateway");
    assert_eq!(with_key.authorization(), None);
    assert_eq!(world.request(0).await.authorization(), Some("Bearer token-of-alice"));
}

#[tokio::test]
async fn conversation_moves_between_upstreams() {
    for mode in MODES {
        let (world, anthropic) = two().await;
        let client = world.client();
        let conversation = client.new_conversation().await;
        let say = |input: Value, model: &str| {
            let low = json!({"effort": "low"});
            ask(input).model(model).field("reasoning", low).within(&conversation)
        };

        client.turn(mode, &say("My color is purple".into(), MODEL)).await;
        let called = client.turn(mode, &say("Echo hello".into(), MODEL)).await;
        let answer = json!([output(called.call_id(), "hello")]);
        client.turn(mode, &say(answer, MODEL)).await;
        let recalled = client.turn(mode, &say("What is my color?".into(), OTHER_MODEL)).await;
        let again = client.turn(mode, &say("And what is my color?".into(), MODEL)).await;

        assert_eq!(recalled.text(), "purple");
        let repairs = recalled.header("antiphon-repairs").unwrap_or_default();
        assert!(repairs.contains("foreign_reasoning=1"), "{repairs}");
        assert!(!lines(&asked(&anthropic, 0).await.items()).contains(&"reasoning".to_owned()));
        assert_eq!(again.text(), "purple");
        assert_eq!(again.header("antiphon-repairs"), None);
        assert!(world.last_view().await.contains(&"reasoning".to_owned()));
    }
}

#[tokio::test]
async fn busy_upstream_is_rate_limited() {
    let world = World::with(|settings| {
        settings.upstreams[0].api = ANTHROPIC.upstream;
        settings.upstreams[0].max_open = Some(1);
    })
    .await;
    let client = world.client();
    let answer = Answer::new(MODEL).message("Hello there");
    let frames = answer.frames_for(ANTHROPIC.api);
    let first = world.script(Reply::sse(frames).hang_after(3));
    let mut open = client.stream(&ask("Hello")).await;
    open.until("response.in_progress").await;

    for mode in MODES {
        let refused = client.refused(mode, &ask("Hello")).await;
        assert_eq!(refused.status, 429);
        assert_eq!(refused.body["error"]["type"], "too_many_requests");
        assert_eq!(refused.body["error"]["code"], "rate_limit_exceeded");
    }

    first.release_all();
    open.until("response.completed").await;
    let next = client.turn(Mode::Whole, &ask("Hello")).await;
    assert_eq!(next.text(), "Noted.");
    assert_eq!(world.times_asked(), 2);
}
