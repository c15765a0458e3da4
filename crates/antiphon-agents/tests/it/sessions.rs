//! Every session store passes the conformance tests.

use std::sync::Arc;

use antiphon::item::CallKey;
use antiphon_agents::session::{
    ConversationSessions, MemorySessions, SealedSessions, SessionContent, SessionError,
    SessionStore, StoreSessions, conformance,
};
use antiphon_agents::{Item, async_trait, user};
use antiphon_client::Client;
use antiphon_mock::{Reply, StrictProvider};
use antiphon_testkit::postgres::Server;

#[tokio::test]
async fn memory() {
    conformance::check(Arc::new(MemorySessions::new())).await;
}

#[tokio::test]
async fn sqlite() {
    let directory = tempfile::tempdir().unwrap();
    let url = format!("sqlite:{}", directory.path().join("sessions.db").display());
    let sessions = StoreSessions::open(&url).await.unwrap();
    conformance::check(Arc::new(sessions.clone())).await;
    sessions.append("kept", &[user("hello")], &[]).await.unwrap();
    sessions.close().await;
    drop(sessions);

    let sessions = StoreSessions::open(&url).await.unwrap();
    assert_eq!(sessions.load("kept").await.unwrap().items, [user("hello")]);
    assert_eq!(sessions.tenant("other").load("kept").await.unwrap().items, []);
}

#[tokio::test]
async fn postgresql() {
    let url = Server::shared().await.create_database().await;
    let sessions = StoreSessions::open(&format!("{url}?pool_max=4")).await.unwrap();
    conformance::check(Arc::new(sessions.clone())).await;
    sessions.close().await;
}

#[tokio::test]
async fn conversations() {
    let provider = StrictProvider::start().await;
    let client = Client::new(provider.base_url()).with_key("sk-test");
    let sessions = ConversationSessions::new(client.clone());
    conformance::check(Arc::new(sessions.clone())).await;
    let sealed = SealedSessions::new(ConversationSessions::new(client.clone()), &[7; 32]);
    conformance::check(Arc::new(sealed)).await;
    assert_eq!(provider.refusals(), []);

    // Another process has the id of the conversation.
    let many: Vec<_> = (0..50).map(|number| user(&number.to_string())).collect();
    sessions.append("many", &many, &[]).await.unwrap();
    sessions.save_run("many", Some("{}")).await.unwrap();
    let id = sessions.id("many").unwrap();
    let other = ConversationSessions::new(client.clone());
    assert_eq!(other.load(id.as_str()).await.unwrap().items, many);
    other.save_run(id.as_str(), Some(r#"{"a":1}"#)).await.unwrap();
    assert_eq!(provider.conversation_items(id.as_str()).unwrap().len(), 2, "one state is kept");

    // Items of other programs are part of the session.
    client.conversations().add_items(&id, &[user("from elsewhere")]).await.unwrap();
    assert!(other.load(id.as_str()).await.unwrap().items[50].text().contains("from elsewhere"));
}

#[tokio::test]
async fn conversations_of_the_gateway() {
    let client = Client::new(crate::gateway::start().await).with_key("sk-test");
    let sessions = ConversationSessions::new(client.clone());
    conformance::check(Arc::new(sessions.clone())).await;
    let sealed = SealedSessions::new(ConversationSessions::new(client.clone()), &[7; 32]);
    conformance::check(Arc::new(sealed)).await;

    // Another process has the id of the conversation.
    let many: Vec<_> = (0..50).map(|number| user(&number.to_string())).collect();
    sessions.append("many", &many, &[]).await.unwrap();
    sessions.save_run("many", Some("{}")).await.unwrap();
    let id = sessions.id("many").unwrap();
    let other = ConversationSessions::new(client.clone());
    assert_eq!(other.load(id.as_str()).await.unwrap().items, many);
    other.save_run(id.as_str(), Some(r#"{"a":1}"#)).await.unwrap();
    assert_eq!(client.conversations().items(&id).await.unwrap().len(), 2, "one state is kept");
    client.conversations().add_items(&id, &[user("from elsewhere")]).await.unwrap();
    assert!(other.load(id.as_str()).await.unwrap().items[50].text().contains("from elsewhere"));
}

#[tokio::test]
async fn write_to_a_conversation_has_one_outcome() {
    let provider = StrictProvider::start().await;
    let client = Client::new(provider.base_url()).with_key("sk-test");
    let sessions = ConversationSessions::new(client);
    sessions.append("s", &[user("a")], &[]).await.unwrap();
    let reply = Reply::json(http::StatusCode::INTERNAL_SERVER_ERROR, &serde_json::json!({}));
    provider.reply_instead(http::Method::POST, "/items", reply);
    let failed = sessions.append("s", &[user("b")], &[]).await;
    assert!(matches!(failed, Err(SessionError::Unavailable(_))), "{failed:?}");
    assert_eq!(sessions.load("s").await.unwrap().items, [user("a")]);
}

#[tokio::test]
async fn sealed() {
    let inner = MemorySessions::new();
    conformance::check(Arc::new(SealedSessions::new(inner.clone(), &[7; 32]))).await;

    let sealed = SealedSessions::new(inner.clone(), &[7; 32]);
    sealed.append("s", &[user("secret words")], &[]).await.unwrap();
    let stored = inner.load("s").await.unwrap().items;
    assert!(!stored[0].text().contains("secret words"));
    inner.append("t", &stored, &[]).await.unwrap();
    let moved = sealed.load("t").await;
    assert!(matches!(moved, Err(SessionError::Damaged { .. })), "it belongs to its session");
    let other = SealedSessions::new(inner, &[8; 32]).load("s").await;
    assert!(matches!(other, Err(SessionError::Damaged { .. })), "another key reads nothing");
}

/// A fault of a store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fault {
    TruncatesKeys,
    ForgetsStartedCalls,
    ReversesItems,
    LosesEqualItems,
    RewritesJson,
    PopsAnyTail,
    ReplacesLaterItems,
    ReplacesShorterSessions,
    ClearsNothing,
    KeepsRemovedRuns,
}

/// A store with one fault.
struct Faulty(MemorySessions, Fault);

impl Faulty {
    fn key<'a>(&self, key: &'a str) -> &'a str {
        let is_truncated = self.1 == Fault::TruncatesKeys;
        key.strip_suffix("/two").filter(|_| is_truncated).unwrap_or(key)
    }
}

#[async_trait]
impl SessionStore for Faulty {
    async fn load(&self, key: &str) -> Result<SessionContent, SessionError> {
        let key = self.key(key);
        let SessionContent { mut items, started } = self.0.load(key).await?;
        match self.1 {
            Fault::ReversesItems => items.reverse(),
            Fault::LosesEqualItems => items.dedup_by(|one, two| one.text() == two.text()),
            Fault::RewritesJson => {
                let rewritten = |item: &Item| {
                    let value: serde_json::Value =
                        serde_json::from_str(item.text()).expect("an item is JSON");
                    Item::parse(value.to_string().into()).expect("the value is an item")
                };
                items = items.iter().map(rewritten).collect();
            }
            _ => {}
        }
        let is_kept = self.1 != Fault::ForgetsStartedCalls;
        Ok(SessionContent { items, started: started.into_iter().filter(|_| is_kept).collect() })
    }

    async fn append(
        &self,
        key: &str,
        items: &[Item],
        started: &[CallKey],
    ) -> Result<(), SessionError> {
        let key = self.key(key);
        self.0.append(key, items, started).await
    }

    async fn replace(&self, key: &str, old: usize, new: &[Item]) -> Result<(), SessionError> {
        let length = self.0.load(key).await?.items.len();
        match self.1 {
            Fault::ReplacesLaterItems if old <= length => self.0.replace(key, length, new).await,
            Fault::ReplacesShorterSessions => self.0.replace(key, old.min(length), new).await,
            _ => self.0.replace(key, old, new).await,
        }
    }

    async fn pop(&self, key: &str, tail: &[Item]) -> Result<bool, SessionError> {
        if self.1 != Fault::PopsAnyTail {
            return self.0.pop(key, tail).await;
        }
        let items = self.0.load(key).await?.items;
        self.0.pop(key, &items[items.len() - tail.len()..]).await
    }

    async fn clear(&self, key: &str) -> Result<(), SessionError> {
        if self.1 == Fault::ClearsNothing { Ok(()) } else { self.0.clear(key).await }
    }

    async fn save_run(&self, key: &str, state: Option<&str>) -> Result<(), SessionError> {
        let is_kept = self.1 == Fault::KeepsRemovedRuns && state.is_none();
        if is_kept { Ok(()) } else { self.0.save_run(key, state).await }
    }

    async fn run(&self, key: &str) -> Result<Option<String>, SessionError> {
        self.0.run(key).await
    }
}

#[tokio::test]
async fn every_fault_of_a_store_is_found() {
    let faults = [
        (Fault::TruncatesKeys, "sessions are apart"),
        (Fault::ForgetsStartedCalls, "started calls are kept"),
        (Fault::ReversesItems, "items keep their order"),
        (Fault::LosesEqualItems, "also equal ones"),
        (Fault::RewritesJson, "order and bytes"),
        (Fault::PopsAnyTail, "another tail is not popped"),
        (Fault::ReplacesLaterItems, "items after the replaced ones stay"),
        (Fault::ReplacesShorterSessions, "a shorter session has changed"),
        (Fault::ClearsNothing, "a cleared session is empty"),
        (Fault::KeepsRemovedRuns, "a removed run is gone"),
    ];
    for (fault, expectation) in faults {
        let store = Arc::new(Faulty(MemorySessions::new(), fault));
        let checked = tokio::spawn(conformance::check(store)).await;
        let panic = checked.expect_err("the suite finds the fault").into_panic();
        let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
        let message = text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap();
        assert!(message.contains(expectation), "{fault:?}: {message}");
    }
}
