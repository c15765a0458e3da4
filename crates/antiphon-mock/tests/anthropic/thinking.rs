//! Thinking: its parameters and the blocks that are sent back.

use antiphon_mock::redacted_thinking;
use serde_json::{Value, json};

use crate::request::{
    MODEL, accepted, assistant, call, hello, refused, request, result, text, thinking, user, with,
};

const DOCUMENTATION: &str = "Please consult our documentation at \
    https://docs.claude.com/en/docs/build-with-claude/extended-thinking";

fn enabled(body: Value) -> Value {
    with(body, "thinking", json!({"type": "enabled", "budget_tokens": 1024}))
}

fn adaptive(body: Value) -> Value {
    with(body, "thinking", json!({"type": "adaptive"}))
}

#[test]
fn thinking_budget_is_bounded() {
    let thinking = |thinking: Value| with(hello(), "thinking", thinking);
    accepted(&enabled(hello()));
    accepted(&adaptive(hello()));
    accepted(&thinking(json!({"type": "disabled"})));
    let message = "thinking.enabled.budget_tokens: Field required";
    refused(&thinking(json!({"type": "enabled"})), message);
    let message = "thinking.enabled.budget_tokens: Input should be greater than or equal to 1024";
    refused(&thinking(json!({"type": "enabled", "budget_tokens": 1023})), message);
    let message = format!(
        "`max_tokens` must be greater than `thinking.budget_tokens`. {DOCUMENTATION}\
        #max-tokens-and-context-window-size"
    );
    refused(&thinking(json!({"type": "enabled", "budget_tokens": 4096})), &message);
    let message = "thinking.adaptive.budget_tokens: Extra inputs are not permitted";
    refused(&thinking(json!({"type": "adaptive", "budget_tokens": 1024})), message);
}

#[test]
fn parameters_that_exclude_thinking_are_refused() {
    let considerations = "#important-considerations-when-using-extended-thinking";
    let message = format!(
        "`temperature` may only be set to 1 when thinking is enabled. {DOCUMENTATION}\
        {considerations}"
    );
    refused(&with(enabled(hello()), "temperature", json!(0.5)), &message);
    accepted(&with(enabled(hello()), "temperature", json!(1)));
    let message =
        format!("`top_k` must be unset when thinking is enabled. {DOCUMENTATION}{considerations}");
    refused(&with(enabled(hello()), "top_k", json!(5)), &message);
    for choice in [json!({"type": "any"}), json!({"type": "tool", "name": "echo"})] {
        let message = "Thinking may not be enabled when tool_choice forces tool use.";
        refused(&with(enabled(hello()), "tool_choice", choice.clone()), message);
        accepted(&with(adaptive(hello()), "tool_choice", choice));
    }
}

#[test]
fn signature_is_bound_to_text_and_model() {
    let judged =
        |block: Value| request(&json!([user("hi"), assistant([block, text("a")]), user("b")]));
    accepted(&judged(thinking("hm")));
    let message = "messages.1.content.0: Invalid `signature` in `thinking` block";
    refused(&judged(with(thinking("hm"), "thinking", json!("hm."))), message);
    refused(&judged(with(thinking("hm"), "signature", json!(""))), message);
    refused(&with(judged(thinking("hm")), "model", json!("other-model")), message);
    let unsigned = judged(json!({"type": "thinking", "thinking": "hm"}));
    refused(&unsigned, "messages.1.content.0.thinking.signature: Field required");
}

#[test]
fn redacted_thinking_is_bound_to_its_model() {
    let redacted = |data: &str| {
        let block = json!({"type": "redacted_thinking", "data": data});
        request(&json!([user("hi"), assistant([block, text("a")]), user("b")]))
    };
    accepted(&redacted(&redacted_thinking(MODEL)));
    let message = "messages.1.content.0: Invalid `data` in `redacted_thinking` block";
    refused(&redacted("EmwKAhgB"), message);
    refused(&redacted(&redacted_thinking("other-model")), message);
}

#[test]
fn current_turn_must_begin_with_thinking() {
    let lost = |message: usize, found: &str| {
        format!(
            "messages.{message}.content.0.type: Expected `thinking` or `redacted_thinking`, but \
            found `{found}`. When `thinking` is enabled, a final `assistant` message must start \
            with a thinking block (preceeding the lastmost set of `tool_use` and `tool_result` \
            blocks). We recommend you include thinking blocks from previous turns. To avoid this \
            requirement, disable `thinking`. {DOCUMENTATION}"
        )
    };
    let forgotten = json!([user("hi"), assistant([call("a")]), user([result("a")])]);
    refused(&enabled(request(&forgotten)), &lost(1, "tool_use"));
    let steered = json!([
        user("hi"),
        assistant([text("Wait."), call("a")]),
        user([result("a"), text("quick")])
    ]);
    refused(&enabled(request(&steered)), &lost(1, "text"));
    refused(&enabled(request(&json!([user("hi"), assistant("It was")]))), &lost(1, "text"));

    accepted(&request(&forgotten));
    accepted(&adaptive(request(&forgotten)));
    accepted(&with(enabled(request(&forgotten)), "model", json!("plain-model")));
    let kept = json!([
        user("hi"),
        assistant([thinking("hm"), call("a")]),
        user([result("a")]),
        assistant([call("b")]),
        user([result("b")])
    ]);
    accepted(&enabled(request(&kept)));
    let over = json!([
        user("hi"),
        assistant([call("a")]),
        user([result("a")]),
        assistant("Done."),
        user("bye")
    ]);
    accepted(&enabled(request(&over)));
}
