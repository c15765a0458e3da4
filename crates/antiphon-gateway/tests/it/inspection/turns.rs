//! The four lanes of turns.

use antiphon_gateway::inspect::model::Fate;
use antiphon_gateway::inspect::{LaneName, PageQuery};
use serde_json::json;

use super::{Store, lines};
use crate::support::{SIM, World, ask, assistant_again, text, typed_user, user};

fn say(words: impl Into<serde_json::Value>) -> crate::support::Ask {
    ask(words).model(SIM).field("tools", json!([]))
}

#[tokio::test]
async fn lanes_show_the_way_of_each_item() {
    let world = World::new().await;
    let client = world.client();
    let first = client.respond(&say(json!([user("My color is purple")]))).await;
    let said = &first.output()[0];
    let history = json!([assistant_again(said), typed_user("What is my color?")]);
    let second = client.respond(&say(history).after(first.id())).await;

    let store = Store::read(&world).await;
    let view = store.view(first.id()).await;
    let [one, two] = &view.turns[..] else { panic!("two turns") };
    assert_eq!((&*one.id, &*two.id), (first.id(), second.id()));
    assert_eq!((&*two.status, two.previous.as_deref()), ("completed", Some(first.id())));
    assert_eq!(lines(&one.received.cards), ["message My color is purple [new]"]);
    assert_eq!((one.stored_before.items, one.sent.items, one.returned.items), (0, 1, 1));

    let answer = text(&said["content"][0]["text"]);
    let known = format!("message {answer} [known]");
    assert_eq!(lines(&two.received.cards), [&*known, "message What is my color? [new]"]);
    let before = ["message My color is purple []".to_owned(), format!("message {answer} []")];
    assert_eq!(lines(&two.stored_before.cards), before);
    assert_eq!((two.sent.items, two.sent.exact), (3, true));
    assert_eq!(lines(&two.sent.cards)[2], "message What is my color? [new]");
    let key = |cards: &[antiphon_gateway::inspect::model::Card], at: usize| cards[at].key.clone();
    assert_eq!(key(&two.received.cards, 0), key(&two.stored_before.cards, 1));
    assert_eq!(key(&two.received.cards, 1), key(&two.sent.cards, 2));
    assert_eq!(key(&one.returned.cards, 0), text(&said["id"]));
    let rule = two.received.cards[0].fates[0].clone();
    assert_eq!(rule, Fate::Known { rule: "same_id".into(), differs: false });
    assert_eq!(store.turn(second.id()).await.id, second.id());
}

/// The bytes of a lane are those of all items that it counts, however many of them the client
/// resends.
#[tokio::test]
async fn lanes_count_resent_items_and_their_bytes() {
    let world = World::new().await;
    let client = world.client();
    for from in [0, 5, 38, 40] {
        let conversation = client.new_conversation().await;
        let items: Vec<_> = (10..50).map(|at| typed_user(&format!("Item {at}"))).collect();
        let mut history = client.add_items(&conversation, &items[..20]).await;
        history.extend(client.add_items(&conversation, &items[20..]).await);
        history.push(typed_user("Hello"));
        client.respond(&say(json!(history[from..])).within(&conversation)).await;

        let view = Store::read(&world).await.view(&conversation).await;
        let turn = view.turns.last().expect("it has a turn");
        let (received, before) = (&turn.received, turn.stored_before.bytes);
        let own = turn.sent.bytes - before;
        // All 40 items are equally long.
        let resent = before / 40 * (40 - from as u64);
        assert_eq!((received.items, received.bytes), (41 - from, own + resent), "from {from}");
    }
}

#[tokio::test]
async fn deleted_item_is_a_tombstone() {
    let world = World::new().await;
    let client = world.client();
    let conversation = client.new_conversation().await;
    client.respond(&say("My color is purple").within(&conversation)).await;
    let items = client.items(&conversation).await;
    let path = format!("/v1/conversations/{conversation}/items/{}", text(&items[0]["id"]));
    client.delete(&path).await.json();

    let view = Store::read(&world).await.view(&conversation).await;
    let received = &view.turns[0].received;
    assert!(!received.exact);
    assert!(received.cards[0].fates.contains(&Fate::Deleted));
    assert_eq!(
        (received.cards[0].text.as_deref(), received.cards[0].body.as_deref()),
        (None, None)
    );
}

#[tokio::test]
async fn bodies_can_be_hidden() {
    let world = World::new().await;
    let turn = world.client().respond(&say("My color is purple")).await;
    let store = Store::read(&world).await;
    let page = PageQuery::default();
    let hidden = store.inspector().with_bodies(false).conversation(turn.id(), &page).await;
    let hidden = serde_json::to_string(&hidden.expect("it is there").expect("it is there"))
        .expect("it is there");
    assert!(!hidden.contains("purple"), "{hidden}");
}

/// A page of a long conversation costs no more than one of a short one, apart from its tree.
#[tokio::test]
async fn long_conversation_is_read_page_by_page() {
    let world = World::new().await;
    let client = world.client();
    let conversation = client.new_conversation().await;
    for batch in 0..3 {
        let items: Vec<_> = (0..20).map(|at| typed_user(&format!("{batch} {at}"))).collect();
        client.add_items(&conversation, &items).await;
    }
    let last = client.respond(&say("Hello").within(&conversation)).await;

    let store = Store::read(&world).await;
    let turn = store.turn(last.id()).await;
    assert_eq!((turn.stored_before.items, turn.stored_before.cards.len()), (60, 0));
    assert_eq!((turn.sent.items, turn.sent.cards.len()), (61, 1));

    for (lane, count) in [(LaneName::StoredBefore, 60), (LaneName::Sent, 61)] {
        let (mut keys, mut after) = (Vec::new(), None);
        loop {
            let query = PageQuery { after, limit: Some(25) };
            let page = store
                .inspector()
                .lane(last.id(), lane, &query)
                .await
                .expect("it is there")
                .expect("it is there");
            assert!(page.lane.cards.len() <= 25);
            keys.extend(page.lane.cards.into_iter().map(|card| card.key));
            match page.next {
                Some(next) => after = Some(next),
                None => break,
            }
        }
        assert_eq!(keys.len(), count, "{lane:?}");
        keys.sort_unstable();
        keys.dedup();
        assert_eq!(keys.len(), count, "{lane:?}");
    }
}

#[tokio::test]
async fn turns_are_read_in_pages() {
    let world = World::new().await;
    let client = world.client();
    let conversation = client.new_conversation().await;
    let mut expected = Vec::new();
    for number in 0..5 {
        let turn = client.respond(&say(number.to_string()).within(&conversation)).await;
        expected.push(turn.id().to_owned());
    }
    let store = Store::read(&world).await;
    let (mut found, mut after) = (Vec::new(), None);
    loop {
        let query = PageQuery { after, limit: Some(2) };
        let view = store
            .inspector()
            .conversation(&conversation, &query)
            .await
            .expect("it is there")
            .expect("it is there");
        found.extend(view.turns.into_iter().map(|turn| turn.id));
        match view.next {
            Some(next) => after = Some(next),
            None => break,
        }
    }
    assert_eq!(found, expected);
}
