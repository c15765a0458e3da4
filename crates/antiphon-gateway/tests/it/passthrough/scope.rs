//! What passes where several tenants share an upstream's account.

use antiphon::dialect::UpstreamApi;
use antiphon_gateway::settings::{ApiKey, PassThrough, Secret, Settings};
use antiphon_store::Tenant;
use http::request::Builder;
use http::{HeaderName, Method};
use serde_json::json;

use super::{read_answer, request};
use crate::support::World;

/// Two tenants with a key of ours each, and an upstream with the operator's.
fn shared(settings: &mut Settings) {
    let key = |key, tenant| ApiKey::new(key, Tenant::new(tenant));
    settings.upstreams[0].key = Some(Secret::new("sk-of-the-operator"));
    settings.upstreams[0].api = UpstreamApi::Chat;
    settings.api_keys = vec![key("key-of-acme", "acme"), key("key-of-globex", "globex")];
}

fn asked(world: &World, method: Method, path: &str) -> Builder {
    request(world, method, path).header("authorization", "Bearer key-of-acme")
}

#[tokio::test]
async fn stateless_request_passes_with_the_operators_key() {
    let world = World::with(shared).await;
    let paths = [
        "/v1/chat/completions",
        "/v1/completions",
        "/v1/embeddings",
        "/v1/moderations",
        "/v1/rerank",
        "/v1/audio/speech",
        "/v1/audio/transcriptions",
        "/v1/audio/translations",
        "/v1/images/generations",
        "/v1/images/edits",
        "/v1/images/variations",
    ];
    for (index, path) in paths.into_iter().enumerate() {
        let asked = asked(&world, Method::POST, path).header("api-key", "key-of-acme");
        read_answer(asked, r#"{"model":"fake-model"}"#).await;
        let came = world.request(index).await;
        assert_eq!(came.path, path);
        assert_eq!(came.authorization(), Some("Bearer sk-of-the-operator"));
        assert_eq!(came.headers.get("api-key"), None);
    }
}

#[tokio::test]
async fn messages_pass_with_the_operators_key() {
    let world = World::with(|settings| {
        shared(settings);
        settings.upstreams[0].api = UpstreamApi::Anthropic;
    })
    .await;
    for (index, path) in ["/v1/messages", "/v1/messages/count_tokens"].into_iter().enumerate() {
        // The upstream decides about a request that the gateway cannot read.
        read_answer(asked(&world, Method::POST, path), r#"{"model":"fake-model"}"#).await;
        let came = world.request(index).await;
        assert_eq!(came.path, path);
        assert_eq!(came.headers["x-api-key"], "sk-of-the-operator");
        assert_eq!(came.authorization(), None);
    }
}

#[tokio::test]
async fn stateful_path_does_not_pass() {
    let world = World::with(shared).await;
    for (method, path) in [
        (Method::POST, "/v1/files"),
        (Method::GET, "/v1/files"),
        (Method::GET, "/v1/files/file_1/content"),
        (Method::DELETE, "/v1/vector_stores/vs_1"),
        (Method::GET, "/v1/chat/completions"),
        (Method::GET, "/v1/chat/completions/chatcmpl_1"),
        (Method::POST, "/v1/chat/completions/chatcmpl_1"),
        (Method::POST, "/v1/batches"),
        (Method::POST, "/v1/messages/batches"),
        (Method::POST, "/v1/assistants"),
        (Method::POST, "/v1/fine_tuning/jobs"),
        (Method::POST, "/v1/containers"),
        (Method::POST, "/v1/realtime/client_secrets"),
        (Method::GET, "/v1/organization/users"),
        (Method::POST, "/v1/something_new"),
    ] {
        let refused = read_answer(asked(&world, method.clone(), path), "").await.refused();
        assert_eq!(refused.status, 403, "{method} {path}");
        // Errors of Anthropic's paths have no code.
        if !path.starts_with("/v1/messages") {
            assert_eq!(refused.body["error"]["code"], "not_passed_through");
        }
        let message = format!(
            "{method} {path} is not forwarded to the upstream: several tenants share its \
             account, and each of them would see the stored data of all. The setting \
             --pass-through all forwards it."
        );
        assert_eq!(refused.body["error"]["message"], message);
    }
    assert_eq!(world.times_asked(), 0);
}

#[tokio::test]
async fn stored_completion_does_not_pass() {
    let world = World::with(shared).await;
    for body in [
        r#"{"model":"fake-model","store":true}"#,
        r#"{"store":true,"model":"fake-model","store":false}"#,
        r#"{"model":"fake-model","\u0073tore":true}"#,
        r#"{"model":"fake-model","store":"true"}"#,
        r#"{"model":"fake-model","store":1}"#,
        r#"{"model":"fake-model","Store":true}"#,
        r#"{"model":"fake-model","ſtore":true}"#,
    ] {
        let asked = asked(&world, Method::POST, "/v1/chat/completions");
        let refused = read_answer(asked, body).await.refused();
        assert_eq!(refused.status, 403, "{body}");
        assert_eq!(refused.body["error"]["param"], "store");
    }
    for body in ["", "{'store': true}", "[]", "\u{feff}{\"store\":true}", "\u{1f}\u{8b}"] {
        for content_type in ["application/json", "text/plain", "multipart/form-data; boundary=x"] {
            let asked = asked(&world, Method::POST, "/v1/chat/completions");
            let asked = asked.header("content-type", content_type);
            assert_eq!(read_answer(asked, body).await.status(), 400, "{body}");
        }
    }
    assert_eq!(world.times_asked(), 0);
    for body in
        [r#"{"model":"fake-model","store":false}"#, r#"{"model":"fake-model","store":null}"#]
    {
        read_answer(asked(&world, Method::POST, "/v1/chat/completions"), body).await;
    }
    assert_eq!(world.times_asked(), 2);
}

#[tokio::test]
async fn everything_passes_with_one_tenant() {
    let one_tenant = |settings: &mut Settings| {
        shared(settings);
        settings.api_keys.pop();
    };
    let everyone = |settings: &mut Settings| {
        shared(settings);
        settings.api_keys.clear();
    };
    let own_tokens = |settings: &mut Settings| settings.upstreams[0].api = UpstreamApi::Chat;
    for change in [&one_tenant as &dyn Fn(&mut Settings), &everyone, &own_tokens] {
        let world = World::with(|settings| change(settings)).await;
        read_answer(asked(&world, Method::GET, "/v1/files"), "").await;
        let body = json!({"model": "fake-model", "store": true}).to_string();
        read_answer(asked(&world, Method::POST, "/v1/chat/completions"), body).await;
        assert_eq!(world.times_asked(), 2);
    }
}

#[tokio::test]
async fn tenants_of_a_proxy_share_the_account() {
    let world = World::with(|settings| {
        settings.upstreams[0].key = Some(Secret::new("sk-of-the-operator"));
        settings.tenant_header = Some(HeaderName::from_static("x-tenant"));
    })
    .await;
    let asked = |method, path| request(&world, method, path).header("x-tenant", "acme");
    assert_eq!(read_answer(asked(Method::GET, "/v1/files"), "").await.status(), 403);
    read_answer(asked(Method::POST, "/v1/embeddings"), "{}").await;
    assert_eq!(world.request(0).await.headers.get("x-tenant"), None);
}

#[tokio::test]
async fn operator_can_change_the_rule() {
    let all = World::with(|settings| {
        shared(settings);
        settings.pass_through = Some(PassThrough::All);
    })
    .await;
    read_answer(asked(&all, Method::GET, "/v1/files"), "").await;
    assert_eq!(all.times_asked(), 1);

    let nothing = World::with(|settings| settings.pass_through = Some(PassThrough::Nothing)).await;
    let refused =
        read_answer(asked(&nothing, Method::POST, "/v1/embeddings"), "{}").await.refused();
    assert_eq!(refused.status, 404);
    let message = "Invalid URL (POST /v1/embeddings): this gateway does not forward such \
                   requests (--pass-through none).";
    assert_eq!(refused.body["error"]["message"], message);

    let stateless =
        World::with(|settings| settings.pass_through = Some(PassThrough::Stateless)).await;
    assert_eq!(read_answer(asked(&stateless, Method::GET, "/v1/files"), "").await.status(), 403);
    assert_eq!((nothing.times_asked(), stateless.times_asked()), (0, 0));
}

#[tokio::test]
async fn nothing_passes_for_an_unknown_caller() {
    let world = World::with(shared).await;
    for asked in [
        request(&world, Method::POST, "/v1/embeddings"),
        request(&world, Method::POST, "/v1/embeddings").header("x-api-key", "wrong"),
    ] {
        assert_eq!(read_answer(asked, "{}").await.status(), 401);
    }
    assert_eq!(world.times_asked(), 0);
}

#[tokio::test]
async fn key_in_anthropics_header_is_accepted() {
    let world = World::with(shared).await;
    let asked = request(&world, Method::POST, "/v1/embeddings").header("x-api-key", "key-of-acme");
    read_answer(asked, r#"{"model":"fake-model"}"#).await;
    let came = world.request(0).await;
    assert_eq!(came.headers.get("x-api-key"), None);
    assert_eq!(came.authorization(), Some("Bearer sk-of-the-operator"));
}
