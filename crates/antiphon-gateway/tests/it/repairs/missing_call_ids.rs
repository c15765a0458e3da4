//! Calls and outputs without a `call_id`.

use antiphon_gateway::settings::Faults;
use serde_json::{Value, json};

use crate::support::{MODES, World, ask, call, invalid, lines, output, typed_user, user, without};

const ADDED: Option<&str> = Some("missing_call_id=1");
const CALL: &str = r#"call echo {"text":"hello"}"#;

fn nameless_call() -> Value {
    without(&call("", "hello"), "call_id")
}

fn named_output() -> Value {
    output(&json!("call_1"), "hello")
}

#[tokio::test]
async fn call_takes_the_call_id_of_its_output() {
    let pair = [user("Echo hello"), nameless_call(), named_output()];
    let followed = [&pair[..], &[user("Thanks.")]].concat();
    for mode in MODES {
        for (history, end) in [(&pair[..], 3), (&followed, 4)] {
            let world = World::new().await;
            let turn = world.client().turn(mode, &ask(json!(history))).await;
            assert_eq!(turn.header("antiphon-repairs"), ADDED);
            let view = world.view(0).await;
            assert_eq!(view[..3], ["user: Echo hello", CALL, "output: hello"]);
            assert_eq!(view.len(), end);
        }
    }
}

#[tokio::test]
async fn stored_call_takes_the_call_id_of_a_later_output() {
    for mode in MODES {
        let world = World::new().await;
        let client = world.client();
        let conversation = client.new_conversation().await;
        let say = |input: Value| ask(input).within(&conversation);
        let first = json!([user("Echo hello"), nameless_call(), user("My color is purple")]);
        client.turn(mode, &say(first)).await;

        let answered = client.turn(mode, &say(json!([named_output()]))).await;

        assert_eq!(answered.header("antiphon-repairs"), ADDED);
        let outputs = |view: Vec<String>| view.into_iter().filter(|it| it.starts_with("output"));
        assert_eq!(outputs(world.view(1).await).collect::<Vec<_>>(), ["output: hello"]);
    }
}

#[tokio::test]
async fn output_takes_the_call_id_of_the_open_call() {
    let custom = json!([
        user("Echo hello"),
        {"type": "custom_tool_call", "call_id": "call_1", "name": "echo", "input": "hello"},
        {"type": "custom_tool_call_output", "output": "hello"},
    ]);
    let function =
        json!([user("Echo hello"), call("call_1", "hello"), without(&named_output(), "call_id")]);
    for mode in MODES {
        for history in [&custom, &function] {
            let world = World::new().await;
            let turn = world.client().turn(mode, &ask(history.clone())).await;
            assert_eq!(turn.header("antiphon-repairs"), ADDED);
            assert_eq!(world.view(0).await[2], "output: hello");
        }
    }
}

#[tokio::test]
async fn resent_pair_is_not_stored_again() {
    let custom = |kind: &str| json!({"type": kind, "name": "echo", "input": "hello"});
    let pairs = [
        [nameless_call(), named_output()],
        [
            custom("custom_tool_call"),
            json!({"type": "custom_tool_call_output", "call_id": "call_1", "output": "hello"}),
        ],
    ];
    for (mode, pair) in MODES.into_iter().flat_map(|mode| pairs.clone().map(|pair| (mode, pair))) {
        let world = World::new().await;
        let client = world.client();
        let conversation = client.new_conversation().await;
        let say = |input: Vec<Value>| ask(json!(input)).within(&conversation);
        let history = [&[typed_user("Echo hello")], &pair[..]].concat();
        let first = client.turn(mode, &say(history.clone())).await;

        let said = json!({"role": "assistant", "content": first.text()});
        let again = [&history[..], &[said, typed_user("Thanks.")]].concat();
        client.turn(mode, &say(again)).await;

        assert_eq!(world.view(1).await.len(), 5);
        let stored = lines(&client.items(&conversation).await);
        assert_eq!(stored.iter().filter(|line| *line == "output: hello").count(), 1);
    }
}

#[tokio::test]
async fn ambiguous_output_is_rejected() {
    let world = World::new().await;
    let expected = invalid(
        Some("input"),
        None,
        "No tool call found for function call output with call_id call_1.",
    );
    for mode in MODES {
        let input = json!([user("Echo hello"), nameless_call(), nameless_call(), named_output()]);
        assert_eq!(world.client().refused(mode, &ask(input)).await, expected);
    }
    assert_eq!(world.times_asked(), 0);
}

#[tokio::test]
async fn missing_call_id_is_rejected_if_faults_are() {
    let world = World::with(|settings| settings.faults = Faults::Reject).await;
    let message = "Missing required parameter: 'input[1].call_id'.";
    let code = Some("missing_required_parameter");
    let expected = invalid(Some("input[1].call_id"), code, message);
    for mode in MODES {
        let input = json!([user("Echo hello"), nameless_call(), named_output()]);
        assert_eq!(world.client().refused(mode, &ask(input)).await, expected);
    }
    assert_eq!(world.times_asked(), 0);
}
