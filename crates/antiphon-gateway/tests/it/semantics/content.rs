//! What messages and outputs are made of.

use antiphon_mock::Answer;
use serde_json::{Value, json};

use super::{ANTHROPIC, APIS, CHAT, RESPONSES};
use crate::support::{MODEL, MODES, Refused, World, ask, invalid, user};

const PIXEL: &str = "data:image/png;base64,iVBORw0KGgo=";
const URL: &str = "https://example.com/cat.png";
const PDF: &str = "data:application/pdf;base64,JVBERi0=";

fn message(part: &Value) -> Value {
    json!([{"role": "user", "content": [{"type": "input_text", "text": "Look"}, part]}])
}

fn missing(path: &str) -> Refused {
    let message = format!("Missing required parameter: '{path}'.");
    invalid(Some(path), Some("missing_required_parameter"), &message)
}

/// What the upstream was given as the message's second part.
fn second_part(world: &World) -> Value {
    let request = world.last_request();
    assert_eq!(request.verdict, Ok(()), "a provider accepts {}", request.body);
    match request.body.get("input") {
        Some(input) => input[0]["content"][1].clone(),
        None => request.messages().last().expect("there is one")["content"][1].clone(),
    }
}

#[tokio::test]
async fn images_are_forwarded_unchanged() {
    let images = [
        json!({"type": "input_image", "image_url": PIXEL}),
        json!({"type": "input_image", "image_url": URL, "detail": "low", "file_id": null}),
        json!({"type": "input_image", "file_id": "file-1", "detail": "original"}),
    ];
    for mode in MODES {
        let world = RESPONSES.world().await;
        for image in &images {
            world.client().turn(mode, &ask(message(image))).await;
            assert_eq!(second_part(&world), *image);
        }
    }
}

#[tokio::test]
async fn images_are_converted_for_other_apis() {
    let image = json!({"type": "input_image", "image_url": URL, "detail": "low"});
    for (dialect, expected) in [
        (CHAT, json!({"type": "image_url", "image_url": {"url": URL, "detail": "low"}})),
        (ANTHROPIC, json!({"type": "image", "source": {"type": "url", "url": URL}})),
    ] {
        for mode in MODES {
            let world = dialect.world().await;
            world.client().turn(mode, &ask(message(&image))).await;
            assert_eq!(second_part(&world), expected);
        }
    }
}

#[tokio::test]
async fn files_are_forwarded_unchanged() {
    let files = [
        json!({"type": "input_file", "file_id": "file-1"}),
        json!({"type": "input_file", "file_url": "https://example.com/a.pdf", "file_id": null}),
        json!({"type": "input_file", "filename": "a.pdf", "file_data": PDF}),
    ];
    for mode in MODES {
        let world = RESPONSES.world().await;
        for file in &files {
            world.client().turn(mode, &ask(message(file))).await;
            assert_eq!(second_part(&world), *file);
        }
    }
}

/// Parts that no provider takes, and what is said of each.
fn malformed() -> Vec<(Value, Refused)> {
    let path = "input[0].content[1]";
    let url = format!("{path}.image_url");
    let no_url =
        format!("Invalid '{url}'. Expected a valid URL, but got a value with an invalid format.");
    let two = "Mutually exclusive parameters: 'file_id', 'file_data'. Ensure you are only \
               providing one of: 'file_id' or 'file_url' or 'file_data'.";
    let none = "One of 'file_id' or 'file_url' or 'file_data' must be provided.";
    let no_object =
        format!("Invalid type for '{path}': expected an object, but got a string instead.");
    vec![
        (json!("Hello"), invalid(Some(path), Some("invalid_type"), &no_object)),
        (json!({"text": "Hello"}), missing("input[0].content[1].type")),
        (json!({"type": "input_text"}), missing("input[0].content[1].text")),
        (json!({"type": "input_image"}), missing("input[0].content[1].image_url")),
        (
            json!({"type": "input_image", "image_url": "/tmp/cat.png"}),
            invalid(Some(&url), Some("invalid_value"), &no_url),
        ),
        (
            json!({"type": "input_file"}),
            invalid(Some(path), Some("missing_required_parameter"), none),
        ),
        (json!({"type": "input_file", "file_data": PDF}), missing("input[0].content[1].filename")),
        (
            json!({"type": "input_file", "file_data": PDF, "filename": "a", "file_id": "file-1"}),
            invalid(Some(path), Some("mutually_exclusive_parameters"), two),
        ),
    ]
}

#[tokio::test]
async fn invalid_content_part_is_rejected_by_path() {
    for dialect in APIS {
        for mode in MODES {
            let world = dialect.world().await;
            for (part, expected) in malformed() {
                let refused = world.client().refused(mode, &ask(message(&part))).await;
                assert_eq!(refused, expected, "{part}");
            }
            assert_eq!(world.times_asked(), 0);
        }
    }
}

#[tokio::test]
async fn invalid_part_is_not_added_to_conversations() {
    let world = RESPONSES.world().await;
    let client = world.client();
    let conversation = client.new_conversation().await;
    for (part, expected) in malformed() {
        let items = json!({"items": message(&part)});
        for path in
            ["/v1/conversations".to_owned(), format!("/v1/conversations/{conversation}/items")]
        {
            let refused = client.post(&path, &items).await.refused();
            let received = refused.body["error"]["message"].as_str().unwrap();
            let expected = expected.body["error"]["message"].as_str().unwrap();
            assert_eq!(received, expected.replace("input[0]", "items[0]"), "{part}");
        }
    }
    assert_eq!(client.items(&conversation).await, [] as [Value; 0]);
}

#[tokio::test]
async fn messages_and_outputs_need_content() {
    let world = RESPONSES.world().await;
    let call = json!({"type": "function_call", "call_id": "c", "name": "f", "arguments": "{}"});
    for (input, path) in [
        (json!([{"role": "user"}]), "input[0].content"),
        (json!([{"role": "user", "content": null}]), "input[0].content"),
        (json!([call, {"type": "function_call_output", "call_id": "c"}]), "input[1].output"),
    ] {
        for mode in MODES {
            let refused = world.client().refused(mode, &ask(input.clone())).await;
            assert_eq!(refused, missing(path));
        }
    }
    let numbers = json!([{"role": "user", "content": 5}]);
    let refused = world.client().refused(MODES[0], &ask(numbers)).await;
    assert_eq!(refused.body["error"]["code"], "invalid_type");
}

#[tokio::test]
async fn output_accepts_a_list_of_parts() {
    let call = json!({"type": "function_call", "call_id": "c", "name": "f", "arguments": "{}"});
    let parts = json!([
        {"type": "input_text", "text": "A cat"},
        {"type": "input_image", "image_url": PIXEL},
    ]);
    let answer = json!({"type": "function_call_output", "call_id": "c", "output": parts});
    let world = RESPONSES.world().await;
    world.client().respond(&ask(json!([user("Look"), call, answer]))).await;
    assert_eq!(world.last_request().input()[2]["output"], parts);
}

#[tokio::test]
async fn short_forms_and_unknown_parts_are_accepted() {
    let input = json!([
        {"role": "system", "content": "Be brief."},
        {"role": "developer", "content": "Be kind.", "status": null, "id": null},
        {"role": "assistant", "content": "Hello."},
        {"role": "user", "content": [{"type": "acme:gesture", "wave": true}]},
        {"type": null, "role": "user", "content": "Hello."},
    ]);
    for mode in MODES {
        let world = RESPONSES.world().await;
        RESPONSES.answers(&world, &Answer::new(MODEL).message("Hi."));
        assert_eq!(world.client().turn(mode, &ask(input.clone())).await.text(), "Hi.");
        assert_eq!(world.last_request().input()[3]["content"], input[3]["content"]);
    }
}
