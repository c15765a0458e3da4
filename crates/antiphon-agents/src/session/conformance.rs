//! Tests that every session store has to pass, for tests of your own.
//!
//! A store that keeps each session as text, as in a file or in a column of a database:
//!
//! ```
//! use std::collections::HashMap;
//! use std::sync::{Arc, Mutex};
//!
//! use antiphon::item::{CallKey, Kind, parse_items};
//! use antiphon_agents::session::{SessionContent, SessionError, SessionStore, conformance};
//! use antiphon_agents::{Item, async_trait};
//!
//! /// The items as a JSON array, the started calls as lines, and the state of a run.
//! #[derive(Default)]
//! struct Row {
//!     items: String,
//!     started: String,
//!     run: Option<String>,
//! }
//!
//! #[derive(Default)]
//! struct Rows(Mutex<HashMap<String, Row>>);
//!
//! impl Rows {
//!     /// Changes a session: all of it, or nothing.
//!     fn change<T>(
//!         &self,
//!         key: &str,
//!         change: impl FnOnce(&mut SessionContent) -> Result<T, SessionError>,
//!     ) -> Result<T, SessionError> {
//!         let mut rows = self.0.lock().unwrap();
//!         let mut content = rows.get(key).map(read).transpose()?.unwrap_or_default();
//!         let result = change(&mut content)?;
//!         let row = rows.entry(key.to_owned()).or_default();
//!         let items: Vec<&str> = content.items.iter().map(Item::text).collect();
//!         row.items = format!("[{}]", items.join(","));
//!         let line = |it: &CallKey| format!("{} {}\n", it.kind.as_str(), it.call_id.as_str());
//!         row.started = content.started.iter().map(line).collect();
//!         Ok(result)
//!     }
//! }
//!
//! fn read(row: &Row) -> Result<SessionContent, SessionError> {
//!     let items = if row.items.is_empty() { "[]" } else { &row.items };
//!     let items = parse_items(&items.to_owned().into());
//!     let items = items.map_err(|error| SessionError::Unavailable(error.to_string()))?;
//!     let call = |line: &str| {
//!         let (kind, id) = line.split_once(' ')?;
//!         Some(CallKey { kind: Kind::parse(kind), call_id: id.into() })
//!     };
//!     Ok(SessionContent { items, started: row.started.lines().filter_map(call).collect() })
//! }
//!
//! #[async_trait]
//! impl SessionStore for Rows {
//!     async fn load(&self, key: &str) -> Result<SessionContent, SessionError> {
//!         self.0.lock().unwrap().get(key).map_or_else(|| Ok(SessionContent::default()), read)
//!     }
//!
//!     async fn append(
//!         &self,
//!         key: &str,
//!         items: &[Item],
//!         started: &[CallKey],
//!     ) -> Result<(), SessionError> {
//!         self.change(key, |content| {
//!             content.items.extend_from_slice(items);
//!             content.started.extend_from_slice(started);
//!             Ok(())
//!         })
//!     }
//!
//!     async fn replace(&self, key: &str, old: usize, new: &[Item]) -> Result<(), SessionError> {
//!         self.change(key, |content| {
//!             if content.items.len() < old {
//!                 return Err(SessionError::Changed(key.to_owned()));
//!             }
//!             content.items.splice(..old, new.iter().cloned());
//!             Ok(())
//!         })
//!     }
//!
//!     async fn pop(&self, key: &str, tail: &[Item]) -> Result<bool, SessionError> {
//!         self.change(key, |content| {
//!             let fits = content.items.ends_with(tail);
//!             if fits {
//!                 content.items.truncate(content.items.len() - tail.len());
//!             }
//!             Ok(fits)
//!         })
//!     }
//!
//!     async fn clear(&self, key: &str) -> Result<(), SessionError> {
//!         self.change(key, |content| {
//!             *content = SessionContent::default();
//!             Ok(())
//!         })
//!     }
//!
//!     async fn save_run(&self, key: &str, state: Option<&str>) -> Result<(), SessionError> {
//! self.0.lock().unwrap().entry(key.to_owned()).or_default().run = state.map(str::to_owned);
//!         Ok(())
//!     }
//!
//!     async fn run(&self, key: &str) -> Result<Option<String>, SessionError> {
//!         Ok(self.0.lock().unwrap().get(key).and_then(|row| row.run.clone()))
//!     }
//! }
//!
//! # tokio::runtime::Builder::new_current_thread().build()?.block_on(async {
//! conformance::check(Arc::new(Rows::default())).await;
//! # });
//! # Ok::<(), std::io::Error>(())
//! ```

use std::sync::Arc;

use antiphon::Item;
use antiphon::item::{CallKey, Kind};
use futures_util::future::join_all;

use super::{SessionError, SessionStore};

/// Runs all tests with sessions of `store`, whose keys begin with `conformance/`.
///
/// # Panics
/// If the store fails a test; the message names the expectation.
pub async fn check(store: Arc<dyn SessionStore>) {
    let store = &*store;
    unknown_session_is_empty(store).await;
    items_keep_their_order_and_bytes(store).await;
    started_calls_are_kept(store).await;
    sessions_are_apart(store).await;
    concurrent_first_appends_all_stay(store).await;
    only_an_exact_tail_is_popped(store).await;
    replaced_items_keep_later_ones(store).await;
    cleared_session_is_empty(store).await;
    run_is_replaced_and_removed(store).await;
}

fn item(text: &str) -> Item {
    crate::input::user(text)
}

/// An item with an id and spaces, which a store that rebuilds JSON would lose.
fn odd_item() -> Item {
    let text = r#"{ "type":"function_call", "id":"fc_1", "call_id":"c1", "name":"f",
        "arguments":"{}", "x":1e2 }"#;
    Item::parse(text.into()).expect("the text above is an item")
}

async fn items_of(store: &dyn SessionStore, key: &str) -> Vec<Item> {
    store.load(key).await.expect("the store loads a session").items
}

async fn append(store: &dyn SessionStore, key: &str, items: &[Item]) {
    store.append(key, items, &[]).await.expect("the store appends items");
}

async fn unknown_session_is_empty(store: &dyn SessionStore) {
    let content = store.load("conformance/unknown").await.expect("an unknown session loads");
    assert!(content.items.is_empty() && content.started.is_empty(), "an unknown session is empty");
    assert_eq!(store.run("conformance/unknown").await, Ok(None), "an unknown session has no run");
}

async fn items_keep_their_order_and_bytes(store: &dyn SessionStore) {
    let key = "conformance/order";
    append(store, key, &[item("a"), odd_item()]).await;
    append(store, key, &[odd_item(), item("a"), item("b")]).await;
    let items = items_of(store, key).await;
    let texts: Vec<_> = items.iter().map(Item::text).collect();
    let (a, b, odd) = (item("a"), item("b"), odd_item());
    let expected = [a.text(), odd.text(), odd.text(), a.text(), b.text()];
    assert_eq!(texts, expected, "items keep their order and bytes, also equal ones");
}

async fn started_calls_are_kept(store: &dyn SessionStore) {
    let key = "conformance/started";
    let call = CallKey { kind: Kind::FunctionCall, call_id: "c1".into() };
    store
        .append(key, &[], std::slice::from_ref(&call))
        .await
        .expect("the store marks calls as started");
    append(store, key, &[item("a")]).await;
    let content = store.load(key).await.expect("the store loads a session");
    assert_eq!(content.started, [call], "started calls are kept");
    assert_eq!(content.items.len(), 1, "marks of started calls are not items");
}

async fn sessions_are_apart(store: &dyn SessionStore) {
    append(store, "conformance/one", &[item("one")]).await;
    append(store, "conformance/one/two", &[item("two")]).await;
    assert_eq!(items_of(store, "conformance/one").await, [item("one")], "sessions are apart");
}

async fn concurrent_first_appends_all_stay(store: &dyn SessionStore) {
    let key = "conformance/concurrent";
    let items: Vec<_> = (0..8).map(|number| [item(&number.to_string())]).collect();
    for appended in join_all(items.iter().map(|items| store.append(key, items, &[]))).await {
        appended.expect("concurrent first appends succeed");
    }
    assert_eq!(items_of(store, key).await.len(), 8, "concurrent first appends all stay");
}

async fn only_an_exact_tail_is_popped(store: &dyn SessionStore) {
    let key = "conformance/pop";
    append(store, key, &[item("a"), item("b"), item("c")]).await;
    assert_eq!(store.pop(key, &[item("b")]).await, Ok(false), "another tail is not popped");
    assert_eq!(items_of(store, key).await.len(), 3, "a rejected pop changes nothing");
    assert_eq!(store.pop(key, &[item("b"), item("c")]).await, Ok(true), "the tail is popped");
    assert_eq!(items_of(store, key).await, [item("a")], "the other items stay");
}

async fn replaced_items_keep_later_ones(store: &dyn SessionStore) {
    let key = "conformance/replace";
    append(store, key, &[item("a"), item("b"), item("c")]).await;
    store.replace(key, 2, &[item("summary")]).await.expect("the store replaces items");
    append(store, key, &[item("d")]).await;
    let expected = [item("summary"), item("c"), item("d")];
    assert_eq!(items_of(store, key).await, expected, "items after the replaced ones stay");
    let changed = store.replace(key, 9, &[]).await;
    assert!(matches!(changed, Err(SessionError::Changed(_))), "a shorter session has changed");
    assert_eq!(items_of(store, key).await, expected, "a failed replacement changes nothing");
}

async fn cleared_session_is_empty(store: &dyn SessionStore) {
    let key = "conformance/clear";
    append(store, key, &[item("a")]).await;
    store.clear(key).await.expect("the store clears a session");
    assert_eq!(items_of(store, key).await, [], "a cleared session is empty");
    append(store, key, &[item("b")]).await;
    assert_eq!(items_of(store, key).await, [item("b")], "a cleared session can be used");
}

async fn run_is_replaced_and_removed(store: &dyn SessionStore) {
    let key = "conformance/run";
    for state in [r#"{"a":1}"#, r#"{"b":2}"#] {
        store.save_run(key, Some(state)).await.expect("the store saves a run");
        let run = store.run(key).await.expect("the store returns a run");
        assert_eq!(run.as_deref(), Some(state), "the latest state of a run is returned");
    }
    store.save_run(key, None).await.expect("the store removes a run");
    assert_eq!(store.run(key).await, Ok(None), "a removed run is gone");
    assert_eq!(items_of(store, key).await, [], "the state of a run is not an item");
}
