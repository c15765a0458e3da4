use serde_json::{Value, json};

use super::*;

fn bytes(page: &Value) -> Bytes {
    page.to_string().into()
}

fn page(ids: &[&str], has_more: bool) -> Value {
    let item = |id: &&str| json!({"type": "message", "role": "user", "id": id, "content": []});
    let data: Vec<Value> = ids.iter().map(item).collect();
    json!({"object": "list", "data": data, "last_id": ids.last(), "has_more": has_more})
}

fn listing() -> Listing {
    Listing::new(Cursor::LastId)
}

/// The error for the last of these pages.
fn refused(pages: &[Value]) -> String {
    let mut listing = listing();
    let (last, before) = pages.split_last().unwrap();
    for page in before {
        listing.add(&bytes(page)).unwrap();
    }
    listing.add(&bytes(last)).unwrap_err().to_string()
}

#[test]
fn listing_requests_all_pages() {
    let mut listing = listing();
    assert_eq!(listing.query().as_deref(), Some("order=asc&limit=100"));
    listing.add(&bytes(&page(&["msg_1", "msg_2"], true))).unwrap();
    assert_eq!(listing.query().as_deref(), Some("order=asc&limit=100&after=msg_2"));
    listing.add(&bytes(&page(&["msg_3"], false))).unwrap();
    assert_eq!(listing.query(), None);
    let ids = listing.into_items();
    let ids: Vec<&str> = ids.iter().map(|item| item.head().id.as_ref().unwrap().as_str()).collect();
    assert_eq!(ids, ["msg_1", "msg_2", "msg_3"]);
}

#[test]
fn missing_has_more_ends_the_list() {
    for rest in [json!({}), json!({"has_more": null}), json!({"has_more": "true"})] {
        let mut page = page(&["msg_1"], false);
        page.as_object_mut().unwrap().remove("has_more");
        page.as_object_mut().unwrap().extend(rest.as_object().unwrap().clone());
        let mut listing = listing();
        listing.add(&bytes(&page)).unwrap();
        assert_eq!(listing.query(), None);
    }
}

#[test]
fn next_page_follows_the_cursor_field() {
    let mut page = page(&["msg_1", "msg_2"], true);
    page["last_id"] = json!("cursor of its own/?");
    for (cursor, after) in
        [(Cursor::LastId, "cursor%20of%20its%20own%2F%3F"), (Cursor::LastOfData, "msg_2")]
    {
        let mut listing = Listing::new(cursor);
        listing.add(&bytes(&page)).unwrap();
        assert_eq!(listing.query(), Some(format!("order=asc&limit=100&after={after}")));
    }
}

#[test]
fn missing_cursor_falls_back_to_the_other_field() {
    let mut unnamed = page(&["msg_1"], true);
    unnamed["last_id"] = Value::Null;
    let mut outline = page(&["msg_1"], true);
    outline["data"][0]["id"] = Value::Null;
    for (cursor, page) in [(Cursor::LastId, unnamed), (Cursor::LastOfData, outline)] {
        let mut listing = Listing::new(cursor);
        listing.add(&bytes(&page)).unwrap();
        assert_eq!(listing.query().as_deref(), Some("order=asc&limit=100&after=msg_1"));
    }
}

#[test]
fn items_are_slices_of_their_page() {
    let text =
        r#"{"data":[ {"type":"message","role":"user","id":"msg_1"}, {"type":"new","n":1e2} ]}"#;
    let page = Bytes::from_static(text.as_bytes());
    let mut listing = listing();
    listing.add(&page).unwrap();
    let items = listing.into_items();
    assert_eq!(items[1].text(), r#"{"type":"new","n":1e2}"#);
    assert!(items.iter().all(|item| page.as_ptr_range().contains(&item.raw().as_ptr())));
}

#[test]
fn endless_list_is_an_error() {
    let first = page(&["msg_1", "msg_2"], true);
    let other = page(&["msg_3"], true);
    let repeated = "a page of a list that ends with the same id as an earlier one";
    assert!(refused(&[first.clone(), first.clone()]).contains(repeated));
    assert!(refused(&[first.clone(), other, first]).contains(repeated));
    let empty = refused(&[page(&[], true)]);
    assert!(empty.contains("an empty page of a list, with 'has_more'"), "{empty}");
    let unnamed = json!({"data": [{"type": "message", "role": "user"}], "has_more": true});
    assert!(refused(&[unnamed]).contains("a page of a list with 'has_more', but without an id"));
}

#[test]
fn pages_and_bytes_are_bounded() {
    let mut endless = listing();
    let ends = (0..).find_map(|number: usize| {
        endless.add(&bytes(&page(&[&format!("msg_{number}")], true))).err()
    });
    assert!(ends.unwrap().to_string().contains("a list of more than 1000 pages"));
    assert_eq!(endless.into_items().len(), MAX_PAGES - 1);

    let mut long = listing();
    long.bytes = MAX_BYTES - 10;
    let error = long.add(&bytes(&page(&["msg_1"], false))).unwrap_err().to_string();
    assert!(error.contains("a list of more than 268435456 bytes"), "{error}");
}

#[test]
fn invalid_list_error_names_the_problem() {
    assert!(refused(&[json!([])]).contains("not a list: "));
    assert!(refused(&[json!({"object": "list"})]).contains("a list without 'data'"));
    let odd = refused(&[json!({"data": [{"role": "user"}, 7]})]);
    assert!(odd.contains("a list with invalid 'data': item 1: expected an object"), "{odd}");
}
