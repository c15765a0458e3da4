//! Sessions that are encrypted at rest.

use antiphon::Item;
use antiphon::item::CallKey;
use antiphon::json::{Object, quote};
use async_trait::async_trait;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ring::aead::{AES_256_GCM, Aad, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};

use super::{SessionContent, SessionError, SessionStore};

/// Sessions of another store, encrypted with AES-256-GCM.
///
/// The store sees the number, order and size of the items, the ids of started calls, and the keys
/// of sessions. An item of one session is not valid in another.
pub struct SealedSessions<S> {
    inner: S,
    key: LessSafeKey,
}

/// The kind of an encrypted item.
const KIND: &str = "antiphon.sealed";

impl<S> SealedSessions<S> {
    /// Encrypts the sessions of `inner` with this key.
    pub fn new(inner: S, key: &[u8; 32]) -> Self {
        let key = UnboundKey::new(&AES_256_GCM, key).expect("the key has the length of AES-256");
        Self { inner, key: LessSafeKey::new(key) }
    }

    fn seal(&self, key: &str, text: &str) -> String {
        let mut nonce = [0; NONCE_LEN];
        getrandom::fill(&mut nonce).expect("the operating system has random bytes");
        let mut sealed = text.as_bytes().to_vec();
        let unique = Nonce::assume_unique_for_key(nonce);
        self.key
            .seal_in_place_append_tag(unique, Aad::from(key), &mut sealed)
            .expect("an item is shorter than the limit of the cipher");
        STANDARD.encode([&nonce[..], &sealed].concat())
    }

    fn unseal(&self, key: &str, sealed: &str) -> Result<String, SessionError> {
        let open = || {
            let mut bytes = STANDARD.decode(sealed).ok()?;
            let (nonce, text) = bytes.split_at_mut_checked(NONCE_LEN)?;
            let nonce = Nonce::try_assume_unique_for_key(nonce).ok()?;
            let text = self.key.open_in_place(nonce, Aad::from(key), text).ok()?;
            String::from_utf8(text.to_vec()).ok()
        };
        open().ok_or_else(|| damaged(key, "an item cannot be decrypted with this key"))
    }

    fn seal_items(&self, key: &str, items: &[Item]) -> Vec<Item> {
        items.iter().map(|item| sealed_item(&self.seal(key, item.text()))).collect()
    }

    fn unseal_item(&self, key: &str, item: &Item) -> Result<Item, SessionError> {
        let object = item.object();
        let data = object.string("data").filter(|_| item.head().kind.as_str() == KIND);
        let data = data.ok_or_else(|| damaged(key, "it has an item that is not encrypted"))?;
        let text = self.unseal(key, &data)?;
        Item::parse(text.into()).map_err(|error| damaged(key, &error.to_string()))
    }
}

fn sealed_item(data: &str) -> Item {
    let item = format!(r#"{{"type":"{KIND}","data":{}}}"#, quote(data));
    Item::parse(item.into()).expect("the text above is an item")
}

fn damaged(key: &str, reason: &str) -> SessionError {
    SessionError::Damaged { key: key.to_owned(), reason: reason.to_owned() }
}

#[async_trait]
impl<S: SessionStore> SessionStore for SealedSessions<S> {
    async fn load(&self, key: &str) -> Result<SessionContent, SessionError> {
        let SessionContent { items, started } = self.inner.load(key).await?;
        let items =
            items.iter().map(|item| self.unseal_item(key, item)).collect::<Result<_, _>>()?;
        Ok(SessionContent { items, started })
    }

    async fn append(
        &self,
        key: &str,
        items: &[Item],
        started: &[CallKey],
    ) -> Result<(), SessionError> {
        self.inner.append(key, &self.seal_items(key, items), started).await
    }

    async fn replace(&self, key: &str, old: usize, new: &[Item]) -> Result<(), SessionError> {
        self.inner.replace(key, old, &self.seal_items(key, new)).await
    }

    async fn pop(&self, key: &str, tail: &[Item]) -> Result<bool, SessionError> {
        let sealed = self.inner.load(key).await?.items;
        let Some(start) = sealed.len().checked_sub(tail.len()) else { return Ok(false) };
        for (sealed, item) in sealed[start..].iter().zip(tail) {
            if self.unseal_item(key, sealed)?.raw() != item.raw() {
                return Ok(false);
            }
        }
        self.inner.pop(key, &sealed[start..]).await
    }

    async fn clear(&self, key: &str) -> Result<(), SessionError> {
        self.inner.clear(key).await
    }

    async fn save_run(&self, key: &str, state: Option<&str>) -> Result<(), SessionError> {
        let sealed = state.map(|state| sealed_item(&self.seal(key, state)));
        self.inner.save_run(key, sealed.as_ref().map(Item::text)).await
    }

    async fn run(&self, key: &str) -> Result<Option<String>, SessionError> {
        let Some(sealed) = self.inner.run(key).await? else { return Ok(None) };
        let object =
            Object::parse_str(&sealed).map_err(|error| damaged(key, &error.to_string()))?;
        let data = object.string("data");
        let data = data.ok_or_else(|| damaged(key, "its run is not encrypted"))?;
        self.unseal(key, &data).map(Some)
    }
}
