//! A request as the routes receive it.

use std::collections::HashMap;
use std::sync::Arc;

use bytes::Bytes;
use http::{HeaderMap, Method, Uri, header};
use serde_json::{Value, json};

use crate::Refusal;
use crate::world::Shared;

/// Tokens with this prefix are invalid keys.
const WRONG: &str = "sk-wrong";

/// A request with its account, its path and its body.
pub(super) struct RouteRequest<'a> {
    pub(super) shared: &'a Arc<Shared>,
    pub(super) method: Method,
    pub(super) path: String,
    pub(super) query: HashMap<String, String>,
    pub(super) token: String,
    pub(super) body: Bytes,
}

impl<'a> RouteRequest<'a> {
    pub(super) fn read(
        shared: &'a Arc<Shared>,
        method: Method,
        uri: &Uri,
        query: HashMap<String, String>,
        headers: &HeaderMap,
        body: Bytes,
    ) -> Self {
        let token = token(headers, shared.options.profile.served().key_header);
        Self { shared, method, path: uri.path().to_owned(), query, token, body }
    }

    /// Fails if the key is missing or invalid.
    pub(super) fn check_key(&self) -> Result<(), Refusal> {
        match self.token.as_str() {
            _ if !self.shared.options.is_strict() => Ok(()),
            "" => Err(Refusal::no_key()),
            key if key.starts_with(WRONG) => Err(Refusal::wrong_key(key)),
            _ => Ok(()),
        }
    }

    pub(super) fn json(&self) -> Result<Value, Refusal> {
        serde_json::from_slice(&self.body).map_err(|_| Refusal::invalid_json())
    }

    /// The body as JSON; an absent body is an empty object.
    pub(super) fn json_or_nothing(&self) -> Result<Value, Refusal> {
        if self.body.is_empty() { Ok(json!({})) } else { self.json() }
    }

    pub(super) fn has_query_flag(&self, flag: &str) -> bool {
        self.query.get(flag).is_some_and(|value| value == "true")
    }
}

fn token(headers: &HeaderMap, key_header: Option<&str>) -> String {
    let text = |name: &str| headers.get(name)?.to_str().ok();
    let bearer = text(header::AUTHORIZATION.as_str()).and_then(|it| it.strip_prefix("Bearer "));
    bearer.or_else(|| text(key_header?)).unwrap_or_default().to_owned()
}
