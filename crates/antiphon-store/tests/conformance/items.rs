//! Items: lossless, unique within their thread, erased but not forgotten.

use antiphon::{HeldItem, ItemId, Origin};
use antiphon_store::{Destination, StoreError};

use super::World;
use super::world::{held, item, item_id, saying};

/// Items of every form; their unusual bytes must be returned unchanged.
fn odd_items() -> Vec<HeldItem> {
    let mut items = vec![
        held("msg_1", " {\"role\" : \"user\",\n\t\"content\":\"no id, \\u00e9 and é\"} "),
        held(
            "msg_2",
            r#"{"id":"msg_2","role":"assistant","content":[],"n":1e2,"n":12345678901234567890123}"#,
        ),
        held("msg_3", r#"{"id":"msg_of_its_own","role":"critic","content":"\ud83d\ude00\u0000"}"#),
        held("msg_4", r#"{"id":"msg_4","role":"developer","content":"be brief"}"#),
        held("msg_5", r#"{"id":"msg_5","role":"system","content":null,"status":"incomplete"}"#),
        held(
            "fc_1",
            r#"{"type":"function_call","id":"fc_1","call_id":"call_1","name":"f","arguments":"{"}"#,
        ),
        held("fco_1", r#"{"type":"function_call_output","call_id":"","output":""}"#),
        held(
            "rs_1",
            concat!(
                r#"{"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":"gAAA","#,
                r#""status":"in_progress"}"#,
            ),
        ),
        held("lsho_1", r#"{"type":"local_shell_call_output","id":"call_9","output":"ok"}"#),
        held("item_1", r#"{"type":"acme:telemetry","x":{"y":[1.0,-0]}}"#),
    ];
    items[1].origin = Some(Origin::new("upstream/gpt"));
    items[3].supersedes = true;
    items
}

pub(crate) async fn bytes_and_heads_are_returned_unchanged(world: World) {
    let given = odd_items();
    let (store, tenant) = (&world.store, &world.tenant);
    let id = world.conversation(&[]).await;
    store.append_items(tenant, &id, given.clone()).await.unwrap();

    let tip = world.tip(&id).await;
    assert_eq!(store.transcript(tenant, tip).await, Ok(given.clone()));
    for one in &given {
        let found = store.item(tenant, &id, &one.id).await.unwrap();
        assert_eq!(found.as_ref(), Some(one));
    }
    let ids: Vec<ItemId> = given.iter().map(|item| item.id.clone()).collect();
    let mut located = store.locate(tenant, &ids).await.unwrap();
    located.sort_by_key(|item| ids.iter().position(|id| *id == item.id));
    assert_eq!(located, given);
}

pub(crate) async fn long_body_is_returned_unchanged(world: World) {
    let given = saying("long", &"tea and biscuits ".repeat(1 << 16));
    assert!(given.body.bytes().unwrap().len() > 1 << 20);
    let (response, mut turn) =
        world.turn(Destination::New { shard: world.shard(), thread: world.thread() }, &["a"], &[]);
    turn.output.push(given.clone());
    world.commit(turn).await.unwrap();

    let output = world.store.output_items(&world.tenant, &response).await;
    assert_eq!(output, Ok(vec![given]));
}

pub(crate) async fn deleted_item_leaves_a_tombstone(world: World) {
    let (store, tenant) = (&world.store, &world.tenant);
    let id = world.conversation(&["a"]).await;
    let given = odd_items();
    store.append_items(tenant, &id, given.clone()).await.unwrap();
    for one in &given {
        assert_eq!(store.delete_item(tenant, &id, &one.id).await, Ok(true));
        assert_eq!(store.delete_item(tenant, &id, &one.id).await, Ok(false));
        assert_eq!(store.item(tenant, &id, &one.id).await, Ok(None));
        let located = store.locate(tenant, std::slice::from_ref(&one.id)).await;
        assert_eq!(located, Ok(vec![HeldItem { body: antiphon::Body::Erased, ..one.clone() }]));
    }

    let tombstones =
        given.into_iter().map(|item| HeldItem { body: antiphon::Body::Erased, ..item });
    let left: Vec<_> = std::iter::once(item("a")).chain(tombstones).collect();
    let tip = world.tip(&id).await;
    assert_eq!(store.transcript(tenant, tip).await, Ok(left));
    assert_eq!(world.listed(&id).await, ["a"]);
}

pub(crate) async fn deleted_item_can_be_created_again(world: World) {
    let id = world.conversation(&["a", "b"]).await;
    assert!(world.delete_item(&id, "a").await);

    world.append(&id, &["a"]).await.unwrap();

    assert_eq!(world.listed(&id).await, ["b", "a"]);
    let tip = world.tip(&id).await;
    assert_eq!(world.before(tip).await, ["†a", "b", "a"]);
    assert_eq!(world.held(&["a"]).await, ["a"]);
    assert!(world.delete_item(&id, "a").await);
    assert_eq!(world.before(tip).await, ["†a", "b", "†a"]);
}

pub(crate) async fn deleting_an_item_erases_it_in_every_fork(world: World) {
    let id = world.conversation(&["a"]).await;
    let within = world.within(&id, &["b"], &["c"]).await;
    let fork = world.after(&within, &["d"], &["e"]).await;

    world.delete_item(&id, "b").await;
    world.delete_item(&id, "c").await;

    assert_eq!(world.transcript(&fork).await, ["a", "†b", "†c", "d", "e"]);
    assert_eq!(world.input(&within).await, [""; 0]);
    assert_eq!(world.output(&within).await, [""; 0]);
}

pub(crate) async fn duplicate_rejects_the_whole_append(world: World) {
    let id = world.conversation(&["a"]).await;

    let refusal = world.append(&id, &["b", "a", "c"]).await;

    assert_eq!(refusal, Err(StoreError::DuplicateItem(item_id("a"))));
    assert_eq!(world.listed(&id).await, ["a"]);
    assert_eq!(world.tip(&id).await.end, 1);
    assert_eq!(world.held(&["b", "c"]).await, [""; 0]);
}

pub(crate) async fn duplicate_rejects_the_whole_turn(world: World) {
    let id = world.conversation(&["a"]).await;
    let (response, turn) = world.turn(Destination::Conversation(id.clone()), &["b"], &["c", "a"]);

    let refusal = world.commit(turn).await;

    assert_eq!(refusal, Err(StoreError::DuplicateItem(item_id("a"))));
    assert_eq!(world.listed(&id).await, ["a"]);
    assert!(!world.exists(&response).await);
}

pub(crate) async fn repeated_id_in_a_turn_is_a_duplicate(world: World) {
    let destination = Destination::New { shard: world.shard(), thread: world.thread() };
    let (response, turn) = world.turn(destination, &["a"], &["a"]);

    let refusal = world.commit(turn).await;

    assert_eq!(refusal, Err(StoreError::DuplicateItem(item_id("a"))));
    assert!(!world.exists(&response).await);
    assert_eq!(world.held(&["a"]).await, [""; 0]);
}

pub(crate) async fn another_thread_can_have_the_same_id(world: World) {
    let one = world.conversation(&["a"]).await;
    let other = world.conversation(&["a", "b"]).await;

    world.delete_item(&one, "a").await;

    assert_eq!(world.listed(&one).await, [""; 0]);
    assert_eq!(world.listed(&other).await, ["a", "b"]);
}

pub(crate) async fn newest_live_copy_is_located(world: World) {
    let (store, tenant) = (&world.store, &world.tenant);
    let mut copies = Vec::new();
    for text in ["oldest", "middle", "newest"] {
        let id = world.conversation(&[]).await;
        let copy = saying("a", text);
        let appended = store.append_items(tenant, &id, vec![copy.clone()]).await;
        appended.unwrap();
        copies.push((id, copy));
    }
    while let Some((id, copy)) = copies.pop() {
        let located = store.locate(tenant, &[item_id("a")]).await;
        assert_eq!(located, Ok(vec![copy]));
        world.delete_item(&id, "a").await;
    }
    let newest = HeldItem { body: antiphon::Body::Erased, ..saying("a", "newest") };
    assert_eq!(store.locate(tenant, &[item_id("a")]).await, Ok(vec![newest]));
}

pub(crate) async fn repeated_id_is_located_once(world: World) {
    world.conversation(&["a", "b"]).await;
    world.conversation(&["b", "c"]).await;

    assert_eq!(world.held(&["b", "a", "b", "d"]).await, ["a", "b"]);
    assert_eq!(world.held(&[]).await, [""; 0]);
}
