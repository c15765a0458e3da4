//! Fields that the Responses API does not have: upstreams may know them.

use antiphon_mock::Answer;
use serde_json::json;

use super::APIS;
use crate::support::{MODEL, MODES, ask};

#[tokio::test]
async fn unknown_fields_reach_the_upstream() {
    for dialect in APIS {
        for mode in MODES {
            let world = dialect.world().await;
            let client = world.client();
            let acme = json!({"nested": [1, 2.5, null]});

            let asked = ask("Hello").field("acme_option", acme.clone()).field("top_k", 3);
            dialect.answers(&world, &Answer::new(MODEL).message("Hi"));
            let turn = client.turn(mode, &asked).await;

            assert_eq!(turn.text(), "Hi");
            let body = world.last_request().body;
            assert_eq!((&body["acme_option"], &body["top_k"]), (&acme, &json!(3)), "{dialect:?}");
            assert_eq!(turn.header("antiphon-repairs"), None);
        }
    }
}
