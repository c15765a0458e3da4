//! Numbers that have bounds.

use serde_json::{Value, json};

use super::APIS;
use crate::support::{MODES, ask, invalid};

/// The field, a value on the wrong side of its bound, what the provider calls that, and the bound.
fn out_of_range() -> Vec<(&'static str, Value, &'static str, &'static str)> {
    vec![
        ("temperature", json!(2.5), "decimal above maximum", "<= 2"),
        ("temperature", json!(3), "decimal above maximum", "<= 2"),
        ("temperature", json!(-0.5), "decimal below minimum", ">= 0"),
        ("top_p", json!(1.5), "decimal above maximum", "<= 1"),
        ("top_p", json!(-1), "decimal below minimum", ">= 0"),
        ("presence_penalty", json!(2.5), "decimal above maximum", "<= 2"),
        ("frequency_penalty", json!(-3), "decimal below minimum", ">= -2"),
        ("top_logprobs", json!(21), "integer above maximum", "<= 20"),
        ("top_logprobs", json!(-1), "integer below minimum", ">= 0"),
        ("max_output_tokens", json!(15), "integer below minimum", ">= 16"),
        ("max_tool_calls", json!(0), "integer below minimum", ">= 1"),
    ]
}

#[tokio::test]
async fn number_out_of_range_is_rejected() {
    for dialect in APIS {
        for mode in MODES {
            let world = dialect.world().await;
            let client = world.client();
            for (field, value, what, bound) in out_of_range() {
                let refused = client.refused(mode, &ask("Hello").field(field, value.clone())).await;

                let message = format!(
                    "Invalid '{field}': {what} value. Expected a value {bound}, but got {value} \
                     instead."
                );
                let code = what.replace(' ', "_").replace("imum", "") + "_value";
                assert_eq!(refused, invalid(Some(field), Some(&code), &message));
            }
            assert_eq!(world.times_asked(), 0);
        }
    }
}

#[tokio::test]
async fn number_at_its_limit_is_accepted_and_echoed() {
    let bounds = [
        ("temperature", json!(2)),
        ("temperature", json!(0)),
        ("top_p", json!(1)),
        ("top_logprobs", json!(20)),
        ("max_output_tokens", json!(16)),
        ("max_tool_calls", json!(1)),
    ];
    for mode in MODES {
        let world = APIS[0].world().await;
        for (field, value) in bounds.clone() {
            let turn = world.client().turn(mode, &ask("Hello").field(field, value.clone())).await;
            assert_eq!(turn.response[field], value);
            assert_eq!(world.last_request().body[field], value);
        }
    }
}
