//! The query parameters of list and show routes: `after`, `limit`, `order`, `include`, `stream`.

use antiphon::ItemId;
use antiphon_store::{Order, PageRequest};
use axum::extract::FromRequestParts;
use http::request::Parts;

use crate::error::{ApiError, NumberSort};
use crate::request::{ENCRYPTED, check_include};

/// The maximum number of items on a page.
const MAX_LIMIT: u8 = 100;
/// The default number of items on a page.
const DEFAULT_LIMIT: usize = 20;

/// The maximum number of bytes on a page, unless its first item is larger. Clients that continue
/// while `has_more` is true still get every item.
const PAGE_BYTES: usize = 8 << 20;

/// The page of a list, and the amount of detail per item.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ListQuery {
    pub(super) page: PageRequest,
    /// Whether the caller requested encrypted reasoning.
    pub(super) encrypted: bool,
    /// Whether the caller requested events.
    pub(super) stream: bool,
    /// The number of the last event that the caller has received.
    pub(super) starting_after: Option<u64>,
}

impl<S: Sync> FromRequestParts<S> for ListQuery {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, ApiError> {
        Self::parse(parts.uri.query().unwrap_or_default())
    }
}

impl ListQuery {
    fn parse(query: &str) -> Result<Self, ApiError> {
        let mut page = PageRequest {
            after: None,
            limit: DEFAULT_LIMIT,
            max_bytes: PAGE_BYTES,
            order: Order::Descending,
        };
        let (mut encrypted, mut stream, mut starting_after) = (false, false, None);
        for (key, value) in pairs(query)? {
            match key.as_str() {
                "after" => {
                    page.after = Some(ItemId::from(value)).filter(|id| !id.as_str().is_empty());
                }
                "limit" => page.limit = limit(&value)?,
                "order" => page.order = order(&value)?,
                "include" | "include[]" => {
                    check_include("include", &value)?;
                    encrypted |= value == ENCRYPTED;
                }
                "stream" => stream = boolean(&key, &value)?,
                "starting_after" => starting_after = Some(number(&value)?),
                _ => {}
            }
        }
        Ok(Self { page, encrypted, stream, starting_after })
    }
}

fn pairs(query: &str) -> Result<Vec<(String, String)>, ApiError> {
    let uri = http::Uri::builder().path_and_query(format!("/?{query}")).build();
    let pairs = uri
        .ok()
        .and_then(|uri| axum::extract::Query::<Vec<(String, String)>>::try_from_uri(&uri).ok());
    pairs.map(|pairs| pairs.0).ok_or(ApiError::UnreadableQuery)
}

/// Parses a boolean in the forms that clients send: also Python's spelling, and a number.
fn boolean(key: &str, value: &str) -> Result<bool, ApiError> {
    match value {
        "true" | "True" | "1" => Ok(true),
        "false" | "False" | "0" => Ok(false),
        _ => Err(ApiError::WrongType { path: key.into(), expected: "a boolean", got: "a string" }),
    }
}

/// Parses a sequence number.
fn number(value: &str) -> Result<u64, ApiError> {
    let wrong = || ApiError::WrongType {
        path: "starting_after".into(),
        expected: "an integer",
        got: "a string",
    };
    let number: i64 = value.parse().map_err(|_| wrong())?;
    u64::try_from(number).map_err(|_| ApiError::NumberBelowMinimum {
        path: "starting_after".into(),
        sort: NumberSort::Integer,
        minimum: 0,
        got: number.to_string(),
    })
}

fn limit(value: &str) -> Result<usize, ApiError> {
    let limit: i64 = value.parse().map_err(|_| ApiError::WrongType {
        path: "limit".into(),
        expected: "an integer",
        got: "a string",
    })?;
    let (path, sort, got) = ("limit".into(), NumberSort::Integer, limit.to_string());
    match u8::try_from(limit) {
        Ok(limit @ 1..=MAX_LIMIT) => Ok(limit.into()),
        _ if limit < 1 => Err(ApiError::NumberBelowMinimum { path, sort, minimum: 1, got }),
        _ => Err(ApiError::NumberAboveMaximum { path, sort, maximum: MAX_LIMIT.into(), got }),
    }
}

fn order(value: &str) -> Result<Order, ApiError> {
    match value {
        "asc" => Ok(Order::Ascending),
        "desc" => Ok(Order::Descending),
        other => Err(ApiError::InvalidValue {
            path: "order".into(),
            value: other.into(),
            supported: &["asc", "desc"],
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn query_names_a_page() {
        let query =
            ListQuery::parse("after=msg_1&limit=5&order=asc&include[]=reasoning.encrypted_content");
        let (after, order) = (Some("msg_1".into()), Order::Ascending);
        let page = PageRequest { after, limit: 5, max_bytes: PAGE_BYTES, order };
        assert_eq!(
            query,
            Ok(ListQuery { page, encrypted: true, stream: false, starting_after: None })
        );
    }

    #[test]
    fn limits_of_pages_are_the_providers() {
        for (query, code) in [
            ("limit=0", "integer_below_min_value"),
            ("limit=-3", "integer_below_min_value"),
            ("limit=101", "integer_above_max_value"),
            ("limit=ten", "invalid_type"),
            ("order=up", "invalid_value"),
        ] {
            let error = ListQuery::parse(query).unwrap_err();
            assert_eq!(error.code(), code, "{query}");
        }
    }
}
