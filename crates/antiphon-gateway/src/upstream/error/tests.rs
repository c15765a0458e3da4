use antiphon::stream::Failure;
use http::{HeaderMap, StatusCode};
use serde_json::json;

use super::*;
use crate::error::UpstreamRejection;

fn rejection(status: u16, code: Option<&str>, message: &str) -> UpstreamError {
    let body = json!({"error": {
        "message": message, "type": "invalid_request_error", "param": "input", "code": code,
    }});
    UpstreamError::Rejected(Box::new(UpstreamRejection {
        status: StatusCode::from_u16(status).unwrap(),
        headers: HeaderMap::new(),
        body: body.to_string().into(),
    }))
}

fn failed(code: &str, message: &str) -> UpstreamError {
    UpstreamError::Failed(Failure { code: code.into(), message: message.into() })
}

fn without_reasoning(item: &str, reasoning: &str) -> StateError {
    StateError::WithoutReasoning { item: item.into(), reasoning: reasoning.into() }
}

/// Error texts of providers, and the state error of each.
fn provider_errors() -> Vec<(u16, &'static str, StateError)> {
    use StateError::{DuplicateItem, LoneReasoning, OutputWithoutCall, UnansweredCall};
    vec![
        (
            400,
            "Duplicate item found with id fc_68d25eda79d48195. Remove duplicate items from your \
             input and try again.",
            DuplicateItem("fc_68d25eda79d48195".into()),
        ),
        (
            400,
            "Duplicate function call output found with call_id call_1. Remove duplicate items \
             from your input and try again.",
            DuplicateItem("call_1".into()),
        ),
        (
            400,
            "No tool output found for function call call_OqAp4Tv.",
            UnansweredCall("call_OqAp4Tv".into()),
        ),
        (
            400,
            "No tool output found for custom tool call call_nNNw7JP5.",
            UnansweredCall("call_nNNw7JP5".into()),
        ),
        (
            400,
            "No tool output found for local shell call functions.shell:0.",
            UnansweredCall("functions.shell:0".into()),
        ),
        (
            400,
            "No tool call found for function call output with call_id call_x0jSANyY.",
            OutputWithoutCall("call_x0jSANyY".into()),
        ),
        (
            400,
            "No tool call found for custom tool call output with call_id call_2.",
            OutputWithoutCall("call_2".into()),
        ),
        (
            400,
            "Item 'rs_0c3876fc' of type 'reasoning' was provided without its required following \
             item.",
            LoneReasoning("rs_0c3876fc".into()),
        ),
        (
            400,
            "Item 'fc_X' of type 'function_call' was provided without its required 'reasoning' \
             item: 'rs_Y'.",
            without_reasoning("fc_X", "rs_Y"),
        ),
        (
            400,
            "Item 'ws_1' of type 'web_search_call' was provided without its required 'reasoning' \
             item: 'rs_2'.",
            without_reasoning("ws_1", "rs_2"),
        ),
        (
            404,
            "Item with id 'rs_1' not found. Items are not persisted when `store` is set to false. \
             Try again with `store` set to true, or remove this item from your input.",
            StateError::UnknownItem("rs_1".into()),
        ),
        (400, "Item with id 'msg_1' not found.", StateError::UnknownItem("msg_1".into())),
        (404, "Previous response with id 'resp_1' not found.", StateError::UnknownResponse),
        (404, "Response with id 'resp_1' not found.", StateError::UnknownResponse),
        (400, "Response with id resp_1 not found", StateError::UnknownResponse),
    ]
}

#[test]
fn provider_error_texts_are_recognized() {
    for (status, message, meaning) in provider_errors() {
        assert_eq!(rejection(status, None, message).state_error(), Some(meaning), "{message}");
    }
}

#[test]
fn failed_responses_are_recognized_too() {
    for (_, message, meaning) in provider_errors() {
        for code in ["invalid_prompt", "server_error", "bad_request", ""] {
            assert_eq!(failed(code, message).state_error(), Some(meaning.clone()), "{message}");
        }
    }
}

#[test]
fn proxied_error_texts_are_recognized() {
    for (status, message, meaning) in provider_errors() {
        let wrapped = [
            format!("Error code: 400 - {{'error': {{'message': \"{message}\", 'code': None}}}}"),
            format!("litellm.BadRequestError: OpenAIException - {}", json!({"message": message})),
            format!("CAPIError: 400 {message} (Request ID: C1B7:2EE56F)"),
        ];
        for message in wrapped {
            let error = rejection(status, Some("400"), &message).state_error();
            assert_eq!(error.as_ref(), Some(&meaning), "{message}");
        }
    }
}

#[test]
fn codes_are_recognized_without_their_text() {
    let locked = "Another process is currently operating on this conversation. Please retry in a \
                  few seconds.";
    let lost = "Prediction history node with id '1' not found while attempting to build chat \
                history chain that includes this node.";
    let known = [
        ("conversation_locked", locked, StateError::Locked),
        ("conversation_locked", "", StateError::Locked),
        ("", locked, StateError::Locked),
        ("previous_response_not_found", lost, StateError::UnknownResponse),
        (
            "previous_response_not_found",
            "Previous response with id 'resp_x' not found.",
            StateError::UnknownResponse,
        ),
    ];
    for (code, message, meaning) in known {
        for status in [400, 404, 409] {
            let error = rejection(status, Some(code), message).state_error();
            assert_eq!(error.as_ref(), Some(&meaning), "{code}: {message}");
        }
        assert_eq!(failed(code, message).state_error(), Some(meaning));
    }
}

#[test]
fn other_errors_are_no_state_errors() {
    let others = [
        "Conversation with id 'conv_x' not found.",
        "The requested model 'x' does not exist.",
        "Invalid 'input[3].id': 'item_abc'. Expected an ID that begins with 'msg'.",
        "Invalid 'input[169].call_id': empty string. Expected a string with minimum length 1, but \
         got an empty string instead.",
        "Encrypted content is not supported with this model.",
        "One of \"input\" or \"previous_response_id\" or 'prompt' or 'conversation' must be \
         provided.",
        "Item not found",
        "",
    ];
    for message in others {
        assert_eq!(rejection(400, None, message).state_error(), None, "{message}");
        assert_eq!(failed("server_error", message).state_error(), None, "{message}");
    }
}

#[test]
fn server_errors_are_no_state_errors() {
    let message = "No tool output found for function call call_1.";
    assert_eq!(rejection(500, None, message).state_error(), None);
    assert_eq!(UpstreamError::UnexpectedAnswer(message.into()).state_error(), None);
    assert_eq!(UpstreamError::BrokeOff.state_error(), None);
}

#[test]
fn missing_object_is_reported_with_status_404() {
    let missing = |status| rejection(status, None, "Conversation with id 'conv_00AB' not found.");
    assert!(missing(404).is_missing("conversation", "conv_00AB"));
    assert!(!missing(500).is_missing("conversation", "conv_00AB"));
}

#[test]
fn id_of_wrong_form_is_rejected_with_status_400() {
    let malformed = |status| {
        rejection(status, None, "Invalid conversation id 'conv_00AB', Malformed identifier.")
    };
    assert!(malformed(400).rejects_id("conv_00AB"));
    assert!(!malformed(401).rejects_id("conv_00AB"));
    let other = rejection(400, None, "Missing required query parameter: api-version");
    assert!(!other.rejects_id("conv_00AB"));
}
