//! Upstreams with other APIs.

use antiphon::dialect::UpstreamApi;
use serde::Deserialize;
use serde_json::json;
use serde_json::value::RawValue;

use crate::support::{MODES, World, ask, output};

#[derive(Deserialize)]
struct Answer {
    translation: Translation,
}

#[derive(Deserialize)]
struct Translation {
    messages: Box<RawValue>,
    tools: Box<RawValue>,
}

#[tokio::test]
async fn translation_has_the_messages_that_were_sent() {
    for api in [UpstreamApi::Chat, UpstreamApi::Anthropic] {
        for mode in MODES {
            let world = World::with(|settings| settings.upstreams[0].api = api).await;
            let client = world.client();
            let instructed = |input: serde_json::Value| ask(input).field("instructions", "Be kind");
            let called = client.turn(mode, &instructed("Echo hello".into())).await;
            let answer = json!([output(called.call_id(), "hello")]);
            let echoed = client.turn(mode, &instructed(answer).after(called.id())).await;
            let recalled = client.turn(mode, &ask("Echo two").after(echoed.id())).await;
            let turn = client.turn(mode, &instructed("Hello".into()).after(recalled.id())).await;

            let context = client.get(&format!("/v1/responses/{}/context", turn.id())).await;
            let shown: Answer = serde_json::from_slice(context.body()).expect("it is there");
            let sent: Translation =
                serde_json::from_slice(&world.last_request().raw).expect("it is there");
            assert_eq!(shown.translation.messages.get(), sent.messages.get());
            assert_eq!(shown.translation.tools.get(), sent.tools.get());
            let context = context.json();
            assert_eq!(context["exact"], true);
            assert_eq!(context["api"], api.name());
            assert_eq!(context["translation"]["system"], world.last_request().body["system"]);
        }
    }
}
