//! A caller that every request of reaches another gateway notices nothing of it.

use serde_json::json;

use crate::support::{MODES, World, ask, output};

#[tokio::test]
async fn a_conversation_goes_on_wherever_a_request_comes_in() {
    for replicas in [2, 3] {
        let world = World::replicas(replicas).await;
        let client = world.client();
        for mode in MODES {
            let conversation = client.new_conversation().await;
            let say = |text: &str| ask(text).within(&conversation);
            client.turn(mode, &say("My color is purple")).await;
            let called = client.turn(mode, &say("Echo hello")).await;
            let result = ask(json!([output(called.call_id(), "hello")])).within(&conversation);
            let echoed = client.turn(mode, &result).await;
            assert_eq!(echoed.text(), "echo said: hello");
            assert_eq!(client.turn(mode, &say("What is my color?")).await.text(), "purple");
            assert_eq!(client.items(&conversation).await.len(), 9);
        }
        assert_eq!(world.upstream.refusals(), []);
    }
}
