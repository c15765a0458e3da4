//! Requests that continue the state of a server.

use antiphon_client::{Request, StateError};
use antiphon_mock::Answer;
use serde_json::json;

use crate::support::{MODEL, World, client, output, user};

#[tokio::test]
async fn resent_history_is_left_out() {
    let world = World::start().await;
    world.provider.script(Answer::new(MODEL).message("Hello."));
    world.provider.script(Answer::new(MODEL).message("Fine."));
    let first = world.answer([user("Hi")]).await;

    let mut history = vec![user("Hi")];
    history.extend(first.output);
    history.push(user("How are you?"));
    let answer = world.client.respond(world.request(history)).await.unwrap();
    assert_eq!(answer.report().resent, 2);
    assert_eq!(answer.finish().await.unwrap().text(), "Fine.");

    let turns = world.provider.turns();
    assert_eq!(turns[1].input().len(), 1);
    assert_eq!(world.client.conversations().items(&world.conversation).await.unwrap().len(), 4);
    world.assert_clean();
}

#[tokio::test]
async fn known_conversation_is_not_listed_again() {
    let world = World::start().await;
    world.answer([user("One")]).await;
    let before = world.provider.requests().len();
    world.answer([user("Two")]).await;
    assert_eq!(world.provider.requests().len(), before + 1);
    world.assert_clean();
}

#[tokio::test]
async fn client_without_knowledge_lists_first() {
    let world = World::start().await;
    world.provider.script(Answer::new(MODEL).message("Hello."));
    let first = world.answer([user("Hi")]).await;

    let other = client(&world.provider);
    let items = [user("Hi")].into_iter().chain(first.output).chain([user("Again")]);
    let answer = other.respond(world.request(items)).await.unwrap();
    assert_eq!(answer.report().resent, 2);
    answer.finish().await.unwrap();
    world.assert_clean();
}

#[tokio::test]
async fn calls_are_answered_once() {
    let world = World::start().await;
    world.provider.script(Answer::new(MODEL).call("call_1", "get_weather", "{}"));
    world.provider.script(Answer::new(MODEL).message("Sunny."));
    let tool = json!({"type": "function", "name": "get_weather", "parameters": {}});
    let request = world.request([user("Weather?")]).tool(tool);
    let called = world.client.respond(request).await.unwrap().finish().await.unwrap();
    let call = called.calls().next().unwrap();
    assert_eq!(call.head().call_id.as_ref().unwrap().as_str(), "call_1");

    // The call itself is sent again, as agents do, and the output twice.
    let outputs = [call.clone(), output("call_1", "sun"), output("call_1", "sun")];
    assert_eq!(world.answer(outputs).await.text(), "Sunny.");
    assert_eq!(world.provider.turns()[1].input().len(), 1);
    world.assert_clean();
}

#[tokio::test]
async fn unanswered_call_gets_a_placeholder() {
    let world = World::start().await;
    world.provider.script(Answer::new(MODEL).call("call_1", "get_weather", "{}"));
    world.answer([user("Weather?")]).await;

    let answer = world.client.respond(world.request([user("Never mind")])).await.unwrap();
    let repairs = &answer.report().repairs;
    assert_eq!(
        repairs.iter().map(|it| (it.fault, it.action)).collect::<Vec<_>>(),
        [("unanswered_call", "answered")]
    );
    answer.finish().await.unwrap();
    world.assert_clean();
}

#[tokio::test]
async fn exact_request_is_sent_as_it_is() {
    let world = World::start().await;
    world.provider.script(Answer::new(MODEL).call("call_1", "get_weather", "{}"));
    world.answer([user("Weather?")]).await;

    let request = world.request([user("Never mind")]).exact();
    let error = world.client.respond(request).await.unwrap_err();
    assert_eq!(error.state_error(), Some(StateError::UnansweredCall("call_1".into())));
    assert_eq!(world.provider.turns()[1].input().len(), 1);

    let request = world.request([output("call_1", "sun")]).exact();
    let answered = world.client.respond(request).await.unwrap().finish().await.unwrap();
    assert!(answered.response_id.is_some());
}

#[tokio::test]
async fn items_of_exact_requests_are_known_later() {
    let world = World::start().await;
    world.answer([user("One")]).await;
    let exact = world.client.respond(world.request([user("Two")]).exact()).await.unwrap();
    let output = exact.finish().await.unwrap().output;
    let history = [user("Two")].into_iter().chain(output).chain([user("Three")]);
    let answer = world.client.respond(world.request(history)).await.unwrap();
    assert_eq!(answer.report().resent, 2);
    answer.finish().await.unwrap();
    world.assert_clean();
}

#[tokio::test]
async fn chain_continues_without_its_items() {
    let world = World::start().await;
    world.provider.script(Answer::new(MODEL).message("Hello."));
    let first = world.client.respond(Request::new(MODEL).text("Hi")).await.unwrap();
    let first = first.finish().await.unwrap();
    let id = first.response_id.unwrap();

    let items = [user("Hi")].into_iter().chain(first.output).chain([user("More")]);
    let request = Request::new(MODEL).previous_response(id.as_str()).items(items);
    let second = world.client.respond(request).await.unwrap().finish().await.unwrap();
    assert_eq!(world.provider.turns()[1].input().len(), 1);

    let last = second.response_id.unwrap();
    assert_eq!(world.client.responses().chain_items(&last).await.unwrap().len(), 4);
    world.assert_clean();
}

#[tokio::test]
async fn lost_response_is_replayed() {
    let world = World::start().await;
    world.provider.script(Answer::new(MODEL).message("Hello."));
    let first = world.client.respond(Request::new(MODEL).text("Hi")).await.unwrap();
    let id = first.finish().await.unwrap().response_id.unwrap();
    assert!(world.provider.delete_response(id.as_str()));

    let request = Request::new(MODEL).previous_response(id.as_str()).items([user("More")]);
    let error = world.client.respond(request).await.unwrap_err();
    // The items of the lost response are not in memory: only their heads are.
    assert_eq!(error.state_error(), Some(StateError::UnknownResponse));
    assert_eq!(error.rejection().unwrap().status, 400);
}
