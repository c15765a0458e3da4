//! Servers of Chat Completions and of Anthropic's Messages.

use antiphon::Item;
use antiphon_client::{Answered, Client, EventKind, Request, UpstreamApi};
use antiphon_mock::{Answer, Api, Reply};
use antiphon_testkit::FakeUpstream;
use serde_json::json;

use crate::support::{output, user};

const APIS: [(UpstreamApi, Api); 2] =
    [(UpstreamApi::Chat, Api::Chat), (UpstreamApi::Anthropic, Api::Anthropic)];

async fn upstream(api: UpstreamApi) -> (FakeUpstream, Client) {
    let upstream = FakeUpstream::start().await;
    let client = Client::new(upstream.base_url()).with_key("sk-test").with_api(api);
    (upstream, client)
}

fn request(model: &str, items: Vec<Item>) -> Request {
    let parameters = json!({"type": "object", "properties": {}});
    let tool = json!({"type": "function", "name": "f", "parameters": parameters});
    Request::new(model).instructions("Be brief.").items(items).tool(tool)
}

fn script(upstream: &FakeUpstream, api: Api, answer: &Answer) {
    let frames = match api {
        Api::Chat => answer.chat().with_usage().frames(),
        api => answer.frames_for(api),
    };
    upstream.script(Reply::sse(frames));
}

async fn answer(client: &Client, items: Vec<Item>) -> Answered {
    let answer = client.respond(request("think-1", items)).await.expect("it is accepted");
    answer.finish().await.expect("the answer is whole")
}

#[tokio::test]
async fn tools_and_reasoning_round_trip() {
    for (api, mock) in APIS {
        let (upstream, client) = upstream(api).await;
        let called = Answer::new("think-1").reasoning("Hm.").call("call_1", "f", "{}");
        script(&upstream, mock, &called);
        script(&upstream, mock, &Answer::new("think-1").message("Done."));

        let first = answer(&client, vec![user("Go")]).await;
        assert_eq!(first.response_id, None);
        assert_eq!(first.calls().count(), 1);
        assert!(first.usage.total_tokens > 0, "{api}");

        let call = first.calls().next().unwrap();
        let call_id = call.head().call_id.clone().unwrap();
        let history: Vec<Item> = [user("Go")]
            .into_iter()
            .chain(first.output)
            .chain([output(call_id.as_str(), "ok")])
            .collect();
        assert_eq!(answer(&client, history).await.text(), "Done.");
        let sent = upstream.requests()[1].body.to_string();
        assert!(sent.contains("Hm."), "{api}: {sent}");
        assert_eq!(upstream.refusals(), [], "{api}");
    }
}

#[tokio::test]
async fn text_arrives_in_deltas() {
    for (api, mock) in APIS {
        let (upstream, client) = upstream(api).await;
        script(&upstream, mock, &Answer::new("m").message("One two three."));
        let mut answer = client.respond(request("m", vec![user("Go")])).await.unwrap();
        let (mut text, mut deltas) = (String::new(), 0);
        while let Some(event) = answer.next().await {
            if let EventKind::TextDelta(_, delta) = event.unwrap().into_kind() {
                text += &delta;
                deltas += 1;
            }
        }
        assert_eq!(text, "One two three.");
        assert!(deltas > 1);
    }
}

#[tokio::test]
async fn unanswered_call_is_repaired_before_it_is_sent() {
    for (api, mock) in APIS {
        let (upstream, client) = upstream(api).await;
        script(&upstream, mock, &Answer::new("m").message("Hi."));
        let call = antiphon::item::given::call("call_1", "{}");
        let answer = client.respond(request("m", vec![user("Go"), call, user("Stop")])).await;
        let answer = answer.unwrap();
        assert_eq!(answer.report().repairs[0].fault, "unanswered_call");
        answer.finish().await.unwrap();
        assert_eq!(upstream.refusals(), [], "{api}");
    }
}

#[tokio::test]
async fn broken_stream_is_an_error() {
    for (api, mock) in APIS {
        let (upstream, client) = upstream(api).await;
        let frames = Answer::new("m").message("One two three.").frames_for(mock);
        let cut = frames.len() - 3;
        upstream.script(Reply::sse(frames).break_after(cut));
        let answer = client.respond(request("m", vec![user("Go")])).await.unwrap();
        let error = answer.finish().await.unwrap_err();
        assert!(error.has_emitted_output() && error.may_have_arrived(), "{api}: {error:?}");
    }
}

#[tokio::test]
async fn server_state_is_a_clear_error() {
    for (api, _) in APIS {
        let (upstream, client) = upstream(api).await;
        let stateful = request("m", vec![user("Go")]).conversation("conv_1");
        let error = client.respond(stateful).await.unwrap_err();
        let text = error.to_string();
        assert!(
            text.contains("stores no conversations") && text.contains("conversation"),
            "{text}"
        );
        assert!(!error.may_have_arrived());
        client.conversations().create(&[]).await.unwrap_err();
        client.responses().retrieve(&"resp_1".into()).await.unwrap_err();
        assert_eq!(upstream.requests().len(), 0);
    }
}
