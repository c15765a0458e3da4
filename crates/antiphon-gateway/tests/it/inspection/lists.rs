//! Lists of conversations.

use antiphon_gateway::inspect::model::{ConversationState, Owner, ThreadKind};
use antiphon_gateway::inspect::{ListPart, ListQuery, PageQuery};
use serde_json::{Value, json};

use super::Store;
use crate::support::{Mode, SIM, World, ask, call, echo_tool, output, text, typed_user};

fn say(words: &str) -> crate::support::Ask {
    ask(words).model(SIM).field("tools", json!([]))
}

async fn listed(world: &World, query: &ListQuery) -> Vec<String> {
    let page = Store::read(world).await.list(query).await;
    page.data.into_iter().map(|summary| summary.id).collect()
}

/// Lists are the same on both stores.
async fn conversations_and_chains_are_listed(world: World) {
    let client = world.client();
    let body = json!({"metadata": {"topic": "Tea"}});
    let empty = client.post("/v1/conversations", &body).await.json();
    let conversation = client.new_conversation().await;
    client.respond(&say("Hello").within(&conversation)).await;
    let first = client.respond(&say("My color is purple")).await;
    let second = client.respond(&say("What is my color?").after(first.id())).await;

    let store = Store::read(&world).await;
    let page = store.list(&ListQuery::default()).await;
    assert_eq!((page.data.len(), page.next, page.is_cut), (3, None, false));
    let find = |id: &str| page.data.iter().find(|summary| summary.id == id).expect("it is there");

    let chain = find(first.id());
    assert_eq!((chain.kind, chain.owner), (ThreadKind::Chain, Owner::Gateway));
    assert_eq!((chain.turns, chain.items, chain.counted_turns), (2, 4, 2));
    assert_eq!(chain.title.as_deref(), Some("My color is purple"));
    assert_eq!(chain.state, ConversationState::Healthy);
    let used = |turn: &Value| turn["usage"]["input_tokens"].as_u64().expect("it is there");
    assert_eq!(chain.tokens.input, used(&first.response) + used(&second.response));

    let turned = find(&conversation);
    assert_eq!((turned.kind, turned.turns, turned.items), (ThreadKind::Conversation, 1, 2));
    assert!(turned.last_turn_at.is_some() && turned.bytes > 0);

    let empty = find(text(&empty["id"]));
    assert_eq!((empty.turns, empty.items, empty.last_turn_at), (0, 0, None));
    assert_eq!(empty.metadata["topic"], "Tea");
}

#[tokio::test]
async fn conversations_and_chains_are_listed_from_a_file() {
    conversations_and_chains_are_listed(World::new().await).await;
}

#[tokio::test]
async fn conversations_and_chains_are_listed_from_a_database() {
    conversations_and_chains_are_listed(World::replicas(1).await).await;
}

#[tokio::test]
async fn pages_have_each_conversation_once() {
    let world = World::new().await;
    let client = world.client();
    let mut expected = Vec::new();
    for number in 0..5 {
        let conversation = client.new_conversation().await;
        for turn in 0..number {
            client.respond(&say(&format!("{number} {turn}")).within(&conversation)).await;
        }
        expected.push(conversation);
    }
    let store = Store::read(&world).await;
    let (mut found, mut after) = (Vec::new(), None);
    loop {
        let page = store.list(&ListQuery { after, limit: Some(2), ..Default::default() }).await;
        assert!(page.data.len() <= 2);
        found.extend(page.data.into_iter().map(|summary| summary.id));
        match page.next {
            Some(next) => after = Some(next),
            None => break,
        }
    }
    found.sort_unstable();
    expected.sort_unstable();
    assert_eq!(found, expected);
}

#[tokio::test]
async fn search_finds_id_metadata_and_text() {
    let world = World::new().await;
    let client = world.client();
    let body = json!({"metadata": {"topic": "Green Tea"}});
    let tea = text(&client.post("/v1/conversations", &body).await.json()["id"]).to_owned();
    let purple = client.respond(&say("My color is purple")).await;
    let search = |words: &str| ListQuery { search: Some(words.to_owned()), ..Default::default() };

    assert_eq!(listed(&world, &search("green tea")).await, [&*tea]);
    assert_eq!(listed(&world, &search("COLOR is Purple")).await, [purple.id()]);
    assert_eq!(listed(&world, &search(purple.id())).await, [purple.id()]);
    assert!(listed(&world, &search("yellow")).await.is_empty());
}

#[tokio::test]
async fn unanswered_call_waits_for_its_output() {
    let world = World::new().await;
    let client = world.client();
    let called = client.respond(&ask("Echo hello").field("tools", json!([echo_tool()]))).await;
    let call_id = text(called.call_id()).to_owned();

    let store = Store::read(&world).await;
    let page = store.list(&ListQuery::default()).await;
    assert_eq!(page.data[0].state, ConversationState::Waiting { calls: vec![call_id] });
}

#[tokio::test]
async fn parts_of_the_list_are_shown_alone() {
    let world = World::new().await;
    let client = world.client();
    let healthy = client.respond(&say("Hello")).await;
    let waiting = client.respond(&ask("Echo hello").field("tools", json!([echo_tool()]))).await;
    let history = json!([typed_user("Echo hello"), call("call_1", "hello"), typed_user("Go on")]);
    let repaired = client.respond(&ask(history)).await;
    let show = |part| ListQuery { show: Some(part), ..Default::default() };

    let (waiting, repaired) = (waiting.id(), repaired.id());
    for (part, expected) in [
        (ListPart::Open, vec![repaired, waiting]),
        (ListPart::Waiting, vec![waiting]),
        (ListPart::Poisoned, vec![repaired]),
        (ListPart::Repaired, vec![repaired]),
        (ListPart::OpenTurn, vec![]),
        (ListPart::Stale, vec![]),
    ] {
        assert_eq!(listed(&world, &show(part)).await, expected, "{part:?}");
    }
    let all = listed(&world, &ListQuery::default()).await;
    assert_eq!(all, [repaired, waiting, healthy.id()]);
    assert_eq!(shown(&world, "waiting").await, [waiting]);
}

/// The ids of a part of the list, as the gateway serves it.
async fn shown(world: &World, part: &str) -> Vec<String> {
    let page = world.client().get(&format!("/inspect/conversations.json?show={part}")).await.json();
    let entries = page["data"].as_array().expect("a list").iter();
    entries.map(|entry| text(&entry["id"]).to_owned()).collect()
}

#[tokio::test]
async fn healthy_conversation_with_a_refused_end_is_open() {
    let world = World::new().await;
    let client = world.client();
    client.respond(&say("Hello")).await;
    let refused = client.new_conversation().await;
    client.respond(&say("Hello").within(&refused)).await;
    let continued = client.respond(&say("Hello")).await;
    let orphan = ask(json!([output(&json!("call_9"), "x")]));
    for asked in [orphan.clone().within(&refused), orphan.after(continued.id())] {
        client.refused(Mode::Whole, &asked).await;
    }

    for part in ["open", "refused"] {
        assert_eq!(shown(&world, part).await, [continued.id(), &*refused], "{part}");
    }
    client.respond(&say("Go on").after(continued.id())).await;
    assert_eq!(shown(&world, "open").await, [&*refused]);
    assert_eq!(shown(&world, "refused").await, [continued.id(), &*refused]);
}

#[tokio::test]
async fn fork_is_in_the_tree_of_its_chain() {
    let world = World::new().await;
    let client = world.client();
    let first = client.respond(&say("My color is purple")).await;
    let second = client.respond(&say("What is my color?").after(first.id())).await;
    let fork = client.respond(&say("Hello").after(first.id())).await;

    let store = Store::read(&world).await;
    assert_eq!(store.list(&ListQuery::default()).await.data.len(), 1, "forks are one entry");
    let view = store.view(second.id()).await;
    let tree: Vec<_> = view
        .tree
        .iter()
        .map(|turn| (&*turn.response, turn.parent.as_deref(), turn.shown))
        .collect();
    assert_eq!(
        tree,
        [
            (first.id(), None, true),
            (second.id(), Some(first.id()), true),
            (fork.id(), Some(first.id()), false),
        ]
    );
    let whole = store.view(first.id()).await;
    assert_eq!(whole.turns.last().expect("it is there").id, fork.id(), "the newest path is shown");
}

#[tokio::test]
async fn open_turn_is_live() {
    let world = World::new().await;
    let client = world.client();
    let conversation = client.new_conversation().await;
    let answer = antiphon_mock::Answer::new(crate::support::MODEL).message("Hello");
    let exchange = world.script(antiphon_mock::Reply::sse(answer.frames()).gated());
    let mut events = client.stream(&ask("Hello").within(&conversation)).await;
    exchange.release(3);
    events.next().await;
    world.request(0).await;

    let view = Store::read(&world).await.view(&conversation).await;
    assert!(view.live.leased && !view.live.background);
    let open = ConversationState::OpenTurn { response: view.live.response.clone() };
    assert_eq!(view.summary.state, open);
    assert!(view.live.response.is_some());
}

#[tokio::test]
async fn foreign_conversation_is_not_found() {
    let world = World::new().await;
    let conversation = world.client().new_conversation().await;
    world.caller("token-of-bob").new_conversation().await;
    let (listings, tenants) = world.listings_of_tenants().await;
    let mut found = 0;
    for tenant in &tenants {
        let prices = antiphon_gateway::settings::Prices::default();
        let inspector = antiphon_gateway::inspect::Inspector::new(&*listings, tenant, &prices);
        let page = PageQuery::default();
        found += usize::from(
            inspector.conversation(&conversation, &page).await.expect("it is there").is_some(),
        );
        assert_eq!(
            inspector.conversations(&ListQuery::default()).await.expect("it is there").data.len(),
            1
        );
    }
    assert_eq!((tenants.len(), found), (2, 1));
}
