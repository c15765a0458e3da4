use super::*;
use antiphon_store::SqliteStore;

fn secrets(texts: &[&str]) -> Vec<Secret> {
    texts.iter().map(|text| Secret::new(*text)).collect()
}

async fn key(store: &SqliteStore, texts: &[&str]) -> Result<[u8; 32], String> {
    let key = MasterKey::load(store, &secrets(texts)).await;
    key.map(|key| *key.0).map_err(|error| error.to_string())
}

async fn kept(store: &SqliteStore) -> Bytes {
    store.value_or_insert(NAME, Bytes::new()).await.unwrap()
}

#[tokio::test]
async fn key_is_unchanged_when_secrets_change() {
    let store = SqliteStore::in_memory().unwrap();
    let first = key(&store, &["old"]).await.unwrap();
    for rotation in [&["old", "new"][..], &["new", "old"], &["new"]] {
        assert_eq!(key(&store, rotation).await, Ok(first), "{rotation:?}");
    }
    assert_eq!(key(&store, &["old"]).await, Err(NO_FIT.into()));
    assert_eq!(key(&store, &[]).await, Err(NO_SECRET.into()));
}

#[tokio::test]
async fn first_secret_encrypts_a_plain_key() {
    let store = SqliteStore::in_memory().unwrap();
    let open = key(&store, &[]).await.unwrap();
    assert_eq!(kept(&store).await, &open[..]);
    assert_eq!(key(&store, &["secret"]).await, Ok(open));
    let closed = kept(&store).await;
    assert!(!closed.windows(8).any(|bytes| open.windows(8).any(|key| key == bytes)));
    assert_eq!(key(&store, &[]).await, Err(NO_SECRET.into()));
}

#[tokio::test]
async fn gateways_that_start_at_once_have_one_key() {
    let store = SqliteStore::in_memory().unwrap();
    let keys = (0..8).map(|_| key(&store, &["secret"]));
    let keys = futures_util::future::join_all(keys).await;
    assert!(keys.iter().all(|key| key.is_ok() && *key == keys[0]));
}

#[test]
fn modified_envelope_is_not_opened() {
    let secret = Secret::new("secret");
    let closed = envelope::close(&[7; 32], &secret);
    assert_eq!(envelope::open(&closed, &secret), Some(Zeroizing::new([7; 32])));
    for at in 0..closed.len() {
        let mut touched = closed.to_vec();
        touched[at] ^= 1;
        assert_eq!(envelope::open(&touched, &secret), None, "byte {at}");
        assert_eq!(envelope::open(&closed[..at], &secret), None, "{at} bytes");
    }
}

#[test]
fn keys_of_different_purposes_differ() {
    let key = MasterKey(Zeroizing::new([7; 32]));
    assert_eq!(key.derive("one"), key.derive("one"));
    assert_ne!(key.derive("one"), key.derive("two"));
}

/// During a roll-out, gateways of the previous step may start again.
#[tokio::test]
async fn secret_rotation_allows_any_order_of_starts() {
    let steps = [&["old"][..], &["old", "new"], &["new", "old"], &["new"]];
    for pair in steps.windows(2) {
        let (before, after) = (pair[0], pair[1]);
        let store = SqliteStore::in_memory().unwrap();
        let first = key(&store, before).await;
        for texts in [after, before, before, after, after] {
            assert_eq!(key(&store, texts).await, first, "{texts:?} among {pair:?}");
        }
    }
}

#[tokio::test]
async fn rejected_start_leaves_the_stored_key_unchanged() {
    let store = SqliteStore::in_memory().unwrap();
    key(&store, &["old"]).await.unwrap();
    let before = kept(&store).await;
    for wrong in [&[][..], &["new"], &["new", "newer"]] {
        assert!(key(&store, wrong).await.is_err());
        assert_eq!(kept(&store).await, before, "{wrong:?}");
    }
}
