//! `generate: false`: the next turn is prepared.

use serde_json::json;

use crate::support::{Ask, SIM, World, ask, create};

fn preparation(text: &str) -> Ask {
    ask(text).field("generate", false)
}

#[tokio::test]
async fn preparation_gives_an_empty_response() {
    let world = World::new().await;
    let mut socket = world.client().socket().await;
    for unstored in [false, true] {
        let kept = |ask: Ask| if unstored { ask.unstored() } else { ask };
        let asked = world.times_asked();

        let warm = socket.turn(&kept(preparation("My color is purple"))).await;
        assert_eq!((warm.status(), warm.output().len()), ("completed", 0));
        assert_eq!(world.times_asked(), asked, "no model was asked");
        let turn = socket.turn(&kept(ask(json!([])).after(warm.id()))).await;

        assert_eq!(turn.status(), "completed");
        assert_eq!(world.last_view().await, ["user: My color is purple"]);
        let names: Vec<&str> = warm.events.iter().map(|event| event.name.as_str()).collect();
        assert_eq!(names, ["response.created", "response.in_progress", "response.completed"]);
    }
}

#[tokio::test]
async fn invalid_preparation_is_rejected() {
    let world = World::new().await;
    let mut socket = world.client().socket().await;

    socket.send(&create(&ask("Hello").field("generate", "no"))).await;
    assert_eq!(socket.refused().await.1["param"], "generate");
    socket.send(&create(&preparation("Hello").after("resp_unknown"))).await;
    assert_eq!(socket.refused().await.1["code"], "previous_response_not_found");
}

#[tokio::test]
async fn preparation_is_not_sent_to_the_model() {
    let world = World::new().await;
    let mut socket = world.client().socket().await;

    socket.turn(&ask("Hello").field("generate", true).field("stream_id", "main")).await;

    let body = world.last_request().body;
    for field in ["generate", "stream_id", "type"] {
        assert!(body.get(field).is_none(), "{field} is in {body}");
    }
    assert_eq!(body["stream"], true);
    let sim = socket.turn(&preparation("Hello").model(SIM)).await;
    assert_eq!(sim.output().len(), 0);
}
