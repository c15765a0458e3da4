//! `reasoning.effort`.

use serde_json::{Value, json};

use super::reasoning::sealed;
use super::{Sent, refused, send};
use crate::item::given::{call, output, said, user};

const BUDGETS: &str = "claude-sonnet-4-5";
const THINKING: &str = r#"{"type":"thinking","thinking":"hm","signature":"EqQB"}"#;

fn ask(model: &str, effort: &str) -> Sent {
    send(&json!({"model": model, "reasoning": {"effort": effort}}), &[user("hi")])
}

fn budget(sent: &Sent) -> Value {
    sent.body["thinking"]["budget_tokens"].clone()
}

#[test]
fn an_effort_is_a_budget_for_older_models() {
    for (effort, tokens) in [("low", 2_048), ("medium", 8_192), ("high", 16_000), ("xhigh", 16_000)]
    {
        let sent = ask(BUDGETS, effort);
        let expected = json!({"type": "enabled", "budget_tokens": tokens});
        assert_eq!(sent.body["thinking"], expected, "{effort}");
        assert_eq!(sent.body.get("output_config"), None);
    }
}

#[test]
fn an_effort_is_an_effort_for_newer_models() {
    for effort in ["low", "medium", "high", "xhigh", "max"] {
        let sent = ask("claude-opus-4-8", effort);
        assert_eq!(sent.body["thinking"], json!({"type": "adaptive"}));
        assert_eq!(sent.body["output_config"], json!({"effort": effort}));
        assert_eq!(sent.reported, [""; 0]);
    }
}

#[test]
fn an_effort_that_a_model_does_not_have_is_the_next_lower() {
    let sent = ask("claude-opus-4-6", "xhigh");
    assert_eq!(sent.body["output_config"], json!({"effort": "high"}));
    assert_eq!(sent.reported, ["reasoning.effort"]);
}

#[test]
fn no_effort_is_no_thinking() {
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
fn a_model_that_always_thinks_is_asked_for_its_lowest_effort() {
    let sent = ask("claude-opus-5-5", "none");
    assert_eq!(sent.body.get("thinking"), None);
    assert_eq!(sent.body["output_config"], json!({"effort": "low"}));
    assert_eq!(sent.reported, ["reasoning.effort"]);
}

#[test]
fn an_effort_that_nobody_knows_is_refused() {
    let fields = json!({"reasoning": {"effort": "heroic"}});
    assert_eq!(refused(&fields, &[user("hi")]).0, "reasoning.effort");
}

#[test]
fn a_budget_is_at_most_half_of_what_may_be_written() {
    for (max, tokens) in [(3_000, json!(1_500)), (60_000, json!(16_384)), (100_000, json!(16_384))]
    {
        let fields =
            json!({"model": BUDGETS, "max_output_tokens": max, "reasoning": {"effort": "high"}});
        assert_eq!(budget(&send(&fields, &[user("hi")])), tokens);
    }
}

#[test]
fn an_answer_too_short_to_think_in_is_not_thought_about() {
    let fields =
        json!({"model": BUDGETS, "max_output_tokens": 2_000, "reasoning": {"effort": "low"}});
    let sent = send(&fields, &[user("hi")]);
    assert_eq!(sent.body.get("thinking"), None);
    assert_eq!(sent.reported, ["reasoning.effort"]);
}

#[test]
fn sampling_is_left_out_beside_thinking() {
    for model in [BUDGETS, "claude-opus-4-6"] {
        let fields = json!({"model": model, "temperature": 0.2, "top_p": 0.5, "reasoning": {"effort": "low"}});
        let sent = send(&fields, &[user("hi")]);
        assert_eq!((sent.body.get("temperature"), sent.body.get("top_p")), (None, None));
        assert_eq!(sent.reported, ["temperature", "top_p"]);
    }
}

#[test]
fn who_has_to_call_a_tool_does_not_think_first() {
    let tools = json!([{"type": "function", "name": "f"}]);
    let with = |model: &str| {
        let fields = json!({"model": model, "tools": tools, "tool_choice": "required", "reasoning": {"effort": "low"}});
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
fn a_round_of_calls_that_lost_its_thinking_goes_on_without() {
    let fields = json!({"model": BUDGETS, "reasoning": {"effort": "low"}});
    let lost = [user("hi"), said("I look."), call("call_1", "{}"), output("call_1", "1")];
    let sent = send(&fields, &lost);
    assert_eq!(sent.body.get("thinking"), None);
    assert_eq!(sent.reported, ["reasoning.effort"]);

    let kept = [user("hi"), sealed(THINKING), call("call_1", "{}"), output("call_1", "1")];
    assert_eq!(budget(&send(&fields, &kept)), json!(2_048));

    let over = [&lost[..], &[said("Warm."), user("thanks")]].concat();
    assert_eq!(budget(&send(&fields, &over)), json!(2_048));
}

#[test]
fn an_answer_that_is_gone_on_with_is_not_thought_about() {
    let fields = json!({"model": BUDGETS, "reasoning": {"effort": "low"}});
    let sent = send(&fields, &[user("hi"), said("The answer is")]);
    assert_eq!(sent.body.get("thinking"), None);
    assert_eq!(sent.reported, ["reasoning.effort"]);
}

#[test]
fn newer_models_think_on_without_the_thinking_that_was_lost() {
    let fields = json!({"model": "claude-opus-4-8", "reasoning": {"effort": "low"}});
    let sent = send(&fields, &[user("hi"), call("call_1", "{}"), output("call_1", "1")]);
    assert_eq!(sent.body["thinking"], json!({"type": "adaptive"}));
}

#[test]
fn a_summary_shows_what_newer_models_think() {
    let ask = |model: &str| {
        let fields = json!({"model": model, "reasoning": {"effort": "low", "summary": "auto"}});
        send(&fields, &[user("hi")]).body["thinking"].clone()
    };
    assert_eq!(ask("claude-opus-4-8"), json!({"type": "adaptive", "display": "summarized"}));
    assert_eq!(ask("claude-opus-4-6"), json!({"type": "adaptive"}));
}

#[test]
fn effort_and_format_stand_side_by_side() {
    let format = json!({"type": "json_schema", "name": "n", "schema": {"type": "object"}});
    let fields = json!({"model": "claude-opus-4-8", "reasoning": {"effort": "low"}, "text": {"format": format}});
    let expected =
        json!({"effort": "low", "format": {"type": "json_schema", "schema": {"type": "object"}}});
    assert_eq!(send(&fields, &[user("hi")]).body["output_config"], expected);
}
