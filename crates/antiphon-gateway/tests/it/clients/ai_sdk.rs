//! The AI SDK: users by their role alone, assistants dropped or referred to.

use serde_json::{Value, json};

use crate::support::{MODES, World, ask, call_again, lines, output, reference, user};

#[tokio::test]
async fn tool_loop_resends_the_user_message() {
    for mode in MODES {
        let world = World::new().await;
        let client = world.client();
        let conversation = client.new_conversation().await;
        let say = |input: Value| ask(input).within(&conversation);
        let called = client.turn(mode, &say(json!([user("Echo hello")]))).await;

        let answer = output(called.call_id(), "hello");
        let loop_step = json!([user("Echo hello"), answer]);
        let echoed = client.turn(mode, &say(loop_step)).await;

        assert_eq!(echoed.text(), "echo said: hello");
        assert_eq!(echoed.header("antiphon-resent"), Some("1"));
        assert_eq!(
            world.view(1).await,
            ["user: Echo hello", "reasoning", r#"call echo {"text":"hello"}"#, "output: hello"]
        );

        let full = json!([user("Echo hello"), answer, user("What is my color?")]);
        let next = client.turn(mode, &say(full)).await;
        assert_eq!(next.header("antiphon-resent"), Some("2"));
        assert_eq!(world.view(2).await.len(), 6);
    }
}

#[tokio::test]
async fn consecutive_user_messages_are_recognized() {
    for mode in MODES {
        let world = World::new().await;
        let client = world.client().named_ai_sdk();
        let conversation = client.new_conversation().await;
        let received = [user("My color is purple"), user("My dog is Biscuit")];
        let question = user("What is my color and my dog?");
        let say = |input: &[Value]| ask(input.to_vec()).within(&conversation);

        client.turn(mode, &say(&received[..1])).await;
        client.turn(mode, &say(&received)).await;
        let recalled = client.turn(mode, &say(&[&received[..], &[question]].concat())).await;

        assert_eq!(recalled.text(), "purple, Biscuit");
        assert_eq!(recalled.header("antiphon-resent"), Some("2"));
        assert_eq!(
            world.view(2).await,
            [
                "user: My color is purple",
                "assistant: Noted.",
                "user: My dog is Biscuit",
                "assistant: Noted.",
                "user: What is my color and my dog?",
            ]
        );
    }
}

#[tokio::test]
async fn tool_loop_forks_from_the_older_response() {
    for mode in MODES {
        let world = World::new().await;
        let client = world.client();
        let received = client.turn(mode, &ask(json!([user("My color is purple")]))).await;
        let behind = |input: Value| ask(input).after(received.id());
        let called = client.turn(mode, &behind(json!([user("Echo hello")]))).await;

        let call = call_again(called.item("function_call"));
        let answer = output(called.call_id(), "hello");
        let branch = behind(json!([user("Echo hello"), call, answer]));
        let echoed = client.turn(mode, &branch).await;

        assert_eq!(echoed.text(), "echo said: hello");
        assert_eq!(echoed.header("antiphon-resent"), Some("0"));
        assert_eq!(
            world.view(2).await,
            [
                "user: My color is purple",
                "assistant: Noted.",
                "user: Echo hello",
                r#"call echo {"text":"hello"}"#,
                "output: hello",
            ]
        );
    }
}

#[tokio::test]
async fn equal_messages_in_a_branch_are_both_sent() {
    let world = World::new().await;
    let client = world.client();
    let first = client.respond(&ask(json!([user("Yes")]))).await;

    client.respond(&ask(json!([user("Yes")])).after(first.id())).await;

    assert_eq!(world.view(1).await, ["user: Yes", "assistant: Noted.", "user: Yes"]);
}

#[tokio::test]
async fn replay_refers_to_the_assistants_items() {
    for mode in MODES {
        let world = World::new().await;
        let client = world.client();
        let received = client.turn(mode, &ask(json!([user("My color is purple")]))).await;

        let message = reference(&received.item("message")["id"]);
        let replay = ask(json!([user("My color is purple"), message, user("What is my color?")]));
        let recalled = client.turn(mode, &replay).await;

        assert_eq!(recalled.text(), "purple");
        let request = world.request(1).await;
        assert_eq!(request.verdict, Ok(()));
        assert_eq!(
            lines(request.input()),
            ["user: My color is purple", "assistant: Noted.", "user: What is my color?"]
        );
        assert_eq!(request.input()[1], *received.item("message"));
    }
}

#[tokio::test]
async fn replay_after_the_response_adds_only_new_items() {
    for mode in MODES {
        let world = World::new().await;
        let client = world.client();
        let received = client.turn(mode, &ask(json!([user("My color is purple")]))).await;

        let message = reference(&received.item("message")["id"]);
        let replay = json!([user("My color is purple"), message, user("What is my color?")]);
        let recalled = client.turn(mode, &ask(replay).after(received.id())).await;

        assert_eq!(recalled.header("antiphon-resent"), Some("2"));
        assert_eq!(
            world.view(1).await,
            ["user: My color is purple", "assistant: Noted.", "user: What is my color?"]
        );
    }
}

#[tokio::test]
async fn references_resolve_across_responses() {
    for mode in MODES {
        let world = World::new().await;
        let client = world.client();
        let mut history = vec![user("Echo hello")];
        let called = client.turn(mode, &ask(history.clone())).await;
        history.push(reference(&called.item("reasoning")["id"]));
        history.push(call_again(called.item("function_call")));
        history.push(output(called.call_id(), "hello"));
        let echoed = client.turn(mode, &ask(history.clone())).await;
        history.push(reference(&echoed.item("message")["id"]));
        history.push(user("What is my color?"));

        client.turn(mode, &ask(history)).await;

        assert_eq!(
            world.view(2).await,
            [
                "user: Echo hello",
                "reasoning",
                r#"call echo {"text":"hello"}"#,
                "output: hello",
                "assistant: echo said: hello",
                "user: What is my color?",
            ]
        );
    }
}
