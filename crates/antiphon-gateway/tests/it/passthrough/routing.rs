//! Which upstream gets what passes.

use antiphon::dialect::UpstreamApi;
use antiphon_gateway::settings::{ModelPattern, Settings, UpstreamSettings};
use antiphon_testkit::FakeUpstream;
use http::Method;
use http::request::Builder;
use serde_json::json;

use super::{read_answer, request};
use crate::support::{World, soon};

/// The others behind a gateway, beside the one that the world has, which comes first, speaks the
/// Responses API and answers for `few-*`.
struct Others {
    anthropic: FakeUpstream,
    chat: FakeUpstream,
}

async fn three() -> (World, Others) {
    three_with(|_| {}).await
}

async fn three_with(change: impl FnOnce(&mut Settings)) -> (World, Others) {
    let others =
        Others { anthropic: FakeUpstream::start().await, chat: FakeUpstream::start().await };
    let of = |upstream: &FakeUpstream, api, models| {
        let url = upstream.base_url().parse().expect("it is a URL");
        UpstreamSettings { api, models: vec![models], ..UpstreamSettings::new(url, None) }
    };
    let anthropic = of(&others.anthropic, UpstreamApi::Anthropic, ModelPattern::new("claude-*"));
    let chat = of(&others.chat, UpstreamApi::Chat, ModelPattern::new("*"));
    let world = World::with(|settings| {
        settings.upstreams[0].models = vec![ModelPattern::new("few-*")];
        settings.upstreams.extend([anthropic, chat]);
        change(settings);
    })
    .await;
    (world, others)
}

impl Others {
    /// How often each was asked, the world's own first.
    fn asked(&self, world: &World) -> [usize; 3] {
        [world.times_asked(), self.anthropic.requests().len(), self.chat.requests().len()]
    }
}

fn post(world: &World, path: &str) -> Builder {
    request(world, Method::POST, path)
}

#[tokio::test]
async fn model_in_the_body_selects_the_upstream() {
    let (world, others) = three().await;
    for model in ["few-1", "claude-1", "other"] {
        let body = json!({"input": "Hello", "model": model}).to_string();
        let asked = post(&world, "/v1/embeddings").header("content-type", "application/json");
        read_answer(asked, body).await;
    }
    assert_eq!(others.asked(&world), [1, 1, 1]);
}

#[tokio::test]
async fn untyped_body_is_json_on_json_paths() {
    // Where nothing names the caller, such a body may be any page's.
    let behind_a_proxy =
        |settings: &mut Settings| settings.tenant_header = Some("x-tenant".parse().unwrap());
    let (world, others) = three_with(behind_a_proxy).await;
    for content_type in ["", "text/plain", "application/x-www-form-urlencoded"] {
        let asked = post(&world, "/v1/embeddings").header("x-tenant", "acme");
        let asked = asked.header("content-type", content_type);
        read_answer(asked, r#"{"model":"few-1"}"#).await;
    }
    assert_eq!(others.asked(&world), [3, 0, 0]);
}

/// A form with a file of that many bytes in front of its model's name.
fn form(length: usize, model: &str) -> String {
    format!(
        "--x1\r\ncontent-disposition: form-data; name=\"file\"; filename=\"a.wav\"\r\n\r\n{}\r\n\
         --x1\r\ncontent-disposition: form-data; name=\"model\"\r\n\r\n{model}\r\n--x1--\r\n",
        "a".repeat(length)
    )
}

#[tokio::test]
async fn early_model_in_a_form_selects_the_upstream() {
    let (world, others) = three().await;
    for length in [1_000, 1_000_000] {
        let asked = post(&world, "/v1/audio/transcriptions")
            .header("content-type", "multipart/form-data; boundary=x1");
        read_answer(asked, form(length, "few-1")).await;
    }
    assert_eq!(others.asked(&world), [1, 0, 1]);
    assert_eq!(world.request(0).await.raw, form(1_000, "few-1"));
    let behind = soon("it is asked", others.chat.request(0)).await;
    assert_eq!(behind.raw, form(1_000_000, "few-1"));
    assert_eq!(behind.headers["content-length"], behind.raw.len().to_string());
}

#[tokio::test]
async fn file_name_does_not_select_the_upstream() {
    for disposition in [
        r#"name="file"; filename="a; name=model; b.txt""#,
        r#"filename="a; name=model; b.txt"; name="file""#,
        r#"filename="a\"; name=model; b.txt"; name="file""#,
    ] {
        let (world, others) = three().await;
        let form = format!(
            "--x1\r\ncontent-disposition: form-data; {disposition}\r\n\r\nfew-1\r\n--x1\r\n\
             content-disposition: form-data; name=\"model\"\r\n\r\nother\r\n--x1--\r\n"
        );
        let asked = post(&world, "/v1/audio/transcriptions")
            .header("content-type", "multipart/form-data; boundary=x1");
        read_answer(asked, form.clone()).await;
        assert_eq!(others.asked(&world), [0, 0, 1], "{disposition}");
        assert_eq!(soon("it is asked", others.chat.request(0)).await.raw, form);
    }
}

#[tokio::test]
async fn path_selects_the_api_without_a_model() {
    let (world, others) = three().await;
    read_answer(request(&world, Method::GET, "/v1/messages/batches"), "").await;
    assert_eq!(others.asked(&world), [0, 1, 0]);
    read_answer(request(&world, Method::GET, "/v1/files"), "").await;
    assert_eq!(others.asked(&world), [0, 1, 1], "one that answers for all models comes first");
    let of_anthropic =
        request(&world, Method::GET, "/v1/files").header("anthropic-version", "2023-06-01");
    read_answer(of_anthropic, "").await;
    assert_eq!(others.asked(&world), [0, 2, 1]);
}

#[tokio::test]
async fn first_upstream_serves_an_unknown_api() {
    let world = World::with(|settings| settings.upstreams[0].api = UpstreamApi::Anthropic).await;
    read_answer(request(&world, Method::GET, "/v1/files"), "").await;
    assert_eq!(world.times_asked(), 1);
}

#[tokio::test]
async fn unserved_model_is_rejected() {
    let world =
        World::with(|settings| settings.upstreams[0].models = vec![ModelPattern::new("few-*")])
            .await;
    let refused =
        read_answer(post(&world, "/v1/embeddings"), r#"{"model":"other"}"#).await.refused();
    assert_eq!(refused.status, 404);
    assert_eq!(refused.body["error"]["code"], "model_not_found");
    assert_eq!(refused.body["error"]["message"], "The model 'other' does not exist.");
    assert_eq!(world.times_asked(), 0);
}

#[tokio::test]
async fn built_in_model_serves_only_responses() {
    let world = World::new().await;
    let refused = read_answer(post(&world, "/v1/embeddings"), r#"{"model":"sim"}"#).await.refused();
    assert_eq!(refused.status, 404);
    assert_eq!(refused.body["error"]["param"], "model");
    let message = "The model 'sim' is built in and is served only at /v1/responses: \
                   /v1/embeddings passes to upstreams, which do not have it.";
    assert_eq!(refused.body["error"]["message"], message);
    assert_eq!(world.times_asked(), 0);
}

#[tokio::test]
async fn nothing_passes_without_an_upstream() {
    let world = World::with(|settings| settings.upstreams.clear()).await;
    let refused = read_answer(post(&world, "/v1/embeddings"), "{}").await.refused();
    assert_eq!(refused.status, 404);
    let message = "Invalid URL (POST /v1/embeddings): no upstream is configured that could serve \
                   it (--upstream).";
    assert_eq!(refused.body["error"]["message"], message);
}
