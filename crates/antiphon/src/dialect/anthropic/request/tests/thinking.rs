//! `reasoning.effort`.

use serde_json::{Value, json};

use super::reasoning::sealed;
use super::{Sent, refused, send};
use crate::item::given::{bare_assistant, call, output, user};

const BUDGETS: &str = "claude-sonnet-4-5";
const THINKING: &str = r#"{"type":"thinking","thinking":"hm","signature":"EqQB"}"#;

fn ask(model: &str, effort: &str) -> Sent {
    send(&json!({"model": model, "reasoning": {"effort": effort}}), &[user("hi")])
}

fn budget(sent: &Sent) -> Value {
    sent.body["thinking"]["budget_tokens"].clone()
}

#[test]
fn older_models_get_thinking_budget() {
    for (effort, tokens) in [("low", 2_048), ("medium", 8_192), ("high", 16_000), ("xhigh", 16_000)]
    {
        let sent = ask(BUDGETS, effort);
        let expected = json!({"type": "enabled", "budget_tokens": tokens});
        assert_eq!(sent.body["thinking"], expected, "{effort}");
        assert_eq!(sent.body.get("output_config"), None);
    }
}

#[test]
fn newer_models_get_effort() {
    for effort in ["low", "medium", "high", "xhigh", "max"] {
        let sent = ask("claude-opus-4-8", effort);
        assert_eq!(sent.body["thinking"], json!({"type": "adaptive"}));
        assert_eq!(sent.body["output_config"], json!({"effort": effort}));
        assert_eq!(sent.reported, [""; 0]);
    }
}

#[test]
fn unsupported_effort_becomes_next_lower() {
    let sent = ask("claude-opus-4-6", "xhigh");
    assert_eq!(sent.body["output_config"], json!({"effort": "high"}));
    assert_eq!(sent.reported, ["reasoning.effort"]);
}

#[test]
fn effort_none_turns_thinking_off() {
    for effort in ["none", "minimal"] {
        for (model, thinking) in [
            (BUDGETS, None),
            ("claude-opus-4-8", None),
            ("claude-opus-5", Some(json!({"type": "disabled"}))),
            ("claude-sonnet-5-5", Some(json!({"type": "between_tools"}))),
        ] {
            let sent = ask(model, effort);
            assert_eq!(sent.body.get("thinking"), thinking.as_ref(), "{model}");
            assert_eq!(sent.body.get("output_config"), None);
            assert_eq!(sent.reported, [""; 0]);
        }
    }
}

#[test]
fn always_thinking_model_gets_lowest_effort() {
    let sent = ask("claude-opus-5-5", "none");
    assert_eq!(sent.body.get("thinking"), None);
    assert_eq!(sent.body["output_config"], json!({"effort": "low"}));
    assert_eq!(sent.reported, ["reasoning.effort"]);
}

#[test]
fn unknown_effort_is_rejected() {
    let fields = json!({"reasoning": {"effort": "heroic"}});
    assert_eq!(refused(&fields, &[user("hi")]).0, "reasoning.effort");
}

#[test]
fn budget_is_at_most_half_of_max_tokens() {
    for (max, tokens) in [(3_000, json!(1_500)), (60_000, json!(16_384)), (100_000, json!(16_384))]
    {
        let fields =
            json!({"model": BUDGETS, "max_output_tokens": max, "reasoning": {"effort": "high"}});
        assert_eq!(budget(&send(&fields, &[user("hi")])), tokens);
    }
}

#[test]
fn small_max_tokens_turns_thinking_off() {
    let fields =
        json!({"model": BUDGETS, "max_output_tokens": 2_000, "reasoning": {"effort": "low"}});
    let sent = send(&fields, &[user("hi")]);
    assert_eq!(sent.body.get("thinking"), None);
    assert_eq!(sent.reported, ["reasoning.effort"]);
}

#[test]
fn sampling_is_left_out_with_thinking() {
    for model in [BUDGETS, "claude-opus-4-6"] {
        let fields = json!({"model": model, "temperature": 0.2, "top_p": 0.5,
            "reasoning": {"effort": "low"}});
        let sent = send(&fields, &[user("hi")]);
        assert_eq!((sent.body.get("temperature"), sent.body.get("top_p")), (None, None));
        assert_eq!(sent.reported, ["temperature", "top_p"]);
    }
}

#[test]
fn forced_tool_call_turns_thinking_off() {
    let tools = json!([{"type": "function", "name": "f"}]);
    let with = |model: &str| {
        let fields = json!({"model": model, "tools": tools, "tool_choice": "required",
            "reasoning": {"effort": "low"}});
        send(&fields, &[user("hi")])
    };
    let older = with(BUDGETS);
    assert_eq!(older.body.get("thinking"), None);
    assert_eq!(older.reported, ["reasoning.effort"]);
    let newer = with("claude-opus-4-8");
    assert_eq!(newer.body.get("thinking"), None);
    assert_eq!(newer.body["output_config"], json!({"effort": "low"}));
}

#[test]
fn calls_without_their_thinking_turn_thinking_off() {
    let fields = json!({"model": BUDGETS, "reasoning": {"effort": "low"}});
    let lost = [user("hi"), bare_assistant("I look."), call("call_1", "{}"), output("call_1", "1")];
    let sent = send(&fields, &lost);
    assert_eq!(sent.body.get("thinking"), None);
    assert_eq!(sent.reported, ["reasoning.effort"]);

    let kept = [user("hi"), sealed(THINKING), call("call_1", "{}"), output("call_1", "1")];
    assert_eq!(budget(&send(&fields, &kept)), json!(2_048));

    let over = [&lost[..], &[bare_assistant("Warm."), user("thanks")]].concat();
    assert_eq!(budget(&send(&fields, &over)), json!(2_048));
}

#[test]
fn final_assistant_message_turns_thinking_off() {
    let fields = json!({"model": BUDGETS, "reasoning": {"effort": "low"}});
    let sent = send(&fields, &[user("hi"), bare_assistant("The answer is")]);
    assert_eq!(sent.body.get("thinking"), None);
    assert_eq!(sent.reported, ["reasoning.effort"]);
}

#[test]
fn newer_models_think_despite_lost_thinking() {
    let fields = json!({"model": "claude-opus-4-8", "reasoning": {"effort": "low"}});
    let sent = send(&fields, &[user("hi"), call("call_1", "{}"), output("call_1", "1")]);
    assert_eq!(sent.body["thinking"], json!({"type": "adaptive"}));
}

#[test]
fn summary_shows_thinking_of_newer_models() {
    let ask = |model: &str| {
        let fields = json!({"model": model, "reasoning": {"effort": "low", "summary": "auto"}});
        send(&fields, &[user("hi")]).body["thinking"].clone()
    };
    assert_eq!(ask("claude-opus-4-8"), json!({"type": "adaptive", "display": "summarized"}));
    assert_eq!(ask("claude-opus-4-6"), json!({"type": "adaptive"}));
}

#[test]
fn effort_and_format_share_output_config() {
    let format = json!({"type": "json_schema", "name": "n", "schema": {"type": "object"}});
    let fields = json!({"model": "claude-opus-4-8", "reasoning": {"effort": "low"},
        "text": {"format": format}});
    let expected =
        json!({"effort": "low", "format": {"type": "json_schema", "schema": {"type": "object"}}});
    assert_eq!(send(&fields, &[user("hi")]).body["output_config"], expected);
}
