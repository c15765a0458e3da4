//! Lists, page by page.

use antiphon_store::{ListScope, Order, PageRequest, StoreError};

use super::World;
use super::world::{item, item_id, names, saying};

const LETTERS: [&str; 7] = ["a", "b", "c", "d", "e", "f", "g"];

async fn page(
    world: &World,
    scope: &ListScope,
    after: Option<&str>,
    limit: usize,
    order: Order,
) -> (Vec<String>, bool) {
    bounded_page(world, scope, after, (limit, usize::MAX), order).await
}

async fn bounded_page(
    world: &World,
    scope: &ListScope,
    after: Option<&str>,
    (limit, max_bytes): (usize, usize),
    order: Order,
) -> (Vec<String>, bool) {
    let page = PageRequest { after: after.map(item_id), limit, max_bytes, order };
    let listing = world.store.list_items(&world.tenant, scope, &page).await;
    let listing = listing.unwrap().unwrap();
    (names(&listing.items), listing.has_more)
}

pub(crate) async fn pages_cover_the_list_in_both_orders(world: World) {
    let scope = ListScope::Conversation(world.conversation(&LETTERS).await);
    let mut backwards = LETTERS;
    backwards.reverse();

    for (order, expected) in [(Order::Ascending, LETTERS), (Order::Descending, backwards)] {
        for limit in 1..=LETTERS.len() + 1 {
            let (mut seen, mut after) = (Vec::new(), None);
            loop {
                let (items, has_more) = page(&world, &scope, after.as_deref(), limit, order).await;
                assert!(items.len() == limit || !has_more);
                after = items.last().cloned();
                seen.extend(items);
                assert!(seen.len() <= LETTERS.len(), "nothing comes twice");
                if !has_more {
                    break;
                }
            }
            assert_eq!(seen, expected, "{order:?}, {limit} at a time");
        }
    }
}

pub(crate) async fn last_page_has_no_more(world: World) {
    let scope = ListScope::Conversation(world.conversation(&["a", "b"]).await);
    for (after, limit, order, items, has_more) in [
        (None, 1, Order::Ascending, vec!["a"], true),
        (None, 2, Order::Ascending, vec!["a", "b"], false),
        (None, 3, Order::Descending, vec!["b", "a"], false),
        (Some("a"), 1, Order::Ascending, vec!["b"], false),
        (Some("b"), 1, Order::Ascending, vec![], false),
        (Some("b"), 1, Order::Descending, vec!["a"], false),
        (Some("a"), 1, Order::Descending, vec![], false),
    ] {
        let got = page(&world, &scope, after, limit, order).await;
        assert_eq!(
            (got.0, got.1),
            (items.into_iter().map(String::from).collect(), has_more),
            "after {after:?}, {limit} at a time, {order:?}"
        );
    }
}

pub(crate) async fn deleted_items_are_not_listed(world: World) {
    let id = world.conversation(&LETTERS).await;
    for gone in ["a", "d", "e", "g"] {
        world.delete_item(&id, gone).await;
    }
    let scope = ListScope::Conversation(id);

    let first = page(&world, &scope, None, 2, Order::Ascending).await;
    assert_eq!(first, (vec!["b".into(), "c".into()], true));
    let last = page(&world, &scope, Some("c"), 1, Order::Ascending).await;
    assert_eq!(last, (vec!["f".into()], false));
    let newest = page(&world, &scope, None, 1, Order::Descending).await;
    assert_eq!(newest, (vec!["f".into()], true));
}

pub(crate) async fn unknown_cursor_is_rejected(world: World) {
    let id = world.conversation(&["a", "b"]).await;
    world.conversation(&["c"]).await;
    world.delete_item(&id, "b").await;
    let response = world.within(&id, &["d"], &["e"]).await;
    let refusal = |scope: ListScope, after: &'static str| {
        let world = &world;
        async move {
            let after = Some(item_id(after));
            let page =
                PageRequest { after, limit: 1, max_bytes: usize::MAX, order: Order::Ascending };
            world.store.list_items(&world.tenant, &scope, &page).await
        }
    };

    for unknown in ["b", "c", "nothing"] {
        assert_eq!(
            refusal(ListScope::Conversation(id.clone()), unknown).await,
            Err(StoreError::CursorNotFound(format!("msg_{unknown}")))
        );
    }
    for elsewhere in ["a", "e"] {
        assert_eq!(
            refusal(ListScope::Input(response.clone()), elsewhere).await,
            Err(StoreError::CursorNotFound(format!("msg_{elsewhere}")))
        );
    }
}

pub(crate) async fn response_lists_only_its_own_input(world: World) {
    let first = world.first(&["a", "b"], &["c"]).await;
    let second = world.after(&first, &["d", "e", "f"], &["g"]).await;
    let fork = world.after(&first, &["h"], &["i"]).await;

    assert_eq!(world.input(&second).await, ["d", "e", "f"]);
    assert_eq!(world.input(&fork).await, ["h"]);
    let scope = ListScope::Input(second);
    let newest = page(&world, &scope, None, 2, Order::Descending).await;
    assert_eq!(newest, (vec!["f".into(), "e".into()], true));
    let oldest = page(&world, &scope, Some("e"), 2, Order::Descending).await;
    assert_eq!(oldest, (vec!["d".into()], false));
}

pub(crate) async fn empty_page_reports_more_items(world: World) {
    let full = ListScope::Conversation(world.conversation(&["a"]).await);
    let empty = ListScope::Conversation(world.conversation(&[]).await);

    let of_full = page(&world, &full, None, 0, Order::Ascending).await;
    assert_eq!(of_full, (vec![], true));
    let of_empty = page(&world, &empty, None, 0, Order::Descending).await;
    assert_eq!(of_empty, (vec![], false));
}

pub(crate) async fn pages_have_a_byte_limit(world: World) {
    let scope = ListScope::Conversation(world.conversation(&["a", "b", "c"]).await);
    let length = item("a").body.bytes().unwrap().len();
    for (max_bytes, order, items) in [
        (0, Order::Ascending, vec!["a"]),
        (length, Order::Ascending, vec!["a"]),
        (2 * length - 1, Order::Ascending, vec!["a"]),
        (2 * length, Order::Ascending, vec!["a", "b"]),
        (2 * length, Order::Descending, vec!["c", "b"]),
    ] {
        let got = bounded_page(&world, &scope, None, (9, max_bytes), order).await;
        let items = items.into_iter().map(String::from).collect();
        assert_eq!(got, (items, true), "{max_bytes} bytes, {order:?}");
    }
    let all = bounded_page(&world, &scope, None, (9, 3 * length), Order::Ascending).await;
    assert!(!all.1, "{all:?}");
    let last = bounded_page(&world, &scope, Some("b"), (9, 0), Order::Ascending).await;
    assert_eq!(last, (vec!["c".into()], false));
    let none = bounded_page(&world, &scope, None, (0, 0), Order::Ascending).await;
    assert_eq!(none, (vec![], true));
}

pub(crate) async fn long_items_are_on_pages_of_their_own(world: World) {
    const LONG: usize = 300_000;
    let conversation = world.conversation(&["a"]).await;
    let long = ["b", "c", "d"].map(|name| saying(name, &"x".repeat(LONG)));
    world.store.append_items(&world.tenant, &conversation, long.into()).await.unwrap();
    world.append(&conversation, &["e"]).await.unwrap();
    let scope = ListScope::Conversation(conversation);

    for (max_bytes, sizes) in [(1, [1, 1, 1, 1, 1].as_slice()), (LONG + 1_000, &[2, 1, 2])] {
        let (mut read, mut counts, mut has_more) = (Vec::new(), Vec::new(), true);
        while has_more {
            let after: Option<String> = read.last().cloned();
            let range = (9, max_bytes);
            let page = bounded_page(&world, &scope, after.as_deref(), range, Order::Ascending);
            let (names, more) = page.await;
            counts.push(names.len());
            read.extend(names);
            has_more = more;
        }
        assert_eq!((counts.as_slice(), read.concat().as_str()), (sizes, "abcde"), "{max_bytes}");
    }
}
