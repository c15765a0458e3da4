//! Lists, page by page.

use serde_json::{Value, json};

use crate::support::{Client, World, ask, ids, list, text, user};

/// All items of a list, read in pages of this size.
async fn pages(client: &Client, path: &str, order: &str, limit: usize) -> Vec<String> {
    let mut read = Vec::new();
    let mut after = String::new();
    loop {
        let query = format!("{path}?order={order}&limit={limit}{after}");
        let page = client.get(&query).await.json();
        let data = list(&page["data"]);
        assert_eq!(page["object"], "list");
        assert!(data.len() <= limit);
        let page_ids = ids(data);
        assert_eq!(page["first_id"].as_str(), page_ids.first().copied());
        assert_eq!(page["last_id"].as_str(), page_ids.last().copied());
        read.extend(page_ids.iter().map(|&id| id.to_owned()));
        if page["has_more"] == json!(false) {
            return read;
        }
        assert_eq!(data.len(), limit, "only the last page is shorter");
        after = format!("&after={}", text(&page["last_id"]));
    }
}

async fn assert_pages(client: &Client, path: &str, expected: &[String]) {
    let mut backwards = expected.to_vec();
    backwards.reverse();
    for limit in [1, 2, 3, 7, expected.len(), expected.len() + 1, 100] {
        assert_eq!(pages(client, path, "asc", limit).await, expected);
        assert_eq!(pages(client, path, "desc", limit).await, backwards);
    }
}

fn owned(items: &[Value]) -> Vec<String> {
    ids(items).into_iter().map(str::to_owned).collect()
}

#[tokio::test]
async fn conversation_items_are_listed_in_pages() {
    let world = World::new().await;
    let client = world.client();
    let conversation = client.new_conversation().await;
    let path = format!("/v1/conversations/{conversation}/items");
    let empty = client.get(&path).await.json();
    assert_eq!(
        empty,
        json!({"object": "list", "data": [], "first_id": null, "last_id": null, "has_more": false})
    );
    for number in 0..3 {
        client.respond(&ask(format!("Turn {number}")).within(&conversation)).await;
        let more: Vec<Value> = (0..3).map(|part| user(&format!("{number}.{part}"))).collect();
        client.add_items(&conversation, &more).await;
    }
    let items = client.items(&conversation).await;
    assert_eq!(items.len(), 15);
    assert_pages(&client, &path, &owned(&items)).await;
}

#[tokio::test]
async fn input_items_are_listed_in_pages() {
    let world = World::new().await;
    let client = world.client();
    let message: Vec<Value> = (0..9).map(|number| user(&format!("Part {number}"))).collect();
    let received = client.respond(&ask(message)).await;
    let next = client.respond(&ask("Next").after(received.id())).await;

    let path = format!("/v1/responses/{}/input_items", received.id());
    let all = client.get(&format!("{path}?order=asc")).await.json();
    let all = all["data"].as_array().unwrap();
    assert_eq!(all[0]["content"][0]["text"], "Part 0");
    assert_pages(&client, &path, &owned(all)).await;

    let own = client.get(&format!("/v1/responses/{}/input_items", next.id())).await.json();
    assert_eq!(own["data"].as_array().unwrap().len(), 1);
}

#[tokio::test]
async fn default_page_has_the_newest_twenty() {
    let world = World::new().await;
    let client = world.client();
    let conversation = client.new_conversation().await;
    for from in [0, 15] {
        let added: Vec<Value> = (from..from + 15).map(|number| user(&number.to_string())).collect();
        client.add_items(&conversation, &added).await;
    }
    let page = client.get(&format!("/v1/conversations/{conversation}/items")).await.json();
    let message: Vec<&Value> =
        page["data"].as_array().unwrap().iter().map(|item| &item["content"][0]["text"]).collect();
    let expected: Vec<String> = (10..30).rev().map(|number| number.to_string()).collect();
    assert_eq!(message, expected.iter().collect::<Vec<_>>());
    assert_eq!(page["has_more"], true);
}

#[tokio::test]
async fn invalid_query_is_rejected() {
    let world = World::new().await;
    let client = world.client();
    let conversation = client.new_conversation().await;
    let received = client.respond(&ask("Hello").within(&conversation)).await;
    for path in [
        format!("/v1/conversations/{conversation}/items"),
        format!("/v1/responses/{}/input_items", received.id()),
    ] {
        for (query, param) in [
            ("limit=0", "limit"),
            ("limit=101", "limit"),
            ("limit=-1", "limit"),
            ("limit=many", "limit"),
            ("order=up", "order"),
        ] {
            let refused = client.get(&format!("{path}?{query}")).await.refused();
            assert_eq!(refused.status, 400, "{query}");
            assert_eq!(refused.body["error"]["param"], param);
            assert_eq!(refused.body["error"]["type"], "invalid_request_error");
        }
        let refused = client.get(&format!("{path}?after=msg_unknown")).await.refused();
        assert!((400..500).contains(&refused.status));
        assert!(refused.body["error"]["message"].as_str().unwrap().contains("msg_unknown"));
    }
}

/// All items of a list, read as the official clients do: behind the last item while there are more.
/// Says how many items each page had.
async fn walk(client: &Client, path: &str, order: &str) -> (Vec<String>, Vec<usize>) {
    let (mut read, mut sizes, mut after) = (Vec::new(), Vec::new(), String::new());
    loop {
        let answer = client.get(&format!("{path}?order={order}&limit=100{after}")).await;
        let page = answer.json();
        read.extend(owned(list(&page["data"])));
        sizes.push(list(&page["data"]).len());
        if page["has_more"] == json!(false) {
            return (read, sizes);
        }
        after = format!("&after={}", text(&page["last_id"]));
    }
}

#[tokio::test]
async fn long_items_make_pages_short() {
    let world = World::new().await;
    let client = world.client();
    let conversation = client.new_conversation().await;
    for length in [1 << 20, 3 << 20, 9 << 20] {
        let letters = ["a", "b", "c"];
        let items: Vec<Value> = letters.iter().map(|letter| user(&letter.repeat(length))).collect();
        client.add_items(&conversation, &items).await;
    }
    let path = format!("/v1/conversations/{conversation}/items");

    let (ascending, sizes) = walk(&client, &path, "asc").await;
    assert_eq!(sizes, [4, 2, 1, 1, 1], "8 MiB a page, but one item at least");
    let (mut descending, sizes) = walk(&client, &path, "desc").await;
    assert_eq!(sizes, [1, 1, 1, 2, 4]);

    descending.reverse();
    assert_eq!(ascending, descending);
    let distinct: std::collections::HashSet<_> = ascending.iter().collect();
    assert_eq!(distinct.len(), 9, "every item comes once");
}
