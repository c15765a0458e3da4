//! Paged lists.

use std::collections::HashMap;

use serde_json::{Value, json};

use crate::Refusal;

const DEFAULT: usize = 20;
const MOST: i64 = 100;

/// The requested part of a list: `after`, `limit` (1 to 100, by default 20) and `order` (by default
/// the latest first).
#[derive(Debug)]
pub(crate) struct Page<'a> {
    after: Option<&'a str>,
    limit: usize,
    is_ascending: bool,
}

impl<'a> Page<'a> {
    pub(crate) fn read(query: &'a HashMap<String, String>) -> Result<Self, Refusal> {
        let is_ascending = match query.get("order").map(String::as_str) {
            None | Some("desc") => false,
            Some("asc") => true,
            Some(other) => {
                return Err(Refusal::invalid_value("order", other, "'asc' and 'desc'"));
            }
        };
        let limit = query.get("limit").map_or(Ok(DEFAULT), |limit| read_limit(limit))?;
        Ok(Self { after: query.get("after").map(String::as_str), limit, is_ascending })
    }

    /// Selects the page from `items`, which are oldest first.
    pub(crate) fn select(&self, items: &[Value]) -> Result<Value, Refusal> {
        let mut ordered: Vec<&Value> = items.iter().collect();
        if !self.is_ascending {
            ordered.reverse();
        }
        let start = match self.after {
            None => 0,
            Some(id) => {
                let place = ordered.iter().position(|item| item["id"] == id);
                place.ok_or_else(|| unknown_item(id))? + 1
            }
        };
        let rest = &ordered[start..];
        let page = &rest[..rest.len().min(self.limit)];
        Ok(list(page, rest.len() > page.len()))
    }
}

/// The refusal of a list that should continue after an unknown item.
fn unknown_item(id: &str) -> Refusal {
    Refusal { param: Some("after".to_owned()), ..Refusal::item_not_in_conversation(id) }
}

/// A list object with all of these items.
pub(crate) fn full_list(items: &[Value]) -> Value {
    list(&items.iter().collect::<Vec<_>>(), false)
}

fn list(page: &[&Value], has_more: bool) -> Value {
    let id_of = |item: Option<&&Value>| item.map_or(Value::Null, |item| item["id"].clone());
    json!({
        "object": "list",
        "data": page,
        "first_id": id_of(page.first()),
        "last_id": id_of(page.last()),
        "has_more": has_more,
    })
}

fn read_limit(text: &str) -> Result<usize, Refusal> {
    let Ok(limit) = text.parse::<i64>() else {
        return Err(Refusal::wrong_type("limit", "an integer", &text.into()));
    };
    match limit {
        ..1 => Err(Refusal::below_minimum("limit", 1, &limit.into())),
        limit if limit > MOST => Err(Refusal::above_maximum("limit", MOST, &limit.into())),
        limit => Ok(usize::try_from(limit).expect("it is between 1 and 100")),
    }
}
