//! Fields that say who asks, what to remember of it, and how soon it is wanted.

use serde_json::{Value, json};

use super::{ANTHROPIC, APIS, CHAT, RESPONSES};
use crate::support::{Ask, MODES, ask, invalid, list};

const HINTS: [(&str, &str); 5] = [
    ("user", "alice"),
    ("safety_identifier", "hash-of-alice"),
    ("prompt_cache_key", "key"),
    ("prompt_cache_retention", "24h"),
    ("service_tier", "flex"),
];

fn hinting() -> Ask {
    HINTS.into_iter().fold(ask("Hello"), |ask, (field, value)| ask.field(field, value))
}

#[tokio::test]
async fn hints_reach_upstreams_that_support_them() {
    for dialect in [RESPONSES, CHAT] {
        for mode in MODES {
            let world = dialect.world().await;
            world.client().turn(mode, &hinting()).await;
            let body = world.last_request().body;
            for (field, value) in HINTS {
                assert_eq!(body[field], value, "{dialect:?}");
            }
        }
    }
}

#[tokio::test]
async fn response_echoes_the_hints() {
    for dialect in APIS {
        for mode in MODES {
            let world = dialect.world().await;
            let response = world.client().turn(mode, &hinting()).await.response;
            // The tier is the upstream's to tell: it says which one it was.
            for (field, value) in HINTS.into_iter().filter(|(field, _)| *field != "service_tier") {
                assert_eq!(response[field], value, "{dialect:?}");
            }
            assert!(response["service_tier"].is_string());
        }
    }
}

#[tokio::test]
async fn unsupported_hints_are_reported() {
    let world = ANTHROPIC.world().await;
    let client = world.client();
    let turn = client.respond(&hinting()).await;
    assert_eq!(world.last_request().body["metadata"], json!({"user_id": "hash-of-alice"}));
    let report = client.report(turn.id()).await;
    let left_out: Vec<&Value> =
        list(&report["adapted_fields"]).iter().map(|omitted| &omitted["field"]).collect();
    for field in ["service_tier", "prompt_cache_key", "prompt_cache_retention"] {
        assert!(left_out.contains(&&json!(field)), "{left_out:?}");
    }
}

#[tokio::test]
async fn common_tiers_are_converted() {
    let world = ANTHROPIC.world().await;
    for (tier, carried) in [("auto", "auto"), ("default", "standard_only")] {
        world.client().respond(&ask("Hello").field("service_tier", tier)).await;
        assert_eq!(world.last_request().body["service_tier"], carried);
    }
}

#[tokio::test]
async fn identifier_fields_are_limited_in_length() {
    let world = RESPONSES.world().await;
    let client = world.client();
    for (field, longest) in [("safety_identifier", 128), ("prompt_cache_key", 64)] {
        for mode in MODES {
            let asked = |length| ask("Hello").field(field, "k".repeat(length));
            let message = format!(
                "Invalid '{field}': string too long. Expected a string with maximum length \
                 {longest}, but got a string with length {} instead.",
                longest + 1
            );
            let refused = client.refused(mode, &asked(longest + 1)).await;
            let code = Some("string_above_max_length");
            assert_eq!(refused, invalid(Some(field), code, &message));
            client.turn(mode, &asked(longest)).await;
        }
    }
}

#[tokio::test]
async fn metadata_is_echoed_and_stored() {
    for dialect in APIS {
        for mode in MODES {
            let world = dialect.world().await;
            let client = world.client();
            let metadata = json!({"trace": "1", "": "", "ü": "ö"});
            let turn = client.turn(mode, &ask("Hello").field("metadata", metadata.clone())).await;
            assert_eq!(turn.response["metadata"], metadata);
            assert_eq!(client.stored_response(turn.id()).await["metadata"], metadata);
        }
    }
}

#[tokio::test]
async fn truncation_is_auto_or_disabled() {
    let world = RESPONSES.world().await;
    let client = world.client();
    for truncation in ["auto", "disabled"] {
        let turn = client.respond(&ask("Hello").field("truncation", truncation)).await;
        assert_eq!(turn.response["truncation"], truncation);
    }
    let refused = client.refused(MODES[0], &ask("Hello").field("truncation", "middle")).await;
    let message = "Invalid value: 'middle'. Supported values are: 'auto' and 'disabled'.";
    assert_eq!(refused, invalid(Some("truncation"), Some("invalid_value"), message));
}

#[tokio::test]
async fn effort_and_verbosity_reach_the_model() {
    for mode in MODES {
        let world = RESPONSES.world().await;
        let text = json!({"verbosity": "high", "format": {"type": "text"}});
        let reasoning = json!({"effort": "xhigh", "summary": "detailed"});
        let asked = ask("Hello").field("text", text.clone()).field("reasoning", reasoning.clone());

        let turn = world.client().turn(mode, &asked).await;

        let body = world.last_request().body;
        assert_eq!((&body["text"], &body["reasoning"]), (&text, &reasoning));
        assert_eq!(turn.response["reasoning"]["effort"], "xhigh");
        assert_eq!(turn.response["text"]["verbosity"], "high");
    }
    let world = CHAT.world().await;
    let asked = ask("Hello").field("text", json!({"verbosity": "low"}));
    world.client().respond(&asked.field("reasoning", json!({"effort": "low"}))).await;
    let body = world.last_request().body;
    assert_eq!((&body["verbosity"], &body["reasoning_effort"]), (&json!("low"), &json!("low")));
}

#[tokio::test]
async fn unknown_verbosity_is_rejected() {
    let world = RESPONSES.world().await;
    let asked = ask("Hello").field("text", json!({"verbosity": "lavish"}));
    let refused = world.client().refused(MODES[0], &asked).await;
    let message = "Invalid value: 'lavish'. Supported values are: 'low', 'medium', and 'high'.";
    assert_eq!(refused, invalid(Some("text.verbosity"), Some("invalid_value"), message));
}

#[tokio::test]
async fn stored_prompt_needs_an_id() {
    let world = RESPONSES.world().await;
    let client = world.client();
    let refused = client.refused(MODES[0], &ask("Hello").field("prompt", json!({}))).await;
    let code = Some("missing_required_parameter");
    assert_eq!(
        refused,
        invalid(Some("prompt.id"), code, "Missing required parameter: 'prompt.id'.")
    );
    let prompt = json!({"id": "pmpt_1", "version": "2", "variables": {"city": "Paris"}});
    let turn = client.respond(&ask("Hello").field("prompt", prompt.clone())).await;
    assert_eq!(world.last_request().body["prompt"], prompt);
    assert_eq!(turn.response["prompt"], prompt);
}
