//! An upstream that finds its input too long.

use antiphon::dialect::UpstreamApi;
use antiphon_mock::{Answer, Frame, Reply};
use http::StatusCode;
use serde_json::{Value, json};

use super::{three_turns, too_long, users, world_of};
use crate::support::{Ask, MODEL, MODES, Mode, World, ask};

const MESSAGES: [&str; 4] = [
    "My color is purple",
    "My dog is Biscuit",
    "My city is Bonn",
    "What is my color and dog name?",
];

fn openai() -> Reply {
    error(
        400,
        &json!({
            "message": "Your input exceeds the context window of this model. Please adjust your \
                        input and try again.",
            "type": "invalid_request_error", "param": "input", "code": "context_length_exceeded",
        }),
    )
}

/// What vLLM says, of which there are numbers.
fn vllm(window: u64, needed: u64) -> Reply {
    let message = format!(
        "This model's maximum context length is {window} tokens. However, you requested {needed} \
         tokens ({needed} in the messages, 0 in the completion). Please reduce the length."
    );
    error(400, &json!({"message": message, "type": "BadRequestError", "param": null, "code": 400}))
}

fn anthropic(needed: u64, window: u64) -> Reply {
    let message = format!("prompt is too long: {needed} tokens > {window} maximum");
    let error = json!({"type": "invalid_request_error", "message": message});
    Reply::json(StatusCode::BAD_REQUEST, &json!({"type": "error", "error": error}))
}

fn llama(needed: u64, window: u64) -> Reply {
    error(
        400,
        &json!({
            "code": 400, "type": "exceed_context_size_error", "n_prompt_tokens": needed,
            "n_ctx": window,
            "message": "the request exceeds the available context size, try increasing it",
        }),
    )
}

fn error(status: u16, error: &Value) -> Reply {
    Reply::json(StatusCode::from_u16(status).expect("it is a status"), &json!({"error": error}))
}

/// OpenAI begins a stream, and tells of it there.
fn error_in_stream() -> Reply {
    let begun = Answer::new(MODEL).frames();
    let mut frames = begun[..2].to_vec();
    frames.push(Frame::event(&json!({
        "type": "error", "sequence_number": 2,
        "code": "context_length_exceeded", "param": "input",
        "message": "Your input exceeds the context window of this model.",
    })));
    Reply::sse(frames)
}

fn last(conversation: &str) -> Ask {
    ask("What is my color and dog name?").within(conversation)
}

fn truncating(conversation: &str) -> Ask {
    last(conversation).field("truncation", "auto")
}

#[tokio::test]
async fn counts_in_the_error_determine_the_truncation() {
    for (api, reply) in [
        (UpstreamApi::Responses, vllm(300, 400)),
        (UpstreamApi::Chat, vllm(300, 400)),
        (UpstreamApi::Chat, llama(400, 300)),
        (UpstreamApi::Anthropic, anthropic(400, 300)),
    ] {
        for mode in MODES {
            let world = world_of(api).await;
            let client = world.client();
            let conversation = three_turns(&client).await;
            let asked = world.times_asked();
            world.script(reply.clone());

            let turn = client.turn(mode, &truncating(&conversation)).await;

            assert_eq!(turn.status(), "completed");
            assert_eq!(world.times_asked(), asked + 2);
            assert_eq!(users(&world.last_view().await), MESSAGES[1..], "{api:?}");
            let report = client.report(turn.id()).await;
            assert!(!report["truncated"].as_array().unwrap().is_empty());
            assert_eq!(client.items(&conversation).await.len(), 8);
        }
    }
}

#[tokio::test]
async fn truncation_grows_with_each_attempt_without_counts() {
    let world = World::new().await;
    let client = world.client();
    let conversation = three_turns(&client).await;
    let asked = world.times_asked();
    for _ in 0..2 {
        world.script(openai());
    }
    let turn = client.respond(&truncating(&conversation)).await;
    assert_eq!(turn.status(), "completed");
    let mut left = Vec::new();
    for index in asked..world.times_asked() {
        left.push(users(&world.view(index).await).len());
    }
    assert_eq!(left, [4, 3, 1]);
    let report = client.report(turn.id()).await;
    let named = report["truncated"].as_array().unwrap();
    assert_eq!(turn.header("antiphon-truncated"), Some(named.len().to_string().as_str()));
    assert_eq!(users(&world.last_view().await), MESSAGES[3..]);
}

#[tokio::test]
async fn truncation_attempts_are_limited() {
    let world = World::new().await;
    let client = world.client();
    let conversation = three_turns(&client).await;
    let asked = world.times_asked();
    for _ in 0..9 {
        world.script(openai());
    }
    let message = too_long(&client.refused(Mode::Whole, &truncating(&conversation)).await);
    assert!(message.contains("even without the oldest turns"), "{message}");
    assert!(world.times_asked() - asked <= 5, "{}", world.times_asked() - asked);
}

#[tokio::test]
async fn overflow_error_names_the_remedies() {
    for (api, reply, counts) in [
        (UpstreamApi::Responses, openai(), "tokens are needed."),
        (
            UpstreamApi::Responses,
            vllm(300, 400),
            "400 tokens are needed, and there is room for 300.",
        ),
        (UpstreamApi::Chat, llama(400, 300), "400 tokens are needed, and there is room for 300."),
        (
            UpstreamApi::Anthropic,
            anthropic(400, 300),
            "400 tokens are needed, and there is room for",
        ),
    ] {
        for mode in MODES {
            let world = world_of(api).await;
            let client = world.client();
            let conversation = three_turns(&client).await;
            let asked = world.times_asked();
            world.script(reply.clone());
            let message = too_long(&client.refused(mode, &last(&conversation)).await);
            assert!(message.contains(counts), "{message}");
            assert!(message.contains("'truncation' to 'auto'"), "{message}");
            assert!(message.contains("/v1/responses/compact"), "{message}");
            assert_eq!(world.times_asked(), asked + 1);
        }
    }
}

#[tokio::test]
async fn overflow_in_a_stream_is_retried() {
    for mode in MODES {
        let world = World::new().await;
        let client = world.client();
        let conversation = three_turns(&client).await;
        world.script(error_in_stream());
        let turn = client.turn(mode, &truncating(&conversation)).await;
        assert_eq!(turn.status(), "completed");
        assert_eq!(users(&world.last_view().await), MESSAGES[1..]);
    }
}

#[tokio::test]
async fn overflow_in_a_stream_names_the_remedies() {
    let world = World::new().await;
    let client = world.client();
    let conversation = three_turns(&client).await;
    world.script(error_in_stream());
    let turn = client.turn(Mode::Streamed, &last(&conversation)).await;
    assert_eq!(turn.status(), "failed");
    assert_eq!(turn.response["error"]["code"], "context_length_exceeded");
    let message = turn.response["error"]["message"].as_str().unwrap();
    assert!(message.contains("'truncation' to 'auto'"), "{message}");

    world.script(error_in_stream());
    let message = too_long(&client.refused(Mode::Whole, &last(&conversation)).await);
    assert!(message.contains("/v1/responses/compact"), "{message}");
    let went_on = client.respond(&truncating(&conversation)).await;
    assert_eq!(went_on.status(), "completed");
}

#[tokio::test]
async fn huge_output_limit_is_too_long() {
    let world = World::new().await;
    world.script(openai());
    let boundless = ask("Hello").field("max_output_tokens", u64::MAX);

    let refused = world.client().create(Mode::Whole, &boundless).await.refused();

    assert_eq!(refused.body["error"]["code"], "context_length_exceeded", "{:?}", refused.body);
}
