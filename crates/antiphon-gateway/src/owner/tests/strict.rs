//! Tests the reading of a strict provider's answers.

use antiphon::dialect::Vendor;
use antiphon::provider_api::Cursor;
use antiphon_mock::{InputItems, Options, Profile, StrictProvider};
use bytes::Bytes;
use http::{HeaderMap, Method};
use serde_json::{Value, json};

use super::super::Provider;
use crate::caller::Caller;
use crate::entropy::from_now;
use crate::metrics::UpstreamMetrics;
use crate::request_id::RequestId;
use crate::settings::{Preset, Secret, Settings, State, UpstreamSettings};
use crate::span::TraceSpan;
use crate::trace::SentBy;
use crate::upstream::{HttpUpstream, StateError, UpstreamError, Upstreams};

struct World {
    /// The provider stops when this is dropped.
    provider: StrictProvider,
    upstreams: Upstreams,
    caller: Caller,
}

impl World {
    async fn new(options: Options) -> Self {
        let provider = StrictProvider::with_options(options).start().await;
        let url = provider.base_url().parse().unwrap();
        let kept = UpstreamSettings { state: State::Upstream, ..UpstreamSettings::new(url, None) };
        let settings = Settings { upstreams: vec![kept], ..Settings::default() };
        let caller = Caller {
            tenant: antiphon_store::Tenant::new("alice"),
            token: Some(Secret::new("token-of-alice")),
            request_id: RequestId::issue(),
            headers: HeaderMap::new(),
            trace: TraceSpan::default(),
        };
        Self {
            provider,
            upstreams: Upstreams::new(&settings, false, &UpstreamMetrics::unread()),
            caller,
        }
    }

    async fn of(profile: Profile) -> Self {
        Self::new(Options { profile, ..Options::default() }).await
    }

    fn http(&self) -> &HttpUpstream {
        self.upstreams.for_vendor(Vendor::OpenAi).unwrap()
    }

    fn asked(&self) -> Provider<'_> {
        Provider::new(self.http(), &self.caller)
    }

    async fn post(&self, path: &str, body: &Value) -> Result<Value, UpstreamError> {
        let (body, end) = (Bytes::from(body.to_string()), from_now(self.http().retry_settings().1));
        let by = (&self.caller, SentBy::first(&self.caller.trace));
        let answer = self.http().call((Method::POST, path), body, by, end).await?;
        Ok(serde_json::from_slice(&answer).unwrap())
    }

    /// Creates a conversation with these texts as messages of the user.
    async fn conversation(&self, said: &[String]) -> String {
        let created = self.post("/conversations", &json!({})).await.unwrap();
        let id = created["id"].as_str().unwrap().to_owned();
        for said in said.chunks(20) {
            let items: Vec<Value> = said.iter().map(|text| user(text)).collect();
            let path = format!("/conversations/{id}/items");
            self.post(&path, &json!({"items": items})).await.unwrap();
        }
        id
    }

    /// The state error for a response with this input.
    async fn refusal(&self, input: Value) -> Option<StateError> {
        let body = json!({"model": "gpt-6", "input": input});
        self.post("/responses", &body).await.unwrap_err().state_error()
    }
}

fn user(text: &str) -> Value {
    json!({"type": "message", "role": "user", "content": [{"type": "input_text", "text": text}]})
}

#[tokio::test]
async fn every_profile_has_its_preset_capabilities() {
    let kinds = [
        (Profile::OpenAi, Preset::OpenAi),
        (Profile::Azure, Preset::Azure),
        (Profile::ChainsOnly, Preset::OpenResponses),
    ];
    for (profile, preset) in kinds {
        let world = World::of(profile).await;
        let found = world.http().capabilities(&world.caller).await;
        assert_eq!(found, preset.capabilities(), "{profile:?}");
        assert!(world.provider.requests().iter().all(|it| it.method == Method::GET));
    }
}

#[tokio::test]
async fn unauthorized_probe_detects_nothing() {
    let mut world = World::of(Profile::ChainsOnly).await;
    let right = world.caller.token.replace(Secret::new("sk-wrong"));
    let all = Preset::OpenAi.capabilities();
    assert_eq!(world.http().capabilities(&world.caller).await, all);
    world.caller.token = right;
    let found = world.http().capabilities(&world.caller).await;
    assert_eq!(found, Preset::OpenResponses.capabilities());
}

#[tokio::test]
async fn long_conversation_is_read_completely_in_order() {
    let world = World::of(Profile::OpenAi).await;
    let said: Vec<String> = (0..250).map(|number| format!("This is number {number}.")).collect();
    let id = world.conversation(&said).await;

    let items = world.asked().conversation_items(&id).await.unwrap();

    let texts: Vec<Value> = items
        .iter()
        .map(|item| {
            serde_json::from_slice::<Value>(item.raw()).unwrap()["content"][0]["text"].take()
        })
        .collect();
    assert_eq!(texts, said);
    let lists = world.provider.requests().iter().filter(|it| it.method == Method::GET).count();
    assert_eq!(lists, 3);
}

#[tokio::test]
async fn repeated_deletion_of_an_item_succeeds() {
    let world = World::of(Profile::OpenAi).await;
    let id = world.conversation(&["Hello.".into(), "Goodbye.".into()]).await;
    let items = world.asked().conversation_items(&id).await.unwrap();
    let first = items[0].head().id.clone().unwrap();
    let path = format!("/conversations/{id}/items/{first}");
    world.asked().ask(Method::DELETE, &path).await.unwrap();
    let again = world.asked().ask(Method::DELETE, &path).await.unwrap_err();
    assert!(again.is_missing("item", first.as_str()), "{again}");
    let left = world.asked().conversation_items(&id).await.unwrap();
    assert_eq!(left, items[1..]);
}

#[tokio::test]
async fn chained_response_is_read_with_its_predecessor() {
    for (input_items, count) in [(InputItems::Own, 1), (InputItems::All, 3)] {
        let world = World::new(Options { input_items, ..Options::default() }).await;
        let body = json!({"model": "gpt-6", "input": [user("Hello.")]});
        let first = world.post("/responses", &body).await.unwrap();
        let body = json!({
            "model": "gpt-6", "input": [user("Goodbye.")], "previous_response_id": first["id"],
        });
        let second = world.post("/responses", &body).await.unwrap();
        let id = second["id"].as_str().unwrap();

        let response = world.asked().response(id).await.unwrap();
        let path = format!("/responses/{id}/input_items");
        let input = world.asked().list(&path, Cursor::LastOfData).await.unwrap();

        assert_eq!(response.status, "completed");
        assert_eq!(response.previous.as_deref(), first["id"].as_str());
        assert_eq!(response.output.len(), second["output"].as_array().unwrap().len());
        assert_eq!(input.len(), count);
        assert!(input.last().unwrap().text().contains("Goodbye."));
    }
}

#[tokio::test]
async fn state_errors_are_recognized() {
    let world = World::of(Profile::OpenAi).await;
    let call =
        json!({"type": "function_call", "call_id": "call_1", "name": "f", "arguments": "{}"});
    let output = json!({"type": "function_call_output", "call_id": "call_1", "output": "1"});
    let unanswered = world.refusal(json!([user("Hello."), call])).await;
    assert_eq!(unanswered, Some(StateError::UnansweredCall("call_1".into())));
    let unasked = world.refusal(json!([user("Hello."), output])).await;
    assert_eq!(unasked, Some(StateError::OutputWithoutCall("call_1".into())));
    let reference = json!({"type": "item_reference", "id": "msg_1"});
    let unknown = world.refusal(json!([reference, user("Hello.")])).await;
    assert_eq!(unknown, Some(StateError::UnknownItem("msg_1".into())));

    let id = world.conversation(&["Hello.".into()]).await;
    let held = world.asked().conversation_items(&id).await.unwrap().remove(0);
    let again: Value = serde_json::from_slice(held.raw()).unwrap();
    let body = json!({"model": "gpt-6", "conversation": id, "input": [again]});
    let error = world.post("/responses", &body).await.unwrap_err();
    let held = held.head().id.as_ref().unwrap().to_string();
    assert_eq!(error.state_error(), Some(StateError::DuplicateItem(held)));

    let body = json!({"model": "gpt-6", "input": "Hi", "previous_response_id": "resp_1"});
    let error = world.post("/responses", &body).await.unwrap_err();
    assert_eq!(error.state_error(), Some(StateError::UnknownResponse));
}
