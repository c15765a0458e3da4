//! Conversations that begin without a model while several upstreams keep state: the first turn
//! decides which upstream has them.

use std::time::Duration;

use antiphon_gateway::settings::{ModelPattern, Settings, State};
use antiphon_mock::{
    Answer as Scripted, OnAbort, Options, Recorded, Reply, Script, StrictProvider,
};
use antiphon_testkit::FakeUpstream;
use futures_util::future::join;
use http::{Method, StatusCode};
use serde_json::{Value, json};

use super::world;
use crate::support::{
    Answer, Ask, Client, FragileGateway, Gateways, MODES, Mode, ask, default_settings,
    frames_until, lines, soon, text, typed_user,
};

/// Gateways in front of two providers that keep state, each with one model.
pub(super) struct World {
    pub(super) one: StrictProvider,
    pub(super) two: StrictProvider,
    pub(super) gateways: Gateways,
}

async fn provider(name: &str) -> StrictProvider {
    let (seed, models) = (Some(name.to_owned()), vec![format!("{name}-1")]);
    StrictProvider::with_options(Options { seed, models, ..Options::default() }).start().await
}

impl World {
    pub(super) async fn new() -> Self {
        Self::with(|_| {}).await
    }

    pub(super) async fn with(change: impl FnOnce(&mut Settings)) -> Self {
        let (one, two) = (provider("one").await, provider("two").await);
        let mut settings = Self::settings(&one, &two);
        change(&mut settings);
        Self { gateways: Gateways::start(settings).await, one, two }
    }

    async fn replicas(count: usize) -> Self {
        let (one, two) = (provider("one").await, provider("two").await);
        let settings = Self::settings(&one, &two);
        Self { gateways: Gateways::replicas(settings, count).await, one, two }
    }

    fn settings(one: &StrictProvider, two: &StrictProvider) -> Settings {
        let mut settings = default_settings();
        for (name, provider) in [("one", one), ("two", two)] {
            let mut upstream = world::settings(provider).upstreams.remove(0);
            upstream.name = Some(name.to_owned());
            upstream.models = vec![ModelPattern::new(format!("{name}-*"))];
            settings.upstreams.push(upstream);
        }
        settings
    }

    pub(super) fn client(&self) -> Client {
        self.gateways.client()
    }

    /// The second provider's id of the conversation of its latest turn.
    pub(super) fn id_at_two(&self) -> String {
        let turns = self.two.turns();
        text(&turns.last().expect("it had a turn").body["conversation"]).to_owned()
    }

    /// What the conversation holds at the second provider, in words.
    pub(super) fn held_by_two(&self) -> Vec<String> {
        lines(&self.two.conversation_items(&self.id_at_two()).expect("it is there"))
    }
}

pub(super) fn at_two(reply: &str, conversation: &str) -> Ask {
    ask([typed_user(reply)]).model("two-1").within(conversation)
}

pub(super) fn creations(provider: &StrictProvider) -> usize {
    let is_creation = |it: &&Recorded| it.method == Method::POST && it.path == "/v1/conversations";
    provider.requests().iter().filter(is_creation).count()
}

/// Refused because another upstream has the conversation.
fn assert_names_upstreams(refused: &Answer, answering: &str) {
    let refused = refused.refused();
    assert_eq!((refused.status, &refused.body["error"]["param"]), (400, &json!("conversation")));
    let message = text(&refused.body["error"]["message"]);
    assert!(message.contains(&format!("the upstream '{answering}'")), "{message}");
    assert!(!message.contains("127.0.0.1"), "{message}");
}

#[tokio::test]
async fn first_turn_decides_the_upstream() {
    for mode in MODES {
        let world = World::new().await;
        let body = json!({"metadata": {"topic": "dogs"}, "items": [typed_user("My dog is Rex.")]});
        let created = world.client().post("/v1/conversations", &body).await.json();
        let id = text(&created["id"]);
        world.client().add_items(id, &[typed_user("My cat is Tom.")]).await;
        assert_eq!(world.one.requests().len() + world.two.requests().len(), 0);

        let first = world.client().turn(mode, &at_two("What is my dog?", id)).await;

        assert_eq!(first.response["conversation"]["id"], id);
        for event in &first.events {
            if event.json["response"].is_object() {
                assert_eq!(event.json["response"]["conversation"]["id"], id, "{}", event.name);
            }
        }
        let held = ["user: My dog is Rex.", "user: My cat is Tom.", "user: What is my dog?"];
        assert_eq!(world.held_by_two()[..3], held);
        let theirs = world.id_at_two();
        assert_ne!(theirs, id);

        let second = world.client().turn(mode, &at_two("And my cat?", id)).await;
        assert_eq!(second.response["conversation"]["id"], id);
        assert_eq!(lines(world.two.turns()[1].input()), ["user: And my cat?"]);
        assert_eq!(world.held_by_two().len(), 6);

        let other = ask([typed_user("Hi.")]).model("one-1").within(id);
        assert_names_upstreams(&world.client().create(mode, &other).await, "one");
        assert_eq!(world.one.requests().len(), 0);
        assert_eq!((creations(&world.two), world.two.duplicates()), (1, vec![]));
    }
}

#[tokio::test]
async fn routes_show_our_id_before_and_after_binding() {
    let mut world = World::new().await;
    let id = world.client().new_conversation().await;
    let path = format!("/v1/conversations/{id}");
    let added = world.client().add_items(&id, &[typed_user("Stay."), typed_user("Go.")]).await;
    let item = format!("{path}/items/{}", text(&added[1]["id"]));
    assert_eq!(world.client().delete(&item).await.json()["id"], id);
    let changed = world.client().post(&path, &json!({"metadata": {"a": "1"}})).await.json();
    assert_eq!((&changed["id"], &changed["metadata"]), (&json!(id), &json!({"a": "1"})));
    world.gateways.kill_and_start().await;
    assert_eq!(world.client().get(&path).await.json(), changed);

    let turn = world.client().respond(&at_two("Hello.", &id)).await;
    world.gateways.kill_and_start().await;

    let theirs = world.id_at_two();
    let shown = world.client().get(&path).await.json();
    assert_eq!((&shown["id"], &shown["metadata"]), (&json!(id), &json!({"a": "1"})));
    let items = world.client().items(&id).await;
    assert_eq!(items, world.two.conversation_items(&theirs).unwrap());
    assert_eq!(lines(&items)[..2], ["user: Stay.", "user: Hello."]);
    let added = world.client().add_items(&id, &[typed_user("More.")]).await;
    let item = format!("{path}/items/{}", text(&added[0]["id"]));
    assert_eq!(world.client().get(&item).await.json(), added[0]);
    assert_eq!(world.client().delete(&item).await.json()["id"], id);
    let changed = world.client().post(&path, &json!({"metadata": {"a": "2"}})).await.json();
    assert_eq!((&changed["id"], &changed["metadata"]), (&json!(id), &json!({"a": "2"})));
    let kept = world.client().stored_response(turn.id()).await;
    assert_eq!(kept, turn.response);
    let missing = world.client().get(&format!("{path}/items/msg_none")).await.refused();
    assert!(!missing.body.to_string().contains(&theirs), "{}", missing.body);
    assert_eq!(world.one.requests().len(), 0);
}

#[tokio::test]
async fn bodies_and_errors_are_translated() {
    let fake = FakeUpstream::start().await;
    let base = fake.base_url();
    let world = World::with(|settings| {
        settings.upstreams[1].url = base.parse().expect("it is a URL");
    })
    .await;
    let id = world.client().new_conversation().await;
    let ok = |body: Value| fake.script(Reply::json(StatusCode::OK, &body));
    ok(json!({"id": "conv_7", "object": "conversation", "created_at": 1, "metadata": {}}));
    ok(json!({"object": "list", "data": [], "has_more": false}));
    let error = json!({"error": {"message": "No room in 'conv_7'."}});
    fake.script(Reply::json(StatusCode::FORBIDDEN, &error));
    let refused = world.client().refused(Mode::Whole, &at_two("Hi.", &id)).await;
    assert_eq!(refused.body["error"]["message"], format!("No room in '{id}'."));
    assert_eq!(fake.requests()[2].body["conversation"], "conv_7");

    for path in ["/v1/responses/input_tokens", "/v1/responses/compact"] {
        for model in [json!("two-1"), Value::Null] {
            ok(json!({"of": "conv_7"}));
            let body = json!({"model": model, "conversation": {"id": id}, "input": "Hi."});
            assert_eq!(world.client().post(path, &body).await.json()["of"], id);
            let asked = fake.requests().pop().expect("it was asked");
            assert_eq!((&*asked.path, &asked.body["conversation"]), (path, &json!("conv_7")));
        }
    }
}

#[tokio::test]
async fn conversation_is_deleted_before_and_after_binding() {
    let world = World::new().await;
    for is_bound in [false, true] {
        let id = world.client().new_conversation().await;
        let path = format!("/v1/conversations/{id}");
        if is_bound {
            world.client().respond(&at_two("Hello.", &id)).await;
        }
        let deleted = world.client().delete(&path).await.json();
        let expected = json!({"id": id, "object": "conversation.deleted", "deleted": true});
        assert_eq!(deleted, expected);
        for refused in [
            world.client().get(&path).await.refused(),
            world.client().refused(Mode::Whole, &at_two("Hello?", &id)).await,
        ] {
            assert_eq!(refused.status, 404);
            assert!(refused.body.to_string().contains(&id), "{}", refused.body);
        }
    }
    assert_eq!(creations(&world.two), 1);
    assert!(world.two.conversation_items(&world.id_at_two()).is_none());
}

#[tokio::test]
async fn many_items_go_to_the_upstream_once() {
    let world = World::new().await;
    let id = world.client().new_conversation().await;
    let reply: Vec<Value> = (0..45).map(|number| typed_user(&format!("Item {number}."))).collect();
    for items in reply.chunks(20) {
        world.client().add_items(&id, items).await;
    }

    world.client().respond(&at_two("Hello.", &id)).await;

    let held = world.held_by_two();
    assert_eq!(held.len(), 47);
    assert_eq!(
        (&*held[0], &*held[44], &*held[45]),
        ("user: Item 0.", "user: Item 44.", "user: Hello.")
    );
    assert_eq!(world.two.duplicates(), []);
}

#[tokio::test]
async fn one_of_two_first_turns_binds() {
    for mode in MODES {
        let world = World::replicas(2).await;
        for _ in 0..4 {
            let id = world.client().new_conversation().await;
            let (one, two) = (world.gateways.client_of(0), world.gateways.client_of(1));
            let at_one = ask([typed_user("Hi.")]).model("one-1").within(&id);
            let at_two = at_two("Hi.", &id);
            let (first, second) =
                join(one.attempt(mode, &at_one), two.attempt(mode, &at_two)).await;

            let (turn, refused, answering) = match (first, second) {
                (Ok(turn), Err(refused)) => (turn, refused, "two"),
                (Err(refused), Ok(turn)) => (turn, refused, "one"),
                (Ok(_), Ok(_)) => panic!("both had a turn"),
                (Err(first), Err(second)) => panic!("{:?} {:?}", first.json(), second.json()),
            };
            assert_eq!(turn.response["conversation"]["id"], id);
            assert_names_upstreams(&refused, answering);
        }
        assert_eq!(creations(&world.one) + creations(&world.two), 4);
    }
}

#[tokio::test]
async fn two_first_turns_of_one_model_follow_each_other() {
    let world = World::replicas(2).await;
    let id = world.client().new_conversation().await;
    let (one, two) = (world.gateways.client_of(0), world.gateways.client_of(1));
    let (a, b) = (at_two("A.", &id), at_two("B.", &id));
    let (a, b) = join(one.respond(&a), two.respond(&b)).await;
    assert_eq!((a.status(), b.status()), ("completed", "completed"));
    assert_eq!(creations(&world.two), 1);
    assert_eq!(world.held_by_two().len(), 4);
    assert_eq!(world.two.duplicates(), []);
}

#[tokio::test]
async fn retried_first_turn_is_not_doubled() {
    for (mode, key) in [(Mode::Whole, true), (Mode::Streamed, true), (Mode::Streamed, false)] {
        let world = World::new().await;
        let id = world.client().new_conversation().await;
        world.client().add_items(&id, &[typed_user("My dog is Rex.")]).await;
        world.two.set_on_abort(OnAbort::StoreWhole);
        let answer = Scripted::new("two-1").message("It is Rex.");
        world.two.script(Script::from(answer).break_after(0));
        let client = match key {
            true => world.client().with_header("idempotency-key", "key-1"),
            false => world.client(),
        };
        let asked = at_two("What is my dog?", &id);
        assert!(client.create(mode, &asked).await.status() >= 500);

        let again = client.with_header("x-stainless-retry-count", "1").turn(mode, &asked).await;

        assert_eq!(again.status(), "completed");
        assert_eq!(again.response["conversation"]["id"], id);
        assert_eq!(creations(&world.two), 1);
        let users = ["user: My dog is Rex.", "user: What is my dog?"];
        assert_eq!(world.held_by_two()[..2], users);
        let held = world.held_by_two();
        assert_eq!(held.iter().filter(|line| line.starts_with("user")).count(), 2, "{held:?}");
    }
}

#[tokio::test]
async fn first_turn_runs_in_the_background() {
    let world = World::new().await;
    let id = world.client().new_conversation().await;
    let asked = at_two("My dog is Rex.", &id).field("background", true);
    let queued = world.client().create(Mode::Whole, &asked).await.json();
    assert_eq!(queued["status"], "queued");
    assert_eq!(queued["conversation"]["id"], id);

    let response = text(&queued["id"]);
    let ended = world.client().wait_until_ended(response).await;
    assert_eq!((&ended["status"], &ended["conversation"]["id"]), (&json!("completed"), &json!(id)));
    let received = world.client().get(&format!("/v1/responses/{response}?stream=true")).await;
    let received = String::from_utf8_lossy(received.body()).into_owned();
    assert!(received.contains(&id) && !received.contains(&world.id_at_two()), "{received}");

    let next = world.client().respond(&at_two("What is my dog?", &id)).await;
    assert_eq!(next.text(), "Rex");
    assert_eq!(creations(&world.two), 1);
}

#[tokio::test]
async fn rejected_creation_leaves_the_conversation_pending() {
    let world = World::new().await;
    let id = world.client().new_conversation().await;
    world.client().add_items(&id, &[typed_user("My dog is Rex.")]).await;
    let busy = Reply::json(StatusCode::SERVICE_UNAVAILABLE, &json!({"error": {"message": "No."}}));
    world.two.reply_instead(Method::POST, "/conversations", busy);
    let refused = world.client().create(Mode::Whole, &at_two("Hi.", &id)).await;
    assert_eq!(refused.status(), 503);
    assert_eq!(lines(&world.client().items(&id).await), ["user: My dog is Rex."]);

    let at_one = ask([typed_user("What is my dog?")]).model("one-1").within(&id);
    assert_eq!(world.client().respond(&at_one).await.text(), "Rex");
    assert_names_upstreams(&world.client().create(Mode::Whole, &at_two("Hi.", &id)).await, "two");
}

#[tokio::test]
async fn failed_binding_leaves_no_copy() {
    let (one, two) = (provider("one").await, provider("two").await);
    let FragileGateway { client, store, .. } = FragileGateway::with(|settings| {
        settings.upstreams = World::settings(&one, &two).upstreams;
        settings.store.commit_wait = Duration::ZERO;
    })
    .await;
    let id = client.new_conversation().await;
    store.fail_adoptions(usize::MAX);
    assert_eq!(client.create(Mode::Whole, &at_two("Hi.", &id)).await.status(), 503);
    let deleted = two.requests().pop().expect("it was asked");
    assert_eq!(deleted.method, Method::DELETE);
    let copy = deleted.path.rsplit('/').next().expect("it has an id");
    assert_eq!(two.conversation_items(copy), None);

    store.recover();
    let at_one = ask([typed_user("Hi.")]).model("one-1").within(&id);
    assert_eq!(client.respond(&at_one).await.response["conversation"]["id"], id);
}

#[tokio::test]
async fn binding_with_a_lost_commit_result_is_valid() {
    for wait in [Duration::ZERO, Duration::from_hours(1)] {
        let (one, two) = (provider("one").await, provider("two").await);
        let FragileGateway { client, store, .. } = FragileGateway::with(|settings| {
            settings.upstreams = World::settings(&one, &two).upstreams;
            settings.store.commit_wait = wait;
        })
        .await;
        let id = client.new_conversation().await;
        client.add_items(&id, &[typed_user("My dog is Rex.")]).await;
        store.lose_next_commit_result();
        let first = client.create(Mode::Whole, &at_two("Hi.", &id)).await;
        assert_eq!(first.status(), if wait.is_zero() { 503 } else { 200 });

        let next = client.respond(&at_two("What is my dog?", &id)).await;

        assert_eq!(next.text(), "Rex");
        assert_eq!(creations(&two), 1);
    }
}

#[tokio::test]
async fn upstream_without_conversations_leaves_it_with_the_gateway() {
    let world = World::with(|settings| {
        let mut here = settings.upstreams[1].clone();
        here.name = Some("here".to_owned());
        here.models = vec![ModelPattern::new("here-*")];
        here.state = State::Here;
        settings.upstreams.push(here);
    })
    .await;
    let id = world.client().new_conversation().await;
    let at_sim = ask([typed_user("Hi.")]).model("sim").within(&id);
    world.client().respond(&at_sim).await;

    let turn = world.client().respond(&at_two("My dog is Rex.", &id)).await;

    assert_eq!(turn.response["conversation"]["id"], id);
    assert_eq!(world.two.turns()[0].body["store"], false);
    assert_eq!(creations(&world.one) + creations(&world.two), 0);
    assert_eq!(world.client().items(&id).await.len(), 4);
}

#[tokio::test]
async fn killed_first_turn_is_continued_by_another_gateway() {
    let mut world = World::replicas(2).await;
    let id = world.client().new_conversation().await;
    world.client().add_items(&id, &[typed_user("My dog is Rex.")]).await;
    let answer = Scripted::new("two-1").message("Noted.");
    let begun = frames_until(&answer, "response.output_text.delta");
    let exchange = world.two.script(Script::from(answer).hang_after(begun));
    let mut events = world.gateways.client_of(0).stream(&at_two("And Tom?", &id)).await;
    events.until("response.output_item.added").await;
    world.gateways.kill(0).await;
    drop(events);
    soon("the provider is left", exchange.wait_for_disconnect()).await;

    let next = world.gateways.client_of(1).respond(&at_two("What is my dog?", &id)).await;

    assert_eq!(next.text(), "Rex");
    assert_eq!(next.response["conversation"]["id"], id);
    assert_eq!((creations(&world.two), world.two.duplicates()), (1, vec![]));
}
