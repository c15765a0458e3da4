//! Tenants that share the operator's account with a provider: to each of them exists what it began,
//! and nothing else.

use std::future::pending;
use std::sync::Arc;

use antiphon_gateway::serve;
use antiphon_gateway::settings::{ApiKey, Secret, Settings};
use antiphon_mock::Recorded;
use antiphon_store::{LedgerSubject, SqliteStore, Store, Tenant};
use http::{HeaderMap, StatusCode, header};
use http_body_util::BodyExt as _;
use serde_json::json;
use tokio::net::TcpListener;

use super::attempts::{Attempt, attempts};
use super::belongings::Ids;
use crate::support::{Client, Mode, Roots, ask, not_found, reference, soon, text, typed_user};
use crate::upstream_state::world::World;

const ACME: (&str, &str) = ("sk-of-acme", "acme");
const UMBRELLA: (&str, &str) = ("sk-of-umbrella", "umbrella");

fn shared(settings: &mut Settings) {
    let keys = [ACME, UMBRELLA].map(|(key, tenant)| ApiKey::new(key, Tenant::new(tenant)));
    settings.api_keys = keys.to_vec();
    settings.upstreams[0].key = Some(Secret::new("sk-of-the-operator"));
}

/// A turn of a conversation, with a message and a call.
async fn held(world: &World, client: &Client) -> Ids {
    let call = format!("call_{:010}", world.provider.requests().len());
    let answer = antiphon_mock::Answer::new(crate::support::MODEL);
    let answer = answer.message("Let me see.").call(&call, "echo", r#"{"text":"hello"}"#);
    world.provider.script(answer);
    let conversation = client.new_conversation().await;
    let turn = client.respond(&ask("My color is purple").within(&conversation)).await;
    Ids {
        conversation,
        response: turn.id().to_owned(),
        item: text(&turn.item("message")["id"]).to_owned(),
        call,
    }
}

/// What a caller sees of an answer, but for its date and the ids that it is about.
#[derive(Debug, PartialEq)]
struct VisibleAnswer {
    status: StatusCode,
    headers: HeaderMap,
    body: String,
}

async fn visible_answer(client: &Client, attempt: &Attempt, about: [&Ids; 2]) -> VisibleAnswer {
    let client = match &attempt.header {
        Some((name, value)) => client.clone().with_header(name, value),
        None => client.clone(),
    };
    let body = attempt.body.as_ref().map(ToString::to_string).unwrap_or_default();
    let (head, body) = client.send(attempt.method.clone(), &attempt.path, body).await.into_parts();
    let body = soon("the answer ends", body.collect()).await.expect("it is whole").to_bytes();
    let body = String::from_utf8(body.into()).expect("answers are text");
    let ids = about.into_iter().flat_map(Ids::all);
    let body = ids.fold(body, |body, id| body.replace(id, "ID"));
    let mut headers = head.headers;
    headers.remove(header::DATE);
    let id = headers.remove("x-request-id").expect("every answer has the id of its request");
    // Answers to Anthropic's clients name it twice more.
    headers.remove("request-id");
    let body = body.replace(id.to_str().expect("an id is text"), "REQUEST");
    VisibleAnswer { status: head.status, headers, body }
}

/// Whether a request asks the provider for what these ids are of. An item may be asked for within
/// what is the caller's own: it is not there.
fn asks_for(request: &Recorded, ids: &Ids) -> bool {
    let body = request.body.to_string();
    [&ids.conversation, &ids.response].iter().any(|id| request.path.contains(*id))
        || [&ids.conversation, &ids.response, &ids.item].iter().any(|id| body.contains(*id))
}

/// All that can be tried with ids, turns in the background and requests like them included.
fn all_attempts(ids: &Ids, own: &Ids) -> Vec<Attempt> {
    let attempts = attempts(ids, own);
    let turns = attempts.iter().filter(|attempt| attempt.path == "/v1/responses");
    let like_them = turns.flat_map(|turn| {
        let at = |path: &str| Attempt { path: path.to_owned(), ..turn.clone() };
        let mut in_background = turn.clone();
        in_background.body.as_mut().expect("a turn has a body")["background"] = true.into();
        [at("/v1/responses/input_tokens"), at("/v1/responses/compact"), in_background]
    });
    let like_them: Vec<Attempt> = like_them.collect();
    attempts.into_iter().chain(like_them).collect()
}

/// How ids may be spelt.
const SPELLINGS: [fn(&str) -> String; 4] =
    [str::to_owned, |id| format!("{id}0"), |id| id.to_uppercase(), |id| format!("{id}%2Fitems")];

#[tokio::test]
async fn foreign_object_is_not_found_without_a_request() {
    let world = World::with(shared).await;
    let [owner, stranger] = [ACME, UMBRELLA].map(|(key, _)| world.caller(key));
    let (ids, own) = (held(&world, &owner).await, held(&world, &stranger).await);
    let never = ids.unused();
    let before = world.provider.requests().len();
    let items = world.items(&ids.conversation);

    for spelt in SPELLINGS {
        let spelt = [&ids, &never].map(|ids| ids.each(spelt));
        let [foreign, unknown] = spelt.each_ref().map(|ids| all_attempts(ids, &own));
        for (foreign, unknown) in foreign.iter().zip(&unknown) {
            let what = format!("{} {}: {:?}", foreign.method, foreign.path, foreign.body);
            let expected = visible_answer(&stranger, unknown, [&spelt[1], &never]).await;
            let seen = visible_answer(&stranger, foreign, [&spelt[0], &ids]).await;
            assert!(seen.status.is_client_error(), "{what}: {seen:?}");
            assert_eq!(seen, expected, "{what}");
        }
    }

    for request in &world.provider.requests()[before..] {
        let is_asked = asks_for(request, &ids) || asks_for(request, &never);
        assert!(!is_asked, "{} {} {}", request.method, request.path, request.body);
    }
    assert_eq!(world.items(&ids.conversation), items);
    assert!(world.provider.response(&ids.response).is_some());
}

#[tokio::test]
async fn own_objects_are_shown() {
    let world = World::with(shared).await;
    let owner = world.caller(ACME.0);
    let ids = held(&world, &owner).await;
    let conversation = format!("/v1/conversations/{}", ids.conversation);
    let response = format!("/v1/responses/{}", ids.response);
    for path in [
        conversation.clone(),
        format!("{conversation}/items"),
        format!("{conversation}/items/{}", ids.item),
        response.clone(),
        format!("{response}/input_items"),
        format!("{response}/report"),
    ] {
        owner.get(&path).await.json();
    }
    let referring = json!([reference(&json!(ids.item)), typed_user("Go on.")]);
    let copied = owner.post("/v1/conversations", &json!({"items": referring})).await;
    assert_eq!(copied.status(), 200, "{:?}", copied.body());
}

#[tokio::test]
async fn objects_made_elsewhere_do_not_exist() {
    let world = World::with(shared).await;
    let conversation = {
        let client = Client::new(
            Roots::one(&format!("http://{}", world.provider.address())),
            Some("sk-of-the-operator".to_owned()),
        );
        client.new_conversation().await
    };
    let path = format!("/v1/conversations/{conversation}");
    let refused = world.caller(ACME.0).get(&path).await.refused();
    let message = format!("Conversation with id '{conversation}' not found.");
    assert_eq!(refused, not_found(None, &message));
}

#[tokio::test]
async fn duplicate_keys_do_not_pass() {
    let world = World::with(shared).await;
    let owner = world.caller(ACME.0);
    let before = world.provider.requests().len();
    for body in [
        r#"{"items": [{"type":"message","role":"user","content":"a"}], "Items": []}"#,
        r#"{"items": [{"type":"message","role":"user","content":"a","TYPE":"item_reference"}]}"#,
    ] {
        let refused = owner.post_raw("/v1/conversations", body).await.refused();
        assert_eq!(refused.status, 400, "{body}");
        assert!(text(&refused.body["error"]["message"]).contains("twice"), "{refused:?}");
    }
    assert_eq!(world.provider.requests().len(), before);
}

#[tokio::test]
async fn ambiguous_keys_do_not_pass() {
    let world = World::with(shared).await;
    let ids = held(&world, &world.caller(ACME.0)).await;
    let stranger = world.caller(UMBRELLA.0);
    let before = world.provider.requests().len();
    for store in [true, false] {
        let turn = |item: &str| {
            format!(
                r#"{{"model":"gpt-6","store":{store},
                "input":[{{"role":"user","content":"Hi."{item}}}]}}"#
            )
        };
        let bodies = [
            turn(&format!(r#","TYPE":"item_reference","ID":"{}""#, ids.item)),
            turn(&format!(r#","Id":"{}""#, ids.item)),
        ];
        for body in bodies {
            let refused = stranger.post_raw("/v1/responses", body.clone()).await.refused();
            assert_eq!(refused.status, 400, "{body}");
            assert!(text(&refused.body["error"]["message"]).contains("spelt"), "{refused:?}");
        }
    }
    assert_eq!(world.provider.requests().len(), before);
}

#[tokio::test]
async fn image_reference_must_be_the_tenants() {
    let world = World::with(shared).await;
    let [owner, stranger] = [ACME, UMBRELLA].map(|(key, _)| world.caller(key));
    let image = json!({
        "type": "image_generation_call", "id": "ig_0123456789", "status": "completed",
        "result": "aGk=",
    });
    world.provider.script(antiphon_mock::Answer::new(crate::support::MODEL).item(image));
    let turn = owner.respond(&ask([typed_user("Draw a dog.")])).await;
    let id = text(&turn.item("image_generation_call")["id"]).to_owned();
    let before = world.provider.requests().len();

    let named = json!({"type": "image_generation_call", "id": id});
    let items = [named.clone(), typed_user("Show it.")];
    for asked in [ask(items.clone()), ask(items.clone()).unstored()] {
        let refused = stranger.refused(Mode::Whole, &asked).await;
        assert_eq!(refused.status, 404, "{refused:?}");
    }
    let refused = stranger.post("/v1/conversations", &json!({"items": items})).await.refused();
    assert_eq!(refused.status, 404, "{refused:?}");
    assert_eq!(world.provider.requests().len(), before);

    let copied = owner.post("/v1/conversations", &json!({"items": [named]})).await;
    assert_ne!(copied.status(), 404);
    assert!(world.provider.requests().len() > before, "it is the provider's to judge");
}

#[tokio::test]
async fn internal_ledger_id_is_not_found() {
    let provider = antiphon_mock::StrictProvider::start().await;
    let folder = tempfile::tempdir().expect("a folder can be made");
    let store = SqliteStore::open(&folder.path().join("antiphon.db")).expect("it opens");
    let store: Arc<dyn Store> = Arc::new(store);
    let url = provider.base_url().parse().expect("it is a URL");
    let upstream = antiphon_gateway::settings::UpstreamSettings {
        state: antiphon_gateway::settings::State::Upstream,
        capabilities: Some(antiphon_gateway::settings::Preset::OpenAi.capabilities()),
        ..antiphon_gateway::settings::UpstreamSettings::new(url, None)
    };
    let mut settings = Settings { upstreams: vec![upstream], ..Settings::default() };
    shared(&mut settings);
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a loopback port is free");
    let root = format!("http://{}", listener.local_addr().expect("it is bound"));
    tokio::spawn(serve(listener, settings, Arc::clone(&store), pending()));
    let client = Client::new(Roots::one(&root), Some(ACME.0.to_owned()));
    let conversation = client.new_conversation().await;
    let turn = client.respond(&ask([typed_user("Hi.")]).within(&conversation)).await;

    for named in [&*conversation, turn.id()] {
        let entry = store.ledgers().entry(&Tenant::new(ACME.1), named).await;
        let entry = entry.expect("the store works").expect("it has a ledger");
        let path = match entry.subject {
            LedgerSubject::Conversation(id) => format!("/v1/conversations/{id}"),
            LedgerSubject::Response(id) => format!("/v1/responses/{id}"),
        };
        let paths = [path.clone(), format!("{path}/items"), format!("{path}/report")];
        for path in paths {
            assert_eq!(client.get(&path).await.status(), 404, "{path}");
        }
        assert_eq!(client.delete(&path).await.status(), 404, "{path}");
    }
}
