//! The fields of reports, compared with their documentation.

use antiphon::item::parse_items;
use antiphon::{ItemId, Kind};
use bytes::Bytes;
use serde_json::Value;

use super::*;

/// A report with every field.
fn whole_report() -> Report {
    let item = parse_items(&Bytes::from_static(br#"[{"role":"user","content":"Hello"}]"#));
    let item = item.expect("it is a list").remove(0);
    let id = ItemId::from("msg_1");
    let mut changes = PromptChanges::default();
    changes.adapted_field("seed", "It is left out.");
    changes.truncated(Some(0), &item, Some(&id));
    changes.repairs.push(ReportedRepair::without_item(
        Kind::Message,
        ("used_id", "renamed"),
        "The id is used.",
    ));
    let resent = stateful::ResentItem {
        position: 0,
        kind: Kind::Message,
        id,
        rule: "same_id",
        differs: false,
    };
    Report {
        object: "antiphon.report",
        request_id: Some("req_1".into()),
        input_items: 1,
        new_items: 1,
        superseding: true,
        retry_of: Some("resp_1".into()),
        sent_items: Some(1),
        retries: 1,
        relearned: Some(Relearned { fault: "unanswered_call", message: "It is open.".into() }),
        replayed: Some(1),
        resent: ResentItems::Named(vec![resent]),
        changes,
        // Callers do not read it.
        view: None,
        stream: vec![StreamRepair { fault: "left_out", from: Some("a".into()), to: None }],
        cost: Some(Cost { amount: 0.5, currency: Some("EUR".into()) }),
    }
}

/// The keys of all objects in a value.
fn keys(value: &Value) -> Vec<String> {
    match value {
        Value::Object(fields) => {
            let nested = fields.iter().flat_map(|(key, value)| [vec![key.clone()], keys(value)]);
            nested.flatten().collect()
        }
        Value::Array(values) => values.iter().flat_map(keys).collect(),
        _ => Vec::new(),
    }
}

fn public_fields() -> Value {
    let report = link_faults(&whole_report().to_json().into());
    serde_json::from_slice(&report).expect("it is JSON")
}

#[test]
fn each_field_is_on_the_page_of_the_api() {
    let page = include_str!("../../../../../docs/api.md");
    let (_, section) = page.split_once("## Reports\n").expect("it has reports");
    let (section, _) = section.split_once("\n## ").expect("another section follows");
    for key in keys(&public_fields()) {
        assert!(section.contains(&format!("`{key}`")), "docs/api.md does not name '{key}'");
    }
}

#[test]
fn each_field_is_in_the_description_of_the_routes() {
    let routes = include_str!("../../routes/openapi.json");
    let routes: Value = serde_json::from_str(routes).expect("it is JSON");
    let described = &routes["components"]["schemas"]["Report"]["properties"];
    let fields = public_fields();
    for key in fields.as_object().expect("a report is an object").keys() {
        assert!(described.get(key).is_some(), "openapi.json does not name '{key}'");
    }
}
