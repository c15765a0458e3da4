//! `include`: what an answer holds besides.

use antiphon_mock::Answer;
use serde_json::{Value, json};

use super::{APIS, CHAT};
use crate::support::{MODEL, MODES, Refused, World, ask, invalid, list};

const INCLUDABLE: [&str; 8] = [
    "file_search_call.results",
    "web_search_call.results",
    "web_search_call.action.sources",
    "message.input_image.image_url",
    "computer_call_output.output.image_url",
    "code_interpreter_call.outputs",
    "reasoning.encrypted_content",
    "message.output_text.logprobs",
];

fn unknown(param: &str, value: &str) -> Refused {
    let message = format!(
        "Invalid value: '{value}'. Supported values are: 'file_search_call.results', \
         'web_search_call.results', 'web_search_call.action.sources', \
         'message.input_image.image_url', 'computer_call_output.output.image_url', \
         'code_interpreter_call.outputs', 'reasoning.encrypted_content', and \
         'message.output_text.logprobs'."
    );
    invalid(Some(param), Some("invalid_value"), &message)
}

#[tokio::test]
async fn every_include_value_is_accepted() {
    for mode in MODES {
        let world = World::new().await;
        let client = world.client();

        let turn = client.turn(mode, &ask("Echo hello").field("include", json!(INCLUDABLE))).await;

        let asked = world.request(0).await.body["include"].clone();
        assert!(INCLUDABLE.iter().all(|it| list(&asked).contains(&json!(it))), "{asked}");
        assert!(turn.item("reasoning")["encrypted_content"].is_string());
        let query: Vec<String> = INCLUDABLE.iter().map(|it| format!("include[]={it}")).collect();
        let path = format!("/v1/responses/{}", turn.id());
        let shown = client.get(&format!("{path}?{}", query.join("&"))).await.json();
        assert_eq!(shown["output"], turn.response["output"]);
        client.get(&format!("{path}/input_items?{}", query.join("&"))).await.json();
    }
}

#[tokio::test]
async fn unknown_include_is_rejected_with_the_list() {
    for mode in MODES {
        let world = World::new().await;
        let client = world.client();
        let conversation = client.new_conversation().await;
        let turn = client.turn(mode, &ask("Hello")).await;

        let asked = json!(["reasoning.encrypted_content", "reasoning.thoughts"]);
        let refused = client.refused(mode, &ask("Hello").field("include", asked)).await;

        assert_eq!(refused, unknown("include[1]", "reasoning.thoughts"));
        for path in [
            format!("responses/{}", turn.id()),
            format!("responses/{}/input_items", turn.id()),
            format!("conversations/{conversation}/items"),
        ] {
            let answer = client.get(&format!("/v1/{path}?include[]=thoughts")).await;
            assert_eq!(answer.refused(), unknown("include", "thoughts"), "{path}");
        }
        assert_eq!(world.times_asked(), 1);
    }
}

#[tokio::test]
async fn include_shows_encrypted_reasoning() {
    for mode in MODES {
        let world = World::new().await;
        let client = world.client();
        let plain = client.turn(mode, &ask("Echo hello")).await;
        assert_eq!(plain.item("reasoning")["encrypted_content"], Value::Null);
        let path = format!("/v1/responses/{}", plain.id());

        let shown = client.get(&format!("{path}?include[]=reasoning.encrypted_content")).await;

        let [reasoning, _] = list(&shown.json()["output"]).to_vec().try_into().unwrap();
        assert!(reasoning["encrypted_content"].is_string(), "{reasoning}");
    }
}

#[tokio::test]
async fn logprobs_use_the_fields_of_the_api() {
    let world = CHAT.world().await;
    let asked = ask("Hello").field("include", json!(["message.output_text.logprobs"]));
    world.client().respond(&asked.field("top_logprobs", 3)).await;
    let body = world.last_request().body;
    assert_eq!((&body["logprobs"], &body["top_logprobs"]), (&json!(true), &json!(3)));
}

#[tokio::test]
async fn unsupported_include_is_reported() {
    for dialect in &APIS[1..] {
        let world = dialect.world().await;
        let client = world.client();
        let asked = ask("Hello").field("include", json!(["file_search_call.results"]));
        let turn = client.respond(&asked).await;
        let report = client.report(turn.id()).await;
        assert_eq!(report["adapted_fields"][0]["field"], "include[0]", "{dialect:?}");
    }
}

/// A chunk of Chat Completions that says one token, and how likely it was.
fn chunk(token: &str, bytes: &Value) -> String {
    let other = json!({"token": "Hi", "logprob": -2.5, "bytes": null});
    let logprob =
        json!({"token": token, "logprob": -0.25, "bytes": bytes, "top_logprobs": [other]});
    let choice = json!({
        "index": 0,
        "delta": {"content": token},
        "logprobs": {"content": [logprob], "refusal": null},
    });
    format!("data: {}\n\n", json!({"id": "c", "model": "fake-model", "choices": [choice]}))
}

/// The same token as the Responses API has it.
fn token(token: &str) -> Value {
    let other = json!({"token": "Hi", "logprob": -2.5, "bytes": [72, 105]});
    json!({
        "token": token,
        "logprob": -0.25,
        "bytes": token.as_bytes(),
        "top_logprobs": [other],
    })
}

#[tokio::test]
async fn logprobs_are_converted_to_responses() {
    for mode in MODES {
        let world = CHAT.world().await;
        let client = world.client();
        let answer = Answer::new(MODEL)
            .raw(chunk("Hello", &Value::Null))
            .raw(chunk(" ü", &json!([32, 195, 188])));
        CHAT.answers(&world, &answer);
        let asked = ask("Hello").field("include", json!(["message.output_text.logprobs"]));

        let turn = client.turn(mode, &asked.field("top_logprobs", 1)).await;

        let tokens = json!([token("Hello"), token(" ü")]);
        assert_eq!(turn.text(), "Hello ü");
        assert_eq!(turn.item("message")["content"][0]["logprobs"], tokens);
        assert_eq!(client.stored_response(turn.id()).await["output"], turn.response["output"]);
        let of = |name: &'static str| turn.events.iter().filter(move |event| event.name == name);
        let deltas: Vec<&Value> =
            of("response.output_text.delta").map(|event| &event.json["logprobs"]).collect();
        let expected: Vec<Value> = [json!([token("Hello")]), json!([token(" ü")])].into();
        assert!(turn.events.is_empty() || deltas == expected.iter().collect::<Vec<_>>());
        assert!(of("response.output_text.done").all(|event| event.json["logprobs"] == tokens));
    }
}
