//! Upstreams of other APIs, which compact nothing by themselves.

use antiphon::dialect::UpstreamApi;
use antiphon_mock::{Answer, Api, Reply};
use serde_json::json;

use super::automatic::wish;
use super::{SUMMARY, compacted, output_of, receive};
use crate::support::{MODEL, MODES, World, ask, lines, user};

const APIS: [(UpstreamApi, Api); 2] =
    [(UpstreamApi::Chat, Api::Chat), (UpstreamApi::Anthropic, Api::Anthropic)];

async fn world(dialect: UpstreamApi) -> World {
    World::with(|settings| settings.upstreams[0].api = dialect).await
}

fn summarizing(world: &World, api: Api) {
    world.script(Reply::sse(Answer::new(MODEL).message(SUMMARY).frames_for(api)));
}

#[tokio::test]
async fn other_dialects_write_and_receive_the_summary() {
    for (dialect, api) in APIS {
        let world = world(dialect).await;
        let client = world.client();
        summarizing(&world, api);
        let history = json!([
            user("My color is purple."),
            {"type": "function_call", "call_id": "call_1", "name": "echo", "arguments": "{}"},
            {"type": "function_call_output", "call_id": "call_1", "output": "hello"},
        ]);
        let mut input = output_of(&compacted(&client, &ask(history)).await);
        assert_eq!(world.last_request().path, api.path());
        input.push(user("What is my color?"));

        let turn = client.respond(&ask(input)).await;

        assert_eq!(turn.text(), "purple", "{api:?}");
        let reply = world.last_view().await.join("\n");
        assert!(reply.contains(SUMMARY) && reply.contains("My color is purple"), "{reply}");
    }
}

#[tokio::test]
async fn a_turns_history_is_compacted_on_the_way() {
    for (dialect, api) in APIS {
        for mode in MODES {
            let world = world(dialect).await;
            let client = world.client();
            let first = client.turn(mode, &ask("My color is purple. ".repeat(400))).await;
            summarizing(&world, api);

            let turn = client.turn(mode, &wish(ask("What is my color?").after(first.id()))).await;

            assert_eq!(lines(turn.output()), ["compaction", "assistant: purple"], "{api:?}");
            let reply = world.last_view().await.join("\n");
            assert!(reply.contains(&receive(SUMMARY)["user: ".len()..]), "{reply}");
            assert!(reply.ends_with("What is my color?"), "{reply}");
            assert!(!reply.contains("Noted."), "{reply}");
        }
    }
}

#[tokio::test]
async fn a_trigger_compacts_and_asks_nothing_else() {
    for (dialect, api) in APIS {
        for mode in MODES {
            let world = world(dialect).await;
            let client = world.client();
            summarizing(&world, api);
            let input = json!([user("My color is purple"), {"type": "compaction_trigger"}]);
            let turn = client.turn(mode, &ask(input)).await;
            assert_eq!(lines(turn.output()), ["compaction"], "{api:?}");
            assert_eq!(world.times_asked(), 1);
        }
    }
}
