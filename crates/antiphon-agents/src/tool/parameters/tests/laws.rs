//! Laws of schemas and arguments, with another validator of JSON schemas as the judge.

use proptest::prelude::*;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::tool::Parameters;

#[derive(Deserialize, JsonSchema)]
#[expect(dead_code, reason = "only whether it is read matters")]
struct Order {
    id: String,
    pieces: u8,
    note: Option<String>,
    #[serde(default)]
    express: bool,
    color: Color,
    payment: Option<Payment>,
    parts: Vec<Part>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Color {
    Red,
    /// Described, so that the enum is a union.
    Blue,
}

#[derive(Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
#[expect(dead_code, reason = "only whether it is read matters")]
enum Payment {
    Cash,
    Card { number: String, limit: Option<i16> },
}

#[derive(Deserialize, JsonSchema)]
#[expect(dead_code, reason = "only whether it is read matters")]
struct Part {
    size: Option<Size>,
    parts: Option<Vec<Part>>,
}

#[derive(Deserialize, JsonSchema)]
#[expect(dead_code, reason = "only whether it is read matters")]
enum Size {
    Small,
    Exact(f64),
}

/// A value that fits some field, or none.
fn any_value() -> impl Strategy<Value = Value> {
    let samples = [
        json!(null),
        json!(true),
        json!(3),
        json!(300),
        json!(-1),
        json!(1.5),
        json!("red"),
        json!("blue"),
        json!("Small"),
        json!({"Exact": 2}),
        json!({"Exact": 2, "Small": 1}),
        json!({"kind": "cash"}),
        json!({"kind": "card", "number": "1", "limit": null}),
        json!({"kind": "card", "number": "1", "limit": 70_000}),
        json!({"kind": "cash", "number": "1"}),
        json!({"size": "Small", "parts": null}),
        json!([]),
        json!([{"size": null, "parts": [{"size": {"Exact": 0.5}, "parts": null}]}]),
        json!([{"size": "Large", "parts": []}]),
        json!([{"size": null, "parts": null, "more": 1}]),
    ];
    proptest::sample::select(samples.to_vec())
}

/// The values that fit each field.
fn order() -> Map<String, Value> {
    let order = json!({
        "id": "A1", "pieces": 2, "note": null, "express": null, "color": "blue",
        "payment": {"kind": "cash"}, "parts": [],
    });
    order.as_object().cloned().unwrap_or_default()
}

/// An order with a few fields that are other values, or are absent.
fn any_order() -> impl Strategy<Value = Value> {
    let names: Vec<String> = order().keys().cloned().chain(["more".to_owned()]).collect();
    let change = (proptest::sample::select(names), prop::option::weighted(0.9, any_value()));
    prop::collection::vec(change, 0..3).prop_map(|changes| {
        let mut order = order();
        for (name, value) in changes {
            match value {
                Some(value) => order.insert(name, value),
                None => order.remove(&name),
            };
        }
        order.into()
    })
}

/// The order with a `null` for each absent field: the strict form requires all fields.
fn completed(mut order: Value) -> Value {
    for name in ["note", "express", "payment"] {
        let fields = order.as_object_mut().expect("an order is an object");
        fields.entry(name).or_insert(Value::Null);
    }
    order
}

proptest! {
    /// A model that keeps to the strict schema is always understood, and the arguments that are
    /// read match the strict schema.
    #[test]
    fn exactly_the_values_of_the_strict_schema_are_read(order in any_order()) {
        let parameters = Parameters::from_type::<Order>();
        let schema = parameters.schema().expect("the type has a strict schema");
        let judge = jsonschema::validator_for(schema).expect("it is a schema");
        let read = parameters.parse::<Order>(&order.to_string());
        let faults = read.err();
        prop_assert_eq!(faults.is_none(), judge.is_valid(&completed(order)), "{:?}", faults);
    }
}
