//! Faulty histories. The strict server of Chat Completions rejects each of them; with the gateway
//! in front of it, and of upstreams with another API, they are repaired.

use antiphon::dialect::UpstreamApi;
use antiphon_gateway::settings::{Faults, PassThrough};
use serde_json::{Value, json};

use super::{PATH, calls, complete, output, request, user};
use crate::client_apis::{ClientApi, UPSTREAMS, world_of, world_with};
use crate::support::{Client, MODES, World};

/// A history with a fault, the name of the fault in the header, and the input of the model.
struct Case {
    messages: Value,
    repair: &'static str,
    view: Vec<&'static str>,
    /// Whether only a server of Chat Completions rejects it.
    is_own: bool,
}

const ECHO: &str = r#"call echo {"text":"hello"}"#;

fn case(messages: Value, repair: &'static str, view: &[&'static str]) -> Case {
    Case { messages, repair, view: view.to_vec(), is_own: false }
}

fn own_case(messages: Value, repair: &'static str, view: &[&'static str]) -> Case {
    Case { is_own: true, ..case(messages, repair, view) }
}

fn cases() -> Vec<Case> {
    let called = || calls(&[("c1", "hello")]);
    let ask = || user("Echo hello");
    vec![
        case(
            json!([ask(), called(), user("Go on")]),
            "unanswered_call=1",
            &["user: Echo hello", ECHO, "output: ", "user: Go on"],
        ),
        case(
            json!([ask(), called(), output("c1", "x"), output("c1", "x")]),
            "duplicate_item=1",
            &["user: Echo hello", ECHO, "output: x"],
        ),
        case(
            json!([ask(), called(), output("c1", "x"), output("c1", "y")]),
            "duplicate_output=1",
            &["user: Echo hello", ECHO, "output: y"],
        ),
        case(
            json!([user("Hello"), {"role": "assistant", "content": "Hi"}, output("c9", "x"),
                user("Go on")]),
            "output_without_call=1",
            &["user: Hello", "assistant: Hi", "user: Go on"],
        ),
        case(
            json!([ask(), calls(&[("c1", "hello"), ("c1", "hello")]), output("c1", "x")]),
            "duplicate_call=1",
            &["user: Echo hello", ECHO, "output: x"],
        ),
        own_case(
            json!([ask(), called(), user("Wait"), output("c1", "x")]),
            "misplaced_output=1",
            &["user: Echo hello", ECHO, "output: x", "user: Wait"],
        ),
        own_case(
            json!([user("Hello"), {"role": "assistant", "content": null}, user("Go on")]),
            "empty_message=1",
            &["user: Hello", "user: Go on"],
        ),
        own_case(
            json!([user("Hello"), {"role": "assistant", "content": "Hi", "tool_calls": []},
                user("Go on")]),
            "empty_tool_calls=1",
            &["user: Hello", "assistant: Hi", "user: Go on"],
        ),
    ]
}

/// A request to a model that does not reason.
fn plain(messages: &Value) -> Value {
    let mut request = request(messages);
    request["model"] = crate::support::PLAIN.into();
    request
}

/// The strict server rejects the request.
async fn assert_rejected(world: &World, request: &Value) {
    let direct = Client::at(world.upstream.base_url().trim_end_matches("/v1"));
    let refused = direct.post(PATH, request).await.refused();
    assert_eq!(refused.status, 400, "{request}");
}

/// The lines without the text of placeholder outputs.
fn shown(view: &[String]) -> Vec<&str> {
    view.iter()
        .map(|line| if line.starts_with("output: ") && line.len() > 20 { "output: " } else { line })
        .collect()
}

#[tokio::test]
async fn fault_is_repaired_and_reported() {
    for mode in MODES {
        for case in cases() {
            let world = world_of(UpstreamApi::Chat).await;
            let request = plain(&case.messages);
            assert_rejected(&world, &request).await;

            let completion = complete(&world.client(), mode, &request).await;

            assert_eq!(completion.header("antiphon-repairs"), Some(case.repair), "{request}");
            assert_eq!(shown(&world.view(1).await), case.view, "{request}");
        }
    }
}

#[tokio::test]
async fn other_upstreams_get_each_item_once() {
    for (api, name) in ClientApi::Chat.other_upstreams() {
        for case in cases().into_iter().filter(|case| !case.is_own) {
            let world = world_of(api).await;
            let completion = complete(&world.client(), MODES[1], &plain(&case.messages)).await;
            let repairs = completion.header("antiphon-repairs");
            assert_eq!(repairs, Some(case.repair), "{name:?} {}", case.messages);
            assert_eq!(shown(&world.last_view().await), case.view, "{name:?}");
        }
    }
}

/// The error of the strict server, with empty strings instead of null.
async fn rejection(world: &World, request: &Value) -> Value {
    let direct = Client::at(world.upstream.base_url().trim_end_matches("/v1"));
    let mut error = direct.post(PATH, request).await.refused().body["error"].clone();
    for field in error.as_object_mut().expect("an error is an object").values_mut() {
        if field.is_null() {
            *field = "".into();
        }
    }
    error
}

/// The gateway uses the words of Chat Completions for every upstream, and in a stored conversation.
#[tokio::test]
async fn gateway_rejects_faults_in_openais_words() {
    for (api, name) in UPSTREAMS {
        let world = world_with(api, |settings| {
            settings.faults = Faults::Reject;
            settings.pass_through = Some(PassThrough::Nothing);
        })
        .await;
        let chat = world_of(UpstreamApi::Chat).await;
        // A copy of an item is always left out.
        let is_rejected = |case: &Case| !case.is_own && case.repair != "duplicate_item=1";
        for case in cases().into_iter().filter(is_rejected) {
            let request = plain(&case.messages);
            let error = rejection(&chat, &request).await;
            let client = world.client();
            let answer = client.post(PATH, &request).await;
            assert!(answer.header("link").is_some_and(|link| link.starts_with("</faults/")));
            assert_eq!(answer.refused().body["error"], error, "{name:?} {request}");

            let conversation = client.new_conversation().await;
            let named = client.with_header("antiphon-conversation", &conversation);
            let refused = named.post(PATH, &request).await.refused();
            assert_eq!(refused.body["error"], error, "{name:?} {request}");
        }
        assert_eq!(world.times_asked(), 0);
    }
}

#[tokio::test]
async fn empty_answer_is_sent_with_an_empty_text() {
    let world = world_of(UpstreamApi::Chat).await;
    let empty = json!({"role": "assistant", "content": []});
    let request = plain(&json!([user("Hello"), empty, user("Go on")]));
    complete(&world.client(), MODES[0], &request).await;
    let sent = json!({"role": "assistant", "content": ""});
    assert_eq!(world.last_request().messages()[1], sent);
}

/// Ids longer than OpenAI's limit come from other servers.
#[tokio::test]
async fn long_call_id_is_renamed() {
    let id = "x".repeat(50);
    let world = world_of(UpstreamApi::Chat).await;
    let request = plain(&json!([user("Echo hello"), calls(&[(&id, "hello")]), output(&id, "x")]));
    assert_rejected(&world, &request).await;
    let completion = complete(&world.client(), MODES[0], &request).await;
    assert_eq!(completion.header("antiphon-repairs"), Some("long_call_id=1"));
    assert_eq!(world.view(1).await, ["user: Echo hello", ECHO, "output: x"]);
}
