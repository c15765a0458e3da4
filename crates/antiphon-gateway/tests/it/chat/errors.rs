//! Invalid requests, in OpenAI's form.

use antiphon::dialect::UpstreamApi;
use serde_json::{Value, json};

use super::{PATH, request, user};
use crate::client_apis::{ClientApi, world_of};

#[tokio::test]
async fn invalid_request_is_rejected_in_openais_words() {
    for (api, name) in ClientApi::Chat.other_upstreams() {
        let world = world_of(api).await;
        let mut several = request(&json!([user("Hello")]));
        several["n"] = json!(2);
        let mut nameless = request(&json!([user("Hello")]));
        nameless.as_object_mut().unwrap().remove("model");
        let mut silent = request(&json!([user("Hello")]));
        silent.as_object_mut().unwrap().remove("messages");
        for (body, param, code, message) in [
            (
                nameless,
                "model",
                "missing_required_parameter",
                "Missing required parameter: 'model'.",
            ),
            (
                silent,
                "messages",
                "missing_required_parameter",
                "Missing required parameter: 'messages'.",
            ),
            (
                request(&json!([])),
                "messages",
                "empty_array",
                "Invalid 'messages': empty array. Expected an array with minimum length 1, but got \
                 an empty array instead.",
            ),
            (
                several,
                "n",
                "invalid_value",
                "Invalid 'n': integer above maximum value. Expected a value <= 1, but got 2 \
                 instead.",
            ),
            (
                request(&json!([user(5)])),
                "messages[0].content",
                "invalid_type",
                "Invalid type for 'messages[0].content': expected one of a string or array of \
                 objects, but got an integer instead.",
            ),
        ] {
            let refused = world.client().post(PATH, &body).await.refused();
            assert_eq!(refused.status, 400, "{name:?}");
            let error = &refused.body["error"];
            assert_eq!(error["type"], "invalid_request_error");
            assert_eq!((&error["param"], &error["message"]), (&json!(param), &json!(message)));
            assert_eq!(error["code"], code);
        }
        assert_eq!(world.times_asked(), 0);
    }
}

/// An upstream of the same API decides about a request that the gateway cannot read.
#[tokio::test]
async fn invalid_request_reaches_an_upstream_of_the_same_api() {
    let world = world_of(UpstreamApi::Chat).await;
    let body: Value = request(&json!([{"role": "human", "content": "Hello"}]));
    let refused = world.client().post(PATH, &body).await.refused();
    assert_eq!(refused.status, 400);
    assert_eq!(world.times_asked(), 1);
}

#[tokio::test]
async fn omissions_are_reported() {
    let world = world_of(UpstreamApi::Responses).await;
    let mut body = request(&json!([user("Hello")]));
    body["seed"] = json!(1);
    let answer = world.client().post(PATH, &body).await;
    assert_eq!(answer.header("antiphon-repairs"), Some("adapted_field=1"));
    assert_eq!(world.last_request().body.get("seed"), None);
}
