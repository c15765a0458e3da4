//! Detects the capabilities of stateful upstreams that the settings do not describe.

use antiphon_gateway::settings::{Retries, Secret, Settings, State, UpstreamSettings};
use antiphon_mock::{Answer, Options, Profile, StrictProvider};

use crate::support::{Client, Gateways, MODEL, ask, lines, soon, typed_user};

const KEY: &str = "sk-of-the-operator";

/// A provider, and a gateway in front of it that has a key there, or has not.
async fn world(profile: Profile, key: Option<&str>) -> (StrictProvider, Gateways) {
    let options = Options { profile, ..Options::default() };
    let provider = StrictProvider::with_options(options).start().await;
    let url = provider.base_url().parse().expect("it is a URL");
    let upstream = UpstreamSettings {
        state: State::Upstream,
        retries: Retries::none(),
        ..UpstreamSettings::new(url, key.map(Secret::new))
    };
    let settings = Settings { upstreams: vec![upstream], ..Settings::default() };
    (provider, Gateways::start(settings).await)
}

/// Where the provider was asked, and with which token.
fn asked(provider: &StrictProvider) -> Vec<(String, String)> {
    let zeros = "0".repeat(50);
    let named = |path: &str| path.replace(&zeros, "0");
    provider.requests().iter().map(|it| (named(&it.path), it.token.clone())).collect()
}

fn asked_with(token: &str, paths: &[&str]) -> Vec<(String, String)> {
    paths.iter().map(|path| ((*path).to_owned(), token.to_owned())).collect()
}

#[tokio::test]
async fn provider_with_a_key_is_probed_at_start() {
    let (provider, _gateways) = world(Profile::OpenAi, Some(KEY)).await;
    soon("the provider is asked what it can do", provider.request(2)).await;
    let paths =
        ["/v1/conversations/conv_0", "/v1/responses/resp_0", "/v1/responses/resp_0/input_items"];
    assert_eq!(asked(&provider), asked_with(KEY, &paths));
}

#[tokio::test]
async fn provider_with_conversations_is_probed_once() {
    let (provider, gateways) = world(Profile::OpenAi, None).await;
    let client = gateways.client();
    for _ in 0..2 {
        let conversation = client.new_conversation().await;
        assert!(provider.conversation_items(&conversation).is_some());
    }
    let paths = [
        "/v1/conversations/conv_0",
        "/v1/responses/resp_0",
        "/v1/responses/resp_0/input_items",
        "/v1/conversations",
        "/v1/conversations",
    ];
    assert_eq!(asked(&provider), asked_with("token-of-alice", &paths));
}

#[tokio::test]
async fn gateway_stores_conversations_if_the_provider_cannot() {
    for profile in [Profile::Azure, Profile::ChainsOnly] {
        let (provider, gateways) = world(profile, None).await;
        let client = gateways.client();
        let conversation = client.new_conversation().await;
        assert!(provider.requests().iter().all(|it| it.path != "/v1/conversations"));

        let message = ask([typed_user("My dog is Rex.")]).within(&conversation);
        client.respond(&message).await;
        let asked = ask([typed_user("What is my dog?")]).within(&conversation);
        assert_eq!(client.respond(&asked).await.text(), "Rex");

        let turns = provider.turns();
        assert_eq!(turns.len(), 2, "{profile:?}");
        assert!(turns.iter().all(|it| it.body["conversation"].is_null()));
        let whole = ["user: My dog is Rex.", "assistant: Noted.", "user: What is my dog?"];
        assert_eq!(lines(turns[1].input()), whole);
    }
}

#[tokio::test]
async fn chain_without_input_lists_is_synced_by_output() {
    let (provider, gateways) = world(Profile::ChainsOnly, None).await;
    let past_gateway = Client::at(&format!("http://{}", provider.address()));
    let first = past_gateway.respond(&ask([typed_user("My dog is Rex.")])).await;

    let replay = [first.output()[0].clone(), typed_user("What is my dog?")];
    let answer = gateways.client().respond(&ask(replay).after(first.id())).await;

    assert_eq!(answer.text(), "Rex");
    let turns = provider.turns();
    assert_eq!(lines(turns[1].input()), ["user: What is my dog?"]);
    let input_items = format!("/v1/responses/{}/input_items", first.id());
    assert!(provider.requests().iter().all(|it| it.path != input_items));
}

#[tokio::test]
async fn calls_without_input_lists_count_as_answered() {
    let (provider, gateways) = world(Profile::ChainsOnly, None).await;
    let past_gateway = Client::at(&format!("http://{}", provider.address()));
    provider.script(Answer::new(MODEL).call("call_1", "echo", r#"{"text":"hello"}"#));
    let calling = past_gateway.respond(&ask([typed_user("Echo hello.")])).await;
    let output = serde_json::json!({
        "type": "function_call_output", "call_id": "call_1", "output": "hello",
    });
    let answered = past_gateway.respond(&ask([output]).after(calling.id())).await;

    let next = ask([typed_user("What is my dog?")]).after(answered.id());
    gateways.client().respond(&next).await;

    let turns = provider.turns();
    assert_eq!(lines(turns[2].input()), ["user: What is my dog?"]);
}

#[tokio::test]
async fn undetected_provider_decides_itself() {
    let (provider, gateways) = world(Profile::OpenAi, None).await;
    let stranger = gateways.caller("sk-wrong");
    let created = stranger.post("/v1/conversations", &serde_json::json!({})).await;
    assert_eq!(created.status(), 401);

    let conversation = gateways.client().new_conversation().await;
    assert!(provider.conversation_items(&conversation).is_some());
}
