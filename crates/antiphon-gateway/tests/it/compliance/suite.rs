//! The requests of the specification's acceptance tests, and what they expect of the answers: on
//! the built-in model as it is, and on an upstream of each API.

use antiphon_mock::{Answer, Reply};
use serde_json::{Value, json};

use super::{APIS, streamed, world_of};
use crate::support::{Ask, Event, MODEL, MODES, Mode, PLAIN, SIM, Turn, World, ask, text};

/// A red square on a white background, 24 pixels wide and high.
const SQUARE: &str = concat!(
    "data:image/png;base64,",
    "iVBORw0KGgoAAAANSUhEUgAAABgAAAAYCAMAAADXqc3KAAAABlBMVEXQECD///93NbtOAAAAGUlEQVR4",
    "2mNgxAEYqCzBgAZGJQZWgsZxDgB5ZwFBmIoQuAAAAABJRU5ErkJggg==",
);

fn asked(model: &str, input: Value) -> Ask {
    ask(input).model(model).field("tools", json!([]))
}

fn message(role: &str, text: &str) -> Value {
    json!({"type": "message", "role": role, "content": text})
}

fn weather(model: &str) -> Ask {
    let location = json!({
        "type": "string", "description": "A city and its state, such as Boston, MA",
    });
    let parameters =
        json!({"type": "object", "properties": {"location": location}, "required": ["location"]});
    let tool = json!({
        "type": "function", "name": "get_weather",
        "description": "Tells how the weather is at a place", "parameters": parameters,
    });
    let question = message("user", "How is the weather in San Francisco?");
    asked(model, json!([question])).field("tools", json!([tool]))
}

/// Asks every upstream, in both modes, what needs an answer of any kind.
async fn answers(input: Value) -> Vec<Turn> {
    let mut turns = Vec::new();
    for (dialect, _) in APIS {
        let world = world_of(dialect).await;
        for model in [SIM, PLAIN] {
            for mode in MODES {
                let turn = world.client().turn(mode, &asked(model, input.clone())).await;
                assert_eq!(turn.status(), "completed");
                assert!(!turn.output().is_empty());
                turns.push(turn);
            }
        }
    }
    turns
}

/// Asks the built-in model for a text.
async fn reply(ask: Ask) -> String {
    World::new().await.client().respond(&ask).await.text().to_owned()
}

#[tokio::test]
async fn text_question_is_answered() {
    answers(json!([message("user", "Greet me in three words.")])).await;
}

#[tokio::test]
async fn counting_is_streamed_in_deltas() {
    for turn in answers(json!([message("user", "Count from 1 to 5.")])).await {
        let deltas = turn.events.iter().filter(|it| it.name == "response.output_text.delta");
        assert!(turn.events.is_empty() || deltas.count() > 0);
    }
    let counted = reply(asked(SIM, "Count from 1 to 5.".into())).await;
    assert_eq!(counted, "1, 2, 3, 4, 5");
}

#[tokio::test]
async fn system_prompt_is_obeyed() {
    let system = message("system", "You are a pirate. Speak as pirates do.");
    let input = json!([system, message("user", "Greet me.")]);
    answers(input.clone()).await;
    let spoken = reply(asked(SIM, input)).await;
    assert!(spoken.starts_with("Arr"), "{spoken}");
}

fn assert_calls_the_weather(turn: &Turn) {
    let call = turn.item("function_call");
    assert_eq!(call["name"], "get_weather");
    let arguments: Value = serde_json::from_str(text(&call["arguments"])).expect("they are JSON");
    assert_eq!(arguments, json!({"location": "San Francisco"}));
}

#[tokio::test]
async fn tool_is_called() {
    for mode in MODES {
        let turn = World::new().await.client().turn(mode, &weather(SIM)).await;
        assert_calls_the_weather(&turn);
    }
    for (dialect, api) in APIS {
        for mode in MODES {
            let world = world_of(dialect).await;
            let arguments = r#"{"location":"San Francisco"}"#;
            let answer = Answer::new(MODEL).call("call_1", "get_weather", arguments);
            world.script(streamed(api, &answer));
            assert_calls_the_weather(&world.client().turn(mode, &weather(MODEL)).await);
        }
    }
}

#[tokio::test]
async fn tool_call_is_streamed() {
    let turn = World::new().await.client().turn(Mode::Streamed, &weather(SIM)).await;
    let of = |name: &str| -> Vec<&Event> {
        turn.events.iter().filter(|event| event.name == name).collect()
    };
    let calls = |events: Vec<&Event>| {
        events.iter().filter(|event| event.json["item"]["type"] == "function_call").count()
    };
    assert_eq!(calls(of("response.output_item.added")), 1);
    assert!(!of("response.function_call_arguments.delta").is_empty());
    assert_eq!(of("response.function_call_arguments.done").len(), 1);
    assert_eq!(calls(of("response.output_item.done")), 1);
}

#[tokio::test]
async fn tool_result_is_answered() {
    let world = World::new().await;
    let called = world.client().respond(&weather(SIM)).await;
    let result = json!([{
        "type": "function_call_output", "call_id": called.call_id(), "output": "64°F and clear",
    }]);
    let received = world.client().respond(&asked(SIM, result).after(called.id())).await;
    assert!(received.text().contains("64°F and clear"), "{}", received.text());
}

#[tokio::test]
async fn image_is_described() {
    let input = json!([{"type": "message", "role": "user", "content": [
        {"type": "input_text", "text": "What is in this picture?"},
        {"type": "input_image", "image_url": SQUARE},
    ]}]);
    answers(input.clone()).await;
    let seen = reply(asked(SIM, input)).await;
    assert!(seen.contains("image/png") && seen.contains("24×24"), "{seen}");
}

#[tokio::test]
async fn earlier_turns_of_the_input_are_remembered() {
    let input = json!([
        message("user", "My name is Nora."),
        message("assistant", "Good to know you, Nora."),
        message("user", "What is my name?"),
    ]);
    answers(input.clone()).await;
    assert!(reply(asked(SIM, input)).await.contains("Nora"));
}

/// Phases of what an assistant said earlier are taken, and reach a provider that knows them.
#[tokio::test]
async fn phases_of_messages_are_forwarded() {
    let phased = |phase: &str, text: &str| {
        json!({"type": "message", "role": "assistant",
            "phase": phase, "content": text})
    };
    let input = json!([
        phased("commentary", "I look the number up."),
        phased("final_answer", "It is four."),
        message("user", "Say the number once more, and nothing else."),
    ]);
    answers(input.clone()).await;
    let world = World::new().await;

    world.client().respond(&asked(PLAIN, input.clone())).await;
    let sent = world.request(0).await.items();
    assert_eq!(
        (&sent[0]["phase"], &sent[1]["phase"]),
        (&json!("commentary"), &json!("final_answer"))
    );

    let turn = world.client().turn(Mode::Streamed, &asked(SIM, input)).await;
    assert_eq!(turn.item("message")["phase"], "final_answer");
    assert_eq!(
        world.client().stored_response(turn.id()).await["output"][0]["phase"],
        "final_answer"
    );
}

#[tokio::test]
async fn phases_of_an_answer_are_unchanged() {
    let message = |id: &str, phase: &str| {
        json!({
            "type": "message", "id": id, "status": "completed", "role": "assistant",
            "phase": phase,
            "content": [{"type": "output_text", "text": phase, "annotations": [], "logprobs": []}],
        })
    };
    let output = [message("msg_1", "commentary"), message("msg_2", "final_answer")];
    for mode in MODES {
        let world = World::new().await;
        let answer = Answer::new(MODEL).item(output[0].clone()).item(output[1].clone());
        world.script(Reply::sse(answer.frames()));
        let turn = world.client().turn(mode, &asked(MODEL, "Hello".into())).await;
        assert_eq!(turn.output(), output);
    }
}

#[tokio::test]
async fn exact_reply_is_given() {
    for (text, word) in [
        ("Reply with exactly: first", "first"),
        ("The password is cobalt. Reply with OK.", "OK"),
        ("Go on from here. Reply with exactly: compacted", "compacted"),
    ] {
        assert_eq!(reply(asked(SIM, text.into())).await, word);
    }
    let world = World::new().await;
    let received = world.client().respond(&asked(SIM, "The password is cobalt.".into())).await;
    let question = "What is the password? Reply with only the password.";
    let recalled = world.client().respond(&asked(SIM, question.into()).after(received.id())).await;
    assert!(recalled.text().contains("cobalt"), "{}", recalled.text());
}
