//! Every session store passes the conformance tests.

use std::sync::Arc;

use antiphon_agents::session::{
    ConversationSessions, MemorySessions, SealedSessions, SessionError, SessionStore,
    StoreSessions, conformance,
};
use antiphon_agents::user;
use antiphon_client::Client;
use antiphon_gateway::settings::Settings;
use antiphon_mock::{Reply, StrictProvider};
use antiphon_testkit::postgres::Server;
use tokio::net::TcpListener;

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

/// Starts a gateway of this project with its store in memory. Returns its base URL.
async fn start_gateway() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port is free");
    let url = format!("http://{}/v1", listener.local_addr().expect("it is bound"));
    let store = antiphon_store::open("sqlite::memory:").await.expect("the store opens");
    let shutdown = std::future::pending();
    tokio::spawn(antiphon_gateway::serve(listener, Settings::default(), store, shutdown));
    url
}

#[tokio::test]
async fn conversations_of_the_gateway() {
    let client = Client::new(start_gateway().await).with_key("sk-test");
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
