//! Every session store passes the conformance tests.

use std::sync::Arc;

use antiphon_agents::session::{
    MemorySessions, SealedSessions, SessionError, SessionStore, StoreSessions, conformance,
};
use antiphon_agents::user;

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
