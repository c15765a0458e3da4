//! The validation of arguments.

use std::collections::HashMap;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::tool::{Parameters, ToolArgument};

#[derive(Debug, PartialEq, Deserialize, JsonSchema)]
struct Order {
    id: String,
    #[schemars(range(min = 1, max = 10))]
    pieces: u8,
    note: Option<String>,
    #[serde(default)]
    express: bool,
    address: Option<Address>,
    #[serde(default)]
    #[schemars(length(max = 2))]
    codes: Vec<u16>,
    payment: Payment,
}

#[derive(Debug, PartialEq, Deserialize, JsonSchema)]
struct Address {
    city: String,
    #[schemars(length(min = 2, max = 2))]
    country: String,
}

#[derive(Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
enum Payment {
    Cash,
    Card { number: String },
}

fn order(change: impl FnOnce(&mut Value)) -> Value {
    let mut order = json!({"id": "A1", "pieces": 2, "payment": {"kind": "cash"}});
    change(&mut order);
    order
}

fn parse<T: ToolArgument>(json: &Value) -> Result<T, Vec<String>> {
    let parsed = Parameters::from_type::<T>().parse(&json.to_string());
    parsed.map_err(|faults| faults.iter().map(ToString::to_string).collect())
}

fn faults(change: impl FnOnce(&mut Value)) -> Vec<String> {
    parse::<Order>(&order(change)).unwrap_err()
}

#[test]
fn valid_arguments_are_read() {
    let order: Order =
        parse(&order(|it| it["payment"] = json!({"kind": "card", "number": "1"}))).unwrap();
    assert_eq!(order.payment, Payment::Card { number: "1".to_owned() });
    assert_eq!((order.note, order.express, order.address), (None, false, None));
}

#[test]
fn null_for_an_optional_field_counts_as_absent() {
    let with_nulls = order(|it| {
        for field in ["note", "express", "address", "codes"] {
            it[field] = Value::Null;
        }
    });
    assert_eq!(parse::<Order>(&with_nulls), parse::<Order>(&order(|_| ())));
}

#[test]
fn null_for_a_required_field_is_a_fault() {
    assert_eq!(faults(|it| it["id"] = Value::Null), ["`id`: expected a string, got null"]);
}

#[test]
fn every_fault_is_named() {
    let found = faults(|it| {
        it["pieces"] = json!("2");
        it["adress"] = json!(1);
        it["address"] = json!({"city": 7});
        it.as_object_mut().unwrap().remove("id");
    });
    assert_eq!(
        found,
        [
            "`id`: missing; expected a string",
            "`address.country`: missing; expected a string",
            "`address.city`: expected a string, got 7",
            "`adress`: unknown field; the fields are `address`, `codes`, `express`, `id`, `note`, \
             `payment`, `pieces`",
            "`pieces`: expected an integer, got the string \"2\"",
        ]
    );
}

#[test]
fn bounds_are_checked() {
    assert_eq!(faults(|it| it["pieces"] = json!(0)), ["`pieces`: expected at least 1, got 0"]);
    assert_eq!(faults(|it| it["pieces"] = json!(300)), ["`pieces`: expected at most 10, got 300"]);
    assert_eq!(
        faults(|it| it["address"] = json!({"city": "Bonn", "country": "Germany"})),
        ["`address.country`: expected at most 2 characters, got the string \"Germany\""]
    );
    assert_eq!(
        faults(|it| it["codes"] = json!([1, 2, 3])),
        ["`codes`: expected at most 2 items, got the array [1,2,3]"]
    );
    assert_eq!(
        faults(|it| it["codes"] = json!([1, 70_000])),
        ["`codes[1]`: expected at most 65535, got 70000"]
    );
}

#[test]
fn fractions_are_no_integers() {
    assert_eq!(faults(|it| it["pieces"] = json!(1.5)), ["`pieces`: expected an integer, got 1.5"]);
}

#[test]
fn tag_selects_the_alternative_to_check() {
    assert_eq!(
        faults(|it| it["payment"] = json!({"kind": "card", "number": 4})),
        ["`payment.number`: expected a string, got 4"]
    );
    assert_eq!(
        faults(|it| it["payment"] = json!({"kind": "gold"})),
        ["`payment.kind`: expected \"cash\" or \"card\", got the string \"gold\""]
    );
    assert_eq!(
        faults(|it| it["payment"] = json!({})),
        ["`payment`: expected an object with `kind` or an object with `kind`, `number`, \
          got the object {}"]
    );
}

#[test]
fn enums_list_their_variants() {
    #[derive(Debug, PartialEq, Deserialize, JsonSchema)]
    #[serde(rename_all = "snake_case")]
    enum Color {
        Red,
        /// A described variant.
        Blue,
    }
    #[derive(Debug, PartialEq, Deserialize, JsonSchema)]
    struct Paint {
        color: Color,
    }
    assert_eq!(
        parse::<Paint>(&json!({"color": "green"})).unwrap_err(),
        ["`color`: expected \"red\" or \"blue\", got the string \"green\""]
    );
    assert_eq!(parse::<Paint>(&json!({"color": "blue"})), Ok(Paint { color: Color::Blue }));
}

#[test]
fn recursive_values_are_checked_at_every_level() {
    #[derive(Debug, PartialEq, Deserialize, JsonSchema)]
    struct Node {
        value: i64,
        next: Option<Box<Node>>,
    }
    let list = json!({"value": 1, "next": {"value": 2, "next": {"value": "3"}}});
    assert_eq!(
        parse::<Node>(&list).unwrap_err(),
        ["`next.next.value`: expected an integer, got the string \"3\""]
    );
    let list = json!({"value": 1, "next": {"value": 2, "next": null}});
    assert_eq!(parse::<Node>(&list).unwrap().next.unwrap().value, 2);
}

#[test]
fn recursive_argument_is_checked_at_every_level() {
    #[derive(Debug, PartialEq, Deserialize, JsonSchema)]
    enum Term {
        Number(f64),
        Negated(Box<Term>),
    }
    let parameters = Parameters::from_argument::<Term>("term", "");
    let parse = |json: &str| parameters.parse::<Term>(json);
    assert_eq!(
        parse(r#"{"term":{"Negated":{"Number":1}}}"#),
        Ok(Term::Negated(Box::new(Term::Number(1.0))))
    );
    let faults = parse(r#"{"term":{"Negated":{"Number":"1"}}}"#).unwrap_err();
    assert_eq!(
        faults[0].to_string(),
        "`term.Negated.Number`: expected a number, got the string \"1\""
    );
}

#[test]
fn externally_tagged_variant_names_its_faults() {
    #[derive(Debug, PartialEq, Deserialize, JsonSchema)]
    enum Target {
        Everyone,
        User { id: u64 },
    }
    #[derive(Debug, PartialEq, Deserialize, JsonSchema)]
    struct Message {
        to: Target,
    }
    assert_eq!(
        parse::<Message>(&json!({"to": {"User": {"id": "7"}}})).unwrap_err(),
        ["`to.User.id`: expected an integer, got the string \"7\""]
    );
    assert_eq!(parse::<Message>(&json!({"to": "Everyone"})), Ok(Message { to: Target::Everyone }));
}

#[test]
fn flattened_fields_are_known() {
    #[derive(Debug, PartialEq, Deserialize, JsonSchema)]
    struct Bill {
        cents: u32,
        #[serde(flatten)]
        payment: Payment,
    }
    let paid = json!({"cents": 5, "kind": "card", "number": "1"});
    let parameters = Parameters::from_type::<Bill>().not_strict();
    let bill: Bill = parameters.parse(&paid.to_string()).unwrap();
    assert_eq!(bill.payment, Payment::Card { number: "1".to_owned() });
}

#[test]
fn unknown_fields_pass_without_strict() {
    let parameters = Parameters::from_type::<Address>().not_strict();
    let address = json!({"city": "Bonn", "country": "de", "zip": 53111}).to_string();
    assert_eq!(parameters.parse::<Address>(&address).unwrap().city, "Bonn");
    assert!(Parameters::from_type::<Address>().parse::<Address>(&address).is_err());
}

#[test]
fn values_of_maps_are_checked() {
    #[derive(Debug, PartialEq, Deserialize, JsonSchema)]
    struct Prices {
        cents: HashMap<String, u32>,
    }
    let parameters = Parameters::from_type::<Prices>().not_strict();
    let faults = parameters.parse::<Prices>(r#"{"cents":{"tea":-1}}"#).unwrap_err();
    assert_eq!(faults[0].to_string(), "`cents.tea`: expected at least 0, got -1");
    assert!(parameters.parse::<Prices>(r#"{"cents":{"tea":150}}"#).is_ok());
}

#[test]
fn errors_of_serde_name_the_field() {
    /// Only Serde knows its format.
    #[derive(Debug, PartialEq, Deserialize, JsonSchema)]
    struct Visit {
        hosts: Vec<std::net::Ipv4Addr>,
    }
    assert_eq!(
        parse::<Visit>(&json!({"hosts": ["127.0.0.1", "localhost"]})).unwrap_err(),
        ["`hosts[1]`: invalid IPv4 address syntax"]
    );
    let parameters = Parameters::from_argument::<std::net::Ipv4Addr>("host", "");
    let faults = parameters.parse::<std::net::Ipv4Addr>(r#"{"host":"x"}"#).unwrap_err();
    assert_eq!(faults[0].to_string(), "`host`: invalid IPv4 address syntax");
}

#[test]
fn text_that_is_no_object_is_a_fault() {
    let parameters = Parameters::from_type::<Address>();
    let fault = |text: &str| parameters.parse::<Address>(text).unwrap_err()[0].to_string();
    assert!(fault(r#"{"city":"#).starts_with("the arguments are not valid JSON: "));
    assert_eq!(fault("[1]"), "expected an object, got the array [1]");
}

#[test]
fn empty_text_is_an_object_without_fields() {
    let parameters = Parameters::from_argument::<Option<String>>("city", "");
    for text in ["", "  ", "{}", r#"{"city":null}"#] {
        assert_eq!(parameters.parse::<Option<String>>(text), Ok(None));
    }
    let city = parameters.parse::<Option<String>>(r#"{"city":"Bonn"}"#);
    assert_eq!(city, Ok(Some("Bonn".to_owned())));
}

#[test]
fn numbers_keep_their_digits() {
    let parameters = Parameters::from_argument::<u128>("n", "");
    let digits = "340282366920938463463374607431768211455";
    assert_eq!(parameters.parse::<u128>(&format!(r#"{{"n":{digits}}}"#)), Ok(u128::MAX));
}

#[test]
fn schema_that_refers_to_itself_ends() {
    for schema in [
        json!({"type": "object", "anyOf": [{"$ref": "#"}]}),
        json!({"$ref": "#"}),
        json!({"allOf": [{"$ref": "#"}, {"$ref": "#"}]}),
    ] {
        let parameters = Parameters::from_schema(schema).not_strict();
        assert_eq!(parameters.parse(r#"{"a":1}"#), Ok(json!({"a": 1})));
    }
}

#[test]
fn long_values_are_shortened() {
    let problem = &faults(|it| it["pieces"] = json!("é".repeat(500)))[0];
    assert!(problem.ends_with('…') && problem.chars().count() < 120, "{problem}");
}
