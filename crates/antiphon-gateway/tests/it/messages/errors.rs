//! The gateway's own errors, in Anthropic's form.

use std::num::NonZeroU32;

use antiphon::dialect::UpstreamApi;
use antiphon_gateway::settings::{ApiKey, ModelPattern, Rate};
use antiphon_mock::Reply;
use antiphon_store::Tenant;
use http::{Method, StatusCode};
use serde_json::{Value, json};

use super::{PATH, client_of, post, request, user};
use crate::client_apis::{ClientApi, UPSTREAMS, world_of, world_with};
use crate::support::{Answer, MODES, World, soon};

/// The message of an error with this status and type.
fn message_of(answer: &Answer, status: u16, kind: &str) -> String {
    assert_eq!(answer.status(), status, "{:?}", answer.body());
    let body = answer.refused().body;
    assert_eq!(body["type"], "error");
    assert_eq!(body["error"]["type"], kind, "{body}");
    assert_eq!(body["request_id"].as_str(), answer.header("request-id"));
    assert_eq!(answer.header("request-id"), answer.header("x-request-id"));
    body["error"]["message"].as_str().expect("an error has a message").to_owned()
}

fn asked() -> Value {
    request(&json!([user("Hello")]))
}

#[tokio::test]
async fn invalid_request_is_rejected_in_anthropics_words() {
    for (api, _) in ClientApi::Messages.other_upstreams() {
        let world = world_of(api).await;
        let mut nameless = asked();
        nameless.as_object_mut().unwrap().remove("model");
        let mut unlimited = asked();
        unlimited.as_object_mut().unwrap().remove("max_tokens");
        for (body, message) in [
            (nameless, "model: Field required"),
            (unlimited, "max_tokens: Field required"),
            (
                request(&json!([user("x"), user(json!([{"type": "text", "text": "x"}, {}]))])),
                "messages.1.content.1.type: Field required",
            ),
        ] {
            let answer = client_of(&world).post(PATH, &body).await;
            assert_eq!(message_of(&answer, 400, "invalid_request_error"), message);
        }
        for body in ["", "[]", "{"] {
            let answer = client_of(&world).post_raw(PATH, body).await;
            message_of(&answer, 400, "invalid_request_error");
        }
        assert_eq!(world.times_asked(), 0);
    }
}

#[tokio::test]
async fn invalid_request_reaches_an_anthropic_upstream() {
    let world = world_of(UpstreamApi::Anthropic).await;
    let mut unlimited = asked();
    unlimited.as_object_mut().unwrap().remove("max_tokens");
    let answer = client_of(&world).post(PATH, &unlimited).await;
    assert_eq!(answer.refused().body["error"]["message"], "max_tokens: Field required");
    assert_eq!(world.times_asked(), 1);
}

#[tokio::test]
async fn unknown_caller_is_rejected() {
    for (api, _) in UPSTREAMS {
        let world = world_with(api, |settings| {
            settings.api_keys = vec![ApiKey::new("key-of-acme", Tenant::new("acme"))];
        })
        .await;
        for path in [PATH, "/v1/messages/count_tokens"] {
            let answer = client_of(&world).post(path, &asked()).await;
            message_of(&answer, 401, "authentication_error");
        }
        let answer = client_of(&world).get("/v1/models").await;
        message_of(&answer, 401, "authentication_error");
    }
}

#[tokio::test]
async fn unknown_model_is_not_found() {
    for (api, _) in UPSTREAMS {
        let world = world_with(api, |settings| {
            settings.upstreams[0].models = vec![ModelPattern::new("few-*")];
        })
        .await;
        let answer = client_of(&world).post(PATH, &asked()).await;
        let status = answer.status();
        let kind = if status == 404 { "not_found_error" } else { "invalid_request_error" };
        assert!(message_of(&answer, status, kind).contains("fake-model"));
        let answer = client_of(&world).get("/v1/models/unknown").await;
        message_of(&answer, 404, "not_found_error");
    }
}

#[tokio::test]
async fn unknown_path_is_not_found() {
    let world = World::with(|settings| settings.upstreams.clear()).await;
    let answer = client_of(&world).post("/v1/messages/batches", &json!({})).await;
    message_of(&answer, 404, "not_found_error");
    let wrong = client_of(&world).send(Method::GET, PATH, "").await;
    let answer = Answer::read(wrong).await;
    message_of(&answer, 405, "invalid_request_error");
}

#[tokio::test]
async fn too_large_body_is_rejected() {
    for (api, _) in UPSTREAMS {
        let world = world_with(api, |settings| settings.limits.max_body_bytes = 1_000).await;
        let body = request(&json!([user("x".repeat(2_000))]));
        let answer = client_of(&world).post(PATH, &body).await;
        message_of(&answer, 413, "request_too_large");
        assert_eq!(world.times_asked(), 0);
    }
}

#[tokio::test]
async fn too_many_requests_are_rejected() {
    let one = NonZeroU32::new(1).expect("it is not zero");
    let world = world_with(UpstreamApi::Chat, |settings| {
        settings.limits.rate = Some(Rate { per_second: one, burst: one });
    })
    .await;
    let client = client_of(&world);
    let until_refused = async {
        loop {
            let answer = client.post(PATH, &asked()).await;
            if answer.status() != 200 {
                break answer;
            }
        }
    };
    let answer = soon("it is too often", until_refused).await;
    message_of(&answer, 429, "rate_limit_error");
    assert_eq!(answer.header("retry-after"), Some("1"));
}

#[tokio::test]
async fn rejection_passes_with_its_status() {
    for (api, _) in ClientApi::Messages.other_upstreams() {
        for (status, kind) in [
            (400, "invalid_request_error"),
            (401, "authentication_error"),
            (403, "permission_error"),
            (404, "not_found_error"),
            (413, "request_too_large"),
            (429, "rate_limit_error"),
            (500, "api_error"),
            (502, "api_error"),
            (503, "overloaded_error"),
            (529, "overloaded_error"),
        ] {
            for mode in MODES {
                let world = world_of(api).await;
                let error = json!({"error": {"message": "No.", "type": "x", "code": null}});
                let status_code = StatusCode::from_u16(status).expect("it is a status");
                world.script(Reply::json(status_code, &error).header("retry-after", "7"));
                let answer = post(&client_of(&world), mode, &asked()).await;
                assert_eq!(answer.header("retry-after"), Some("7"));
                let refused = answer.refused();
                let id = answer.header("request-id").expect("an answer has an id");
                let expected = json!({"type": "error", "request_id": id,
                    "error": {"type": kind, "message": "No."}});
                assert_eq!((refused.status, refused.body), (status, expected));
            }
        }
    }
}

/// Other clients of the same paths get errors in OpenAI's form.
#[tokio::test]
async fn other_clients_get_openais_form() {
    let world = World::new().await;
    let refused = world.client().get("/v1/models/unknown").await.refused();
    assert_eq!(refused.status, 404);
    assert_eq!(refused.body["error"]["code"], "model_not_found");
}

#[tokio::test]
async fn wrong_method_and_foreign_page_are_rejected_in_anthropics_form() {
    let world = world_of(UpstreamApi::Anthropic).await;
    let client = client_of(&world);
    for path in [PATH, "/v1/models"] {
        message_of(&client.delete(path).await, 405, "invalid_request_error");
    }
    let page = client.with_header("origin", "https://page.example");
    message_of(&page.post(PATH, &asked()).await, 403, "permission_error");
}
