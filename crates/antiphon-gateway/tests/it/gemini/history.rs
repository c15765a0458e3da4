//! Faults of histories, most of which have calls without ids.

use antiphon_gateway::settings::Faults;
use serde_json::{Value, json};

use super::{calls, client_of, generate, post, request, responses, user};
use crate::client_apis::{UPSTREAMS, world_of, world_with};
use crate::support::{MODES, Mode, lines};

const CALL: &str = r#"call echo {"text":"hello"}"#;

#[tokio::test]
async fn calls_without_ids_are_paired_in_order() {
    for (upstream, name) in UPSTREAMS {
        for mode in MODES {
            let world = world_of(upstream).await;
            let contents = json!([
                user("Echo one and two"),
                calls(&["one", "two"]),
                responses(&[(None, "first"), (None, "second")]),
                calls(&["three"]),
                responses(&[(None, "third")]),
                user("Hello")
            ]);
            let answer = generate(&client_of(&world), mode, &request(&contents)).await;
            assert_eq!(answer.header("antiphon-repairs"), None, "{name:?}");
            let sent = world.last_request();
            assert_eq!(sent.verdict, Ok(()), "{name:?}");
            let expected = [
                "user: Echo one and two",
                r#"call echo {"text":"one"}"#,
                r#"call echo {"text":"two"}"#,
                "output: first",
                "output: second",
                r#"call echo {"text":"three"}"#,
                "output: third",
                "user: Hello",
            ];
            assert_eq!(world.last_view().await, expected, "{name:?}");
        }
    }
}

/// Contents with a fault, its name in reports, and the message of Google's server for it.
fn faulty() -> [(Value, &'static str, &'static str); 3] {
    let unequal = "Please ensure that the number of function response parts is equal to the \
                   number of function call parts of the function call turn.";
    let misplaced = "Please ensure that function response turn comes immediately after a \
                     function call turn.";
    let again = json!({"role": "user", "parts": [{"functionResponse":
        {"id": "call_echo_1", "name": "echo", "response": {"output": "y"}}}]});
    [
        (json!([user("Echo x"), calls(&["x"]), user("Hello")]), "unanswered_call=1", unequal),
        (
            json!([user("Hello"), responses(&[(None, "x")]), user("Hello")]),
            "output_without_call=1",
            misplaced,
        ),
        (
            json!([user("Echo x"), calls(&["x"]), responses(&[(None, "x")]), again]),
            "duplicate_output=1",
            unequal,
        ),
    ]
}

#[tokio::test]
async fn faults_are_repaired_and_reported() {
    for (contents, fault, _) in faulty() {
        for (upstream, name) in UPSTREAMS {
            let world = world_of(upstream).await;
            let answer = generate(&client_of(&world), Mode::Whole, &request(&contents)).await;
            // An upstream may also miss the reasoning of the call.
            let repairs = answer.header("antiphon-repairs").unwrap_or_default();
            assert!(repairs.contains(fault), "{name:?}: {repairs}");
            assert_eq!(world.last_request().verdict, Ok(()), "{name:?} {fault}");
        }
    }
}

#[tokio::test]
async fn gateway_rejects_faults_in_googles_words() {
    for (upstream, name) in UPSTREAMS {
        let world = world_with(upstream, |settings| settings.faults = Faults::Reject).await;
        for (contents, fault, message) in faulty() {
            let refused =
                post(&client_of(&world), Mode::Whole, &request(&contents)).await.refused();
            let error = &refused.body["error"];
            assert_eq!(error["message"], message, "{name:?} {fault}");
            assert_eq!(error["status"], "INVALID_ARGUMENT", "{name:?} {fault}");
        }
        assert_eq!(world.times_asked(), 0);
    }
}

/// The next request of a client without ids resends the same calls.
#[tokio::test]
async fn stored_conversation_recognizes_resent_calls() {
    for (upstream, name) in UPSTREAMS {
        let world = world_of(upstream).await;
        let client = client_of(&world);
        let conversation = client.new_conversation().await;
        let named = client.clone().with_header("antiphon-conversation", &conversation);
        let mut contents = vec![user("Echo x"), calls(&["x"]), responses(&[(None, "x")])];
        generate(&named, Mode::Whole, &request(&json!(contents))).await;
        contents.push(json!({"role": "model", "parts": [{"text": "echo said: x"}]}));
        contents.push(user("Hello"));
        let answer = generate(&named, Mode::Whole, &request(&json!(contents))).await;
        assert_eq!(answer.header("antiphon-resent"), Some("4"), "{name:?}");
        assert_eq!(client.items(&conversation).await.len(), 6, "{name:?}");
    }
}

/// The model gives its call an id, and the client drops it.
#[tokio::test]
async fn stored_conversation_recognizes_the_models_call_without_its_id() {
    for (upstream, name) in UPSTREAMS {
        for mode in MODES {
            let world = world_of(upstream).await;
            let client = client_of(&world);
            let conversation = client.new_conversation().await;
            let named = client.clone().with_header("antiphon-conversation", &conversation);
            let mut contents = vec![user("Echo hello")];
            generate(&named, mode, &request(&json!(contents))).await;
            contents.extend([calls(&["hello"]), responses(&[(None, "hello")])]);
            let answer = generate(&named, mode, &request(&json!(contents))).await;
            assert_eq!(answer.header("antiphon-resent"), Some("2"), "{name:?}");
            contents.push(json!({"role": "model", "parts": [{"text": answer.text()}]}));
            contents.push(user("Echo hello"));
            generate(&named, mode, &request(&json!(contents))).await;
            contents.extend([calls(&["hello"]), responses(&[(None, "hello")])]);
            let answer = generate(&named, mode, &request(&json!(contents))).await;

            assert_eq!(answer.header("antiphon-repairs"), None, "{name:?}");
            let items = client.items(&conversation).await;
            let lines = lines(&items).into_iter().filter(|line| !line.starts_with("reasoning"));
            let said = format!("assistant: {}", answer.text());
            let turn = ["user: Echo hello", CALL, "output: hello", &*said];
            assert_eq!(lines.collect::<Vec<_>>(), [turn, turn].concat(), "{name:?} {mode:?}");
        }
    }
}

#[tokio::test]
async fn parts_that_nothing_carries_are_reported() {
    let world = world_of(UPSTREAMS[0].0).await;
    let client = client_of(&world);
    let conversation = client.new_conversation().await;
    let named = client.clone().with_header("antiphon-conversation", &conversation);
    let mut asked = request(&json!([user("Hello")]));
    asked["tools"].as_array_mut().expect("it has tools").push(json!({"googleSearch": {}}));
    asked["safetySettings"] = json!([]);
    let answer = generate(&named, Mode::Whole, &asked).await;
    assert_eq!(answer.header("antiphon-repairs"), Some("adapted_field=2"));
    let report = client.report(answer.header("antiphon-response").expect("it is stored")).await;
    let adapted = report["adapted_fields"].as_array().expect("it is a list").iter();
    let fields: Vec<&Value> = adapted.map(|field| &field["field"]).collect();
    assert_eq!(json!(fields), json!(["tools[1].googleSearch", "safetySettings"]));
}
