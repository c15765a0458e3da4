//! Faults that only Anthropic has. Without the gateway the strict upstream rejects each request.

use antiphon::dialect::UpstreamApi;
use antiphon_gateway::settings::{Faults, PassThrough};
use serde_json::{Value, json};

use super::{assistant, call, client_of, create, request, result, text, user};
use crate::client_apis::{UPSTREAMS, world_of, world_with};
use crate::support::{Client, MODES, World};

/// A request with a fault, the name of the fault in the header, and the provider's message.
#[derive(Clone)]
struct Case {
    messages: Value,
    repair: &'static str,
    message: &'static str,
    /// The input of the model.
    view: Vec<&'static str>,
}

const ECHO: &str = r#"call echo {"text":"hello"}"#;

fn case(
    messages: Value,
    repair: &'static str,
    message: &'static str,
    view: &[&'static str],
) -> Case {
    Case { messages, repair, message, view: view.to_vec() }
}

fn cases() -> Vec<Case> {
    [of_results(), of_other_blocks()].concat()
}

/// Faults of texts and of the places of results.
fn of_results() -> Vec<Case> {
    let called = || assistant(json!([call("t1", "hello")]));
    vec![
        case(
            json!([user(json!([text("Hello"), text("")]))]),
            "empty_text=1",
            "text content blocks must be non-empty",
            &["user: Hello"],
        ),
        case(
            json!([user("Echo hello"), called(), user("Wait"), user(json!([result("t1", "x")]))]),
            "misplaced_output=1",
            "`tool_use` ids were found without `tool_result` blocks immediately after",
            &["user: Echo hello", ECHO, "output: x", "user: Wait"],
        ),
        case(
            json!([user("Echo hello"), called(), user(json!([text("Wait"), result("t1", "x")]))]),
            "misplaced_output=1",
            "`tool_use` ids were found without `tool_result` blocks immediately after",
            &["user: Echo hello", ECHO, "output: x", "user: Wait"],
        ),
    ]
}

/// Faults of messages and of ids.
fn of_other_blocks() -> Vec<Case> {
    let called = || assistant(json!([call("t1", "hello")]));
    vec![
        case(
            json!([assistant("Welcome."), user("Hello")]),
            "adapted_field=1",
            "first message must use the \"user\" role",
            &["user: (The assistant speaks first.)", "assistant: Welcome.", "user: Hello"],
        ),
        case(
            json!([
                user("Echo hello"),
                called(),
                user(json!([result("t1", "x")])),
                assistant(json!([call("t1", "bye")])),
                user(json!([result("t1", "y")]))
            ]),
            "duplicate_call=1",
            "`tool_use` ids must be unique",
            &["user: Echo hello", ECHO, "output: x", r#"call echo {"text":"bye"}"#, "output: y"],
        ),
        case(
            json!([
                user("Echo hello"),
                assistant(json!([call("t1", "hello"), call("t1", "hello")])),
                user(json!([result("t1", "x")]))
            ]),
            "duplicate_call=1",
            "`tool_use` ids must be unique",
            &["user: Echo hello", ECHO, "output: x"],
        ),
        case(
            json!([
                user("Echo hello"),
                called(),
                user(json!([result("t1", "x"), result("t1", "x")]))
            ]),
            "duplicate_item=1",
            "each tool_use must have a single result",
            &["user: Echo hello", ECHO, "output: x"],
        ),
        case(
            json!([
                user("Echo hello"),
                called(),
                user(json!([result("t1", "x"), result("t1", "y")]))
            ]),
            "duplicate_output=1",
            "each tool_use must have a single result",
            &["user: Echo hello", ECHO, "output: y"],
        ),
        case(
            json!([
                user("Echo hello"),
                assistant(json!([call("functions.echo:0", "hello")])),
                user(json!([result("functions.echo:0", "x")]))
            ]),
            "malformed_call_id=1",
            "String should match pattern",
            &["user: Echo hello", ECHO, "output: x"],
        ),
        case(
            json!([user("Hello"), assistant("Well, ")]),
            "trailing_whitespace=1",
            "final assistant content cannot end with trailing whitespace",
            &["user: Hello", "assistant: Well,"],
        ),
        case(
            json!([user("Echo hello"), called(), user("Go on")]),
            "unanswered_call=1",
            "`tool_use` ids were found without `tool_result` blocks immediately after",
            &["user: Echo hello", ECHO, "output: ", "user: Go on"],
        ),
        case(
            json!([
                user("Hello"),
                assistant("Hi"),
                user(json!([result("t9", "x"), text("Go on")]))
            ]),
            "output_without_call=1",
            "unexpected `tool_use_id` found in `tool_result` blocks",
            &["user: Hello", "assistant: Hi", "user: Go on"],
        ),
    ]
}

/// The error of the strict upstream itself.
async fn rejection(world: &World, request: &Value) -> String {
    let direct = Client::at(world.upstream.base_url().trim_end_matches("/v1"));
    let direct =
        direct.with_header("x-api-key", "k").with_header("anthropic-version", "2023-06-01");
    let refused = direct.post("/v1/messages", request).await.refused();
    assert_eq!(refused.status, 400, "{request}");
    refused.body["error"]["message"].as_str().expect("an error has a message").to_owned()
}

#[tokio::test]
async fn fault_is_repaired_and_reported() {
    for mode in MODES {
        for case in cases() {
            let world = world_of(UpstreamApi::Anthropic).await;
            let request = request(&case.messages);
            let message = rejection(&world, &request).await;
            assert!(message.contains(case.message), "{message}");

            let answer = create(&client_of(&world), mode, &request).await;

            assert_eq!(answer.header("antiphon-repairs"), Some(case.repair), "{request}");
            let view = world.view(1).await;
            let shown = view.iter().map(|line| {
                // The text of the placeholder is not of interest here.
                let is_placeholder = case.repair.starts_with("unanswered") && line.len() > 20;
                if is_placeholder && line.starts_with("output: ") { "output: " } else { line }
            });
            assert_eq!(shown.collect::<Vec<_>>(), case.view, "{request}");
        }
    }
}

#[tokio::test]
async fn request_without_faults_passes_unchanged() {
    let world = world_of(UpstreamApi::Anthropic).await;
    let called = assistant(json!([call("t1", "hello")]));
    let answered = user(json!([result("t1", "x"), text("Go on")]));
    let mut request = request(&json!([user("Echo hello"), called, answered]));
    request["system"] =
        json!([{"type": "text", "text": "S", "cache_control": {"type": "ephemeral"}}]);
    let body = serde_json::to_string_pretty(&request).unwrap();
    let answer = client_of(&world).post_raw("/v1/messages", body.clone()).await;
    assert_eq!(answer.status(), 200);
    assert_eq!(world.request(0).await.raw, body);
}

#[tokio::test]
async fn upstream_rejects_faults_without_repairs() {
    let world = world_with(UpstreamApi::Anthropic, |settings| {
        settings.faults = Faults::Reject;
    })
    .await;
    for case in cases() {
        let request = request(&case.messages);
        let message = rejection(&world, &request).await;
        let refused = client_of(&world).post("/v1/messages", &request).await.refused();
        assert_eq!((refused.status, &refused.body["error"]["message"]), (400, &json!(message)));
    }
}

/// The items show these faults, so the gateway rejects them if it does not repair. It uses the
/// words of Anthropic for every upstream, and in a stored conversation.
#[tokio::test]
async fn gateway_rejects_faults_in_anthropics_words() {
    let shown =
        ["duplicate_call=1", "duplicate_output=1", "unanswered_call=1", "output_without_call=1"];
    for (api, name) in UPSTREAMS {
        let world = world_with(api, |settings| {
            settings.faults = Faults::Reject;
            settings.pass_through = Some(PassThrough::Nothing);
        })
        .await;
        let anthropic = world_of(UpstreamApi::Anthropic).await;
        for case in cases().into_iter().filter(|case| shown.contains(&case.repair)) {
            let request = request(&case.messages);
            let client = client_of(&world);
            let message = rejection(&anthropic, &request).await;
            for path in ["/v1/messages", "/v1/messages/count_tokens"] {
                let refused = client.post(path, &request).await.refused();
                assert_eq!(refused.status, 400);
                let error = json!({"type": "invalid_request_error", "message": message});
                assert_eq!(refused.body["error"], error, "{name:?}");
            }
            let conversation = client.new_conversation().await;
            let named = client.with_header("antiphon-conversation", &conversation);
            let answer = named.post("/v1/messages", &request).await;
            assert!(answer.header("link").is_some_and(|link| link.starts_with("</faults/")));
            assert_eq!(answer.refused().body["error"]["message"], message, "{name:?}");
        }
        assert_eq!(world.times_asked(), 0);
    }
}

/// A call is stored, so no message of the request has it.
#[tokio::test]
async fn fault_of_a_stored_call_names_its_id() {
    let world = world_with(UpstreamApi::Anthropic, |settings| {
        settings.faults = Faults::Reject;
    })
    .await;
    let client = client_of(&world);
    let conversation = client.new_conversation().await;
    let named = client.with_header("antiphon-conversation", &conversation);
    let called = create(&named, MODES[0], &request(&json!([user("Echo hello")]))).await;
    let [id] = called.calls()[..] else { panic!("one call") };

    let refused = named.post("/v1/messages", &request(&json!([user("Go on")]))).await.refused();

    let message = format!(
        "messages: `tool_use` ids were found without `tool_result` blocks immediately after: {id}. \
         Each `tool_use` block must have a corresponding `tool_result` block in the next message."
    );
    assert_eq!((refused.status, &refused.body["error"]["message"]), (400, &json!(message)));
}

/// The operator may let no request pass.
#[tokio::test]
async fn nothing_passes_if_the_operator_forbids_it() {
    let world = world_with(UpstreamApi::Anthropic, |settings| {
        settings.pass_through = Some(PassThrough::Nothing);
    })
    .await;
    let request = request(&json!([user("Hello")]));
    create(&client_of(&world), MODES[0], &request).await;
    let sent = world.request(0).await;
    assert_eq!((sent.verdict, &sent.body["stream"]), (Ok(()), &json!(true)));
}

#[tokio::test]
async fn missing_tools_are_defined() {
    let world = world_of(UpstreamApi::Anthropic).await;
    let called = assistant(json!([call("t1", "hello")]));
    let mut request = request(&json!([user("Hello"), called, user(json!([result("t1", "x")]))]));
    request.as_object_mut().unwrap().remove("tools");
    assert!(rejection(&world, &request).await.contains("must define tools"));
    let answer = create(&client_of(&world), MODES[0], &request).await;
    assert_eq!(answer.header("antiphon-repairs"), Some("undefined_tools=1"));
    assert_eq!(world.view(1).await.len(), 3);
}

/// Thinking without its signature, thinking at the end of a message, and the seal of another
/// upstream.
#[tokio::test]
async fn thinking_out_of_place_is_left_out() {
    let sealed = r#"{"antiphon":"chat","origin":"h m","content":{"reasoning_content":"Hm."}}"#;
    let thinking =
        |signature: &str| json!({"type": "thinking", "thinking": "Hm.", "signature": signature});
    for blocks in [
        json!([thinking(sealed), text("Hi")]),
        json!([thinking(""), text("Hi")]),
        json!([text("Hi"), thinking("EqQB")]),
    ] {
        let world = world_of(UpstreamApi::Anthropic).await;
        let request = request(&json!([user("Hello"), assistant(blocks), user("And?")]));
        rejection(&world, &request).await;
        let answer = create(&client_of(&world), MODES[0], &request).await;
        assert_ne!(answer.header("antiphon-repairs"), None);
        assert_eq!(world.view(1).await, ["user: Hello", "assistant: Hi", "user: And?"]);
    }
}

/// A budget needs the thinking of the turn, which the client has lost.
#[tokio::test]
async fn budget_is_left_out_without_thinking_first() {
    let world = world_of(UpstreamApi::Anthropic).await;
    let called = assistant(json!([text("One moment."), call("t1", "hello")]));
    let mut request = request(&json!([user("Hello"), called, user(json!([result("t1", "x")]))]));
    request["thinking"] = json!({"type": "enabled", "budget_tokens": 1_024});
    let message = rejection(&world, &request).await;
    assert!(message.contains("must start with a thinking block"), "{message}");
    let answer = create(&client_of(&world), MODES[0], &request).await;
    assert_eq!(answer.header("antiphon-repairs"), Some("adapted_field=1"));
    assert_eq!(world.view(1).await.len(), 4);
}
