//! Upstreams of other APIs, which compact nothing by themselves.

use antiphon::dialect::UpstreamApi;
use antiphon_mock::{Answer, Api, Reply};
use serde_json::json;

use super::automatic::with_auto_compaction;
use super::{SUMMARY, compacted, output_of, summary_message};
use crate::support::{MODEL, MODES, World, ask, lines, user};

const APIS: [(UpstreamApi, Api); 2] =
    [(UpstreamApi::Chat, Api::Chat), (UpstreamApi::Anthropic, Api::Anthropic)];

async fn world(dialect: UpstreamApi) -> World {
    World::with(|settings| settings.upstreams[0].api = dialect).await
}

fn script_summary(world: &World, api: Api) {
    world.script(Reply::sse(Answer::new(MODEL).message(SUMMARY).frames_for(api)));
}

#[tokio::test]
async fn other_dialects_write_and_receive_the_summary() {
    for (dialect, api) in APIS {
        let world = world(dialect).await;
        let client = world.client();
        script_summary(&world, api);
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
async fn history_of_a_turn_is_compacted_in_every_dialect() {
    for (dialect, api) in APIS {
        for mode in MODES {
            let world = world(dialect).await;
            let client = world.client();
            let first = client.turn(mode, &ask("My color is purple. ".repeat(400))).await;
            script_summary(&world, api);

            let turn = client
                .turn(mode, &with_auto_compaction(ask("What is my color?").after(first.id())))
                .await;

            assert_eq!(lines(turn.output()), ["compaction", "assistant: purple"], "{api:?}");
            let reply = world.last_view().await.join("\n");
            assert!(reply.contains(&summary_message(SUMMARY)["user: ".len()..]), "{reply}");
            assert!(reply.ends_with("What is my color?"), "{reply}");
            assert!(!reply.contains("Noted."), "{reply}");
        }
    }
}

#[tokio::test]
async fn trigger_only_compacts_in_every_dialect() {
    for (dialect, api) in APIS {
        for mode in MODES {
            let world = world(dialect).await;
            let client = world.client();
            script_summary(&world, api);
            let input = json!([user("My color is purple"), {"type": "compaction_trigger"}]);
            let turn = client.turn(mode, &ask(input)).await;
            assert_eq!(lines(turn.output()), ["compaction"], "{api:?}");
            assert_eq!(world.times_asked(), 1);
        }
    }
}
