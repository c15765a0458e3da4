//! A history is compacted by itself.

use antiphon_mock::{Answer, Reply};
use serde_json::json;

use super::shape::assert_compaction_shape;
use super::{
    PATH, SUMMARY, compacted, output_of, script_missing_route, script_rejection, script_summary,
    summary_message,
};
use crate::support::{World, ask, invalid, lines, text, typed_user, user};

/// The prompt, as the model is given it.
const PROMPT: &str = include_str!("../../../src/compaction/prompt.md");

#[tokio::test]
async fn compaction_replaces_all_but_user_messages() {
    let world = World::new().await;
    let client = world.client();
    let first = client.respond(&ask("My color is purple")).await;
    let second = client.respond(&ask("My dog is Biscuit").after(first.id())).await;
    script_missing_route(&world);
    script_summary(&world);

    let compacted = compacted(&client, &ask("And now?").after(second.id())).await;

    assert_compaction_shape(&compacted);
    assert_eq!(compacted["object"], "response.compaction");
    let output = output_of(&compacted);
    let reply = ["user: My color is purple", "user: My dog is Biscuit", "user: And now?"];
    assert_eq!(lines(&output), [reply[0], reply[1], reply[2], "compaction"]);
    assert!(!compacted.to_string().contains("Bonn"), "it is opaque");
    let total = compacted["usage"]["total_tokens"].as_u64();
    assert!(total.is_some_and(|total| total > 0), "{compacted}");
    let prompt = format!("user: {}", PROMPT.trim_end());
    let given = [reply[0], "assistant: Noted.", reply[1], "assistant: Noted.", reply[2], &prompt];
    assert_eq!(world.view(3).await, given);
}

#[tokio::test]
async fn repairs_and_truncation_are_in_the_headers() {
    let world = World::with(|settings| {
        settings.upstreams[0].context_window = Some(1200);
    })
    .await;
    let client = world.client();
    script_missing_route(&world);
    script_summary(&world);
    let input = json!([
        user("My color is purple"),
        {"role": "assistant", "content": "A secret. ".repeat(1000)},
        user("Echo it"),
        {"type": "function_call", "call_id": "call_1", "name": "echo", "arguments": "{}"},
        user("And now?"),
    ]);

    let answer = client.post(PATH, ask(input).body()).await;

    assert_eq!(answer.status(), 200, "{:?}", answer.body());
    assert_eq!(answer.header("antiphon-repairs"), Some("unanswered_call=1"));
    assert_eq!(answer.header("antiphon-truncated"), Some("2"));
}

#[tokio::test]
async fn compacted_output_is_accepted_as_input() {
    let world = World::new().await;
    let client = world.client();
    script_missing_route(&world);
    script_summary(&world);
    let history = json!([
        typed_user("My color is purple"),
        {"role": "assistant", "content": "A secret."},
    ]);
    let mut input = output_of(&compacted(&client, &ask(history)).await);
    input.push(user("What is my color?"));

    let turn = client.respond(&ask(input)).await;

    assert_eq!(turn.text(), "purple");
    let view = world.last_view().await;
    assert_eq!(
        view,
        ["user: My color is purple", &summary_message(SUMMARY), "user: What is my color?"]
    );
    assert_eq!(turn.header("antiphon-repairs"), None);
}

#[tokio::test]
async fn chain_continues_after_a_compaction() {
    let world = World::new().await;
    let client = world.client();
    script_missing_route(&world);
    script_summary(&world);
    let mut input = output_of(&compacted(&client, &ask("My color is purple")).await);
    input.push(user("My dog is Biscuit"));
    let first = client.respond(&ask(input)).await;

    let second = client.respond(&ask("What is my color and my dog?").after(first.id())).await;

    assert_eq!(second.text(), "purple, Biscuit");
    assert_eq!(world.last_view().await.len(), 5);
}

#[tokio::test]
async fn compaction_is_compacted_with_later_items() {
    let world = World::new().await;
    let client = world.client();
    script_missing_route(&world);
    script_summary(&world);
    let once = output_of(&compacted(&client, &ask("My color is purple")).await);
    script_summary(&world);
    let mut input = once.clone();
    input.push(json!({"role": "assistant", "content": "A secret."}));

    let twice = output_of(&compacted(&client, &ask(input)).await);

    assert_eq!(lines(&twice), lines(&once));
    let given = world.last_view().await;
    let rest = &given[..3];
    assert_eq!(
        rest,
        ["user: My color is purple", &summary_message(SUMMARY), "assistant: A secret."]
    );
}

#[tokio::test]
async fn summary_request_keeps_context_and_drops_formats() {
    let world = World::new().await;
    script_missing_route(&world);
    script_summary(&world);
    let asked = ask("Hello")
        .field("instructions", "Be brief.")
        .field("prompt_cache_key", "key")
        .field("max_output_tokens", 16)
        .field("text", json!({"format": {"type": "json_object"}}));

    compacted(&world.client(), &asked).await;

    let request = world.last_request().body;
    assert_eq!(
        (&request["instructions"], &request["tool_choice"]),
        (&json!("Be brief."), &json!("none"))
    );
    assert_eq!(request["prompt_cache_key"], "key");
    assert!(request.get("max_output_tokens").is_none() && request.get("text").is_none());
}

#[tokio::test]
async fn compact_without_model_or_input_is_rejected() {
    let world = World::new().await;
    let client = world.client();
    let missing = Some("missing_required_parameter");
    let refused = client.post(PATH, &json!({"input": "Hello"})).await.refused();
    assert_eq!(refused, invalid(Some("model"), missing, "Missing required parameter: 'model'."));
    let nothing = "One of \"input\" or \"previous_response_id\" or 'prompt' or 'conversation' must \
                   be provided.";
    let refused = client.post(PATH, &json!({"model": "fake-model"})).await.refused();
    assert_eq!(refused, invalid(None, missing, nothing));
    let unknown = ask("Hello").after("resp_nobodys");
    let refused = client.post(PATH, unknown.body()).await.refused();
    assert_eq!(text(&refused.body["error"]["code"]), "previous_response_not_found");
    assert_eq!(world.times_asked(), 0);
}

#[tokio::test]
async fn incomplete_summary_is_an_error() {
    let world = World::new().await;
    let client = world.client();
    script_missing_route(&world);
    let model = "fake-model";
    world.script(Reply::sse(Answer::new(model).message("The user").incomplete().frames()));
    script_rejection(&world);
    world.script(Reply::sse(Answer::new(model).failed("server_error", "It broke.").frames()));

    let message = client.post(PATH, ask("Hello").body()).await.server_error();
    assert_eq!(
        message,
        "The model did not complete its summary of the conversation. Nothing was changed."
    );
    assert_eq!(client.post(PATH, ask("Hello").body()).await.status(), 400);
    assert_eq!(client.post(PATH, ask("Hello").body()).await.server_error(), "It broke.");
}
