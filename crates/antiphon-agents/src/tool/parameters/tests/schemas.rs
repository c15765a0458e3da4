//! The strict form of schemas.
//!
//! The judge `assert_strict` has the rules of the provider's documentation of structured outputs.

use std::collections::{BTreeMap, HashMap};

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::tool::{NoArguments, Parameters, SchemaFault};

/// The keywords of the documentation, for all types.
const ALLOWED: [&str; 20] = [
    "$defs",
    "$ref",
    "additionalProperties",
    "anyOf",
    "description",
    "enum",
    "exclusiveMaximum",
    "exclusiveMinimum",
    "format",
    "items",
    "maxItems",
    "maximum",
    "minItems",
    "minimum",
    "multipleOf",
    "pattern",
    "properties",
    "required",
    "type",
    "$schema",
];

fn assert_strict(schema: &Value) {
    assert_eq!(schema["type"], "object", "the root is an object: {schema}");
    assert_strict_below(schema, schema);
}

fn assert_strict_below(root: &Value, schema: &Value) {
    let fields = schema.as_object().expect("a schema is an object");
    for key in fields.keys() {
        assert!(ALLOWED.contains(&key.as_str()), "{key} in {schema}");
    }
    if let Some(reference) = fields.get("$ref") {
        assert_eq!(fields.len(), 1, "fields next to $ref: {schema}");
        let reference = reference.as_str().unwrap();
        assert!(root.pointer(&reference[1..]).is_some(), "{reference} is not defined");
        return;
    }
    let is_typed = ["type", "anyOf", "enum"].iter().any(|key| fields.contains_key(*key));
    assert!(is_typed, "no type: {schema}");
    if schema["type"] == "object" {
        assert_eq!(schema["additionalProperties"], false, "{schema}");
        let properties = schema["properties"].as_object().expect("an object lists its fields");
        let names: Vec<_> = properties.keys().map(String::as_str).collect();
        assert_eq!(schema["required"], json!(names), "{schema}");
    }
    let children = ["properties", "$defs"].iter().filter_map(|key| schema[*key].as_object());
    let alternatives = schema["anyOf"].as_array().into_iter().flatten();
    let children = children.flat_map(|it| it.values()).chain(alternatives);
    children.chain(fields.get("items")).for_each(|child| assert_strict_below(root, child));
}

fn strict<T: JsonSchema>() -> Value {
    let parameters = Parameters::from_type::<T>();
    let schema = parameters.schema().unwrap().clone();
    assert_strict(&schema);
    schema
}

fn refused<T: JsonSchema>() -> SchemaFault {
    let refused = Parameters::from_type::<T>().schema().unwrap_err();
    assert!(Parameters::from_type::<T>().not_strict().schema().is_ok());
    refused
}

/// A unit of temperature.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Unit {
    Celsius,
    Fahrenheit,
}

#[derive(Deserialize, JsonSchema)]
enum Described {
    /// The first.
    First,
    /// The second.
    Second,
}

/// A place on a map.
#[derive(Deserialize, JsonSchema)]
#[expect(dead_code, reason = "only its schema is used")]
struct Place {
    /// The name of the city.
    city: String,
    country: Option<String>,
}

#[derive(Deserialize, JsonSchema)]
#[expect(dead_code, reason = "only its schema is used")]
struct Forecast {
    /// The center of the region.
    place: Place,
    other: Option<Place>,
    unit: Unit,
    described: Option<Described>,
    #[schemars(range(min = 1, max = 14))]
    days: u8,
    #[serde(default)]
    verbose: bool,
    #[schemars(length(min = 1))]
    tags: Vec<String>,
}

#[test]
fn nested_structs_and_enums_have_a_strict_form() {
    let schema = strict::<Forecast>();
    let fields = &schema["properties"];
    assert_eq!(fields["days"], json!({"type": "integer", "minimum": 1, "maximum": 14}));
    assert_eq!(fields["verbose"], json!({"type": ["boolean", "null"]}));
    assert_eq!(
        fields["place"],
        json!({"description": "The center of the region.", "anyOf": [{"$ref": "#/$defs/Place"}]})
    );
    assert_eq!(fields["unit"], json!({"$ref": "#/$defs/Unit"}));
    assert_eq!(
        schema["$defs"]["Unit"],
        json!({
            "description": "A unit of temperature.",
            "type": "string", "enum": ["celsius", "fahrenheit"],
        })
    );
    let place = &schema["$defs"]["Place"]["properties"];
    assert_eq!(place["city"]["description"], "The name of the city.");
    assert_eq!(place["country"], json!({"type": ["string", "null"]}));
}

#[test]
fn option_of_a_struct_is_a_union_with_null() {
    let schema = strict::<Forecast>();
    assert_eq!(
        schema["properties"]["other"],
        json!({"anyOf": [{"$ref": "#/$defs/Place"}, {"type": "null"}]})
    );
}

#[test]
fn described_variants_are_alternatives() {
    let schema = strict::<Forecast>();
    assert_eq!(
        schema["$defs"]["Described"]["anyOf"][0],
        json!({"description": "The first.", "type": "string", "enum": ["First"]})
    );
}

#[derive(Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
#[expect(dead_code, reason = "only its schema is used")]
enum Tagged {
    Circle { radius: f64 },
    Square { side: f64, label: Option<String> },
}

#[derive(Deserialize, JsonSchema)]
#[expect(dead_code, reason = "only its schema is used")]
enum External {
    Empty,
    Text(String),
    Place(Place),
}

#[derive(Deserialize, JsonSchema)]
#[serde(untagged)]
#[expect(dead_code, reason = "only its schema is used")]
enum Untagged {
    Number(f64),
    Text(String),
}

#[derive(Deserialize, JsonSchema)]
#[expect(dead_code, reason = "only its schema is used")]
struct Shapes {
    tagged: Vec<Tagged>,
    external: External,
    untagged: Option<Untagged>,
}

#[test]
fn enums_with_data_are_unions_of_objects() {
    let schema = strict::<Shapes>();
    let circle = &schema["$defs"]["Tagged"]["anyOf"][0];
    assert_eq!(circle["required"], json!(["kind", "radius"]));
    assert_eq!(circle["properties"]["kind"], json!({"type": "string", "enum": ["circle"]}));
    assert!(schema["$defs"]["External"]["anyOf"].is_array());
}

/// A node of a tree.
#[derive(Deserialize, JsonSchema)]
#[expect(dead_code, reason = "only its schema is used")]
struct Node {
    value: i64,
    children: Vec<Node>,
    parent: Option<Box<Node>>,
}

/// A recursive type that is no object.
#[derive(Deserialize, JsonSchema)]
#[expect(dead_code, reason = "only its schema is used")]
enum Term {
    Number(f64),
    Negated(Box<Term>),
}

#[derive(Deserialize, JsonSchema)]
#[expect(dead_code, reason = "only its schema is used")]
struct Tree {
    root: Node,
}

#[test]
fn recursive_types_refer_to_their_definition() {
    let schema = strict::<Tree>();
    assert_eq!(schema["properties"]["root"], json!({"$ref": "#/$defs/Node"}));
    assert_eq!(
        schema["$defs"]["Node"]["properties"]["children"],
        json!({"type": "array", "items": {"$ref": "#/$defs/Node"}})
    );
    strict::<Node>();
}

#[test]
fn tool_without_parameters_has_an_empty_object() {
    assert_eq!(
        strict::<NoArguments>(),
        json!({
            "description": "The arguments of a tool without parameters: an object without fields.",
            "type": "object", "properties": {}, "required": [], "additionalProperties": false,
        })
    );
}

#[test]
fn values_of_arbitrary_form_are_refused() {
    #[derive(JsonSchema)]
    #[expect(dead_code, reason = "only its schema is used")]
    struct With<T> {
        places: Vec<Inner<T>>,
    }
    #[derive(JsonSchema)]
    #[expect(dead_code, reason = "only its schema is used")]
    struct Inner<T> {
        field: T,
    }
    let cases = [
        (refused::<With<HashMap<String, u8>>>(), "field` is a map"),
        (refused::<With<BTreeMap<String, Place>>>(), "field` is a map"),
        (refused::<With<Value>>(), "field` may be any JSON value"),
        (refused::<With<Vec<Value>>>(), "field[]` may be any JSON value"),
        (refused::<With<(f64, f64)>>(), "field` is a tuple"),
    ];
    for (fault, expected) in cases {
        let text = fault.to_string();
        assert!(text.contains(expected) && text.contains("turn off `strict`"), "{text}");
    }
}

#[test]
fn path_of_a_refused_field_leads_to_it() {
    #[derive(JsonSchema)]
    #[expect(dead_code, reason = "only its schema is used")]
    struct Request {
        headers: HashMap<String, String>,
    }
    assert_eq!(refused::<Request>(), SchemaFault::Map("headers".to_owned()));
}

#[test]
fn flattened_enum_is_refused() {
    #[derive(JsonSchema)]
    #[expect(dead_code, reason = "only its schema is used")]
    struct Drawing {
        name: String,
        #[serde(flatten)]
        shape: Tagged,
    }
    assert!(matches!(refused::<Drawing>(), SchemaFault::Combination(_)));
}

#[test]
fn flattened_struct_has_a_strict_form() {
    #[derive(JsonSchema)]
    #[expect(dead_code, reason = "only its schema is used")]
    struct Delivery {
        express: bool,
        #[serde(flatten)]
        place: Place,
    }
    assert_eq!(strict::<Delivery>()["required"], json!(["city", "country", "express"]));
}

#[test]
fn map_with_an_enum_as_key_has_a_strict_form() {
    #[derive(JsonSchema)]
    #[expect(dead_code, reason = "only its schema is used")]
    struct Limits {
        by_unit: HashMap<Unit, f64>,
    }
    let schema = strict::<Limits>();
    let celsius = &schema["properties"]["by_unit"]["properties"]["celsius"];
    assert_eq!(*celsius, json!({"type": ["number", "null"]}));
}

#[test]
fn arguments_have_to_be_an_object() {
    for fault in [
        Parameters::from_type::<Tagged>().schema().unwrap_err(),
        Parameters::from_type::<String>().not_strict().schema().unwrap_err(),
        Parameters::from_schema(json!({"$ref": "#"})).schema().unwrap_err(),
        Parameters::from_schema(json!(true)).schema().unwrap_err(),
    ] {
        assert_eq!(fault, SchemaFault::NotAnObject);
    }
}

#[test]
fn hint_keeps_every_keyword_of_its_fields() {
    let schema = json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema", "title": "Args",
        "type": "object", "properties": {"q": {"type": "string", "minLength": 1}},
    });
    let parameters = Parameters::from_schema(schema).not_strict();
    assert_eq!(
        parameters.schema().unwrap(),
        &json!({"type": "object", "properties": {"q": {"type": "string", "minLength": 1}}})
    );
    let bare = Parameters::from_schema(json!({"type": "object"})).not_strict();
    assert_eq!(bare.schema().unwrap(), &json!({"type": "object", "properties": {}}));
}

#[test]
fn unknown_definition_is_refused() {
    let schema = json!({"type": "object", "properties": {"a": {"$ref": "#/$defs/A"}}});
    assert_eq!(
        Parameters::from_schema(schema).schema(),
        Err(SchemaFault::UnknownDefinition("#/$defs/A".to_owned()))
    );
}

#[test]
fn argument_that_is_no_object_becomes_a_field() {
    let field = |parameters: Parameters| {
        let schema = parameters.schema().unwrap().clone();
        assert_strict(&schema);
        schema["properties"]["value"].clone()
    };
    let city = Parameters::from_argument::<String>("value", "The name of the city.");
    assert_eq!(field(city), json!({"type": "string", "description": "The name of the city."}));
    let nodes = Parameters::from_argument::<Vec<Node>>("value", "");
    assert_eq!(field(nodes), json!({"type": "array", "items": {"$ref": "#/$defs/Node"}}));
    let term = Parameters::from_argument::<Term>("value", "A term.");
    assert_eq!(field(term), json!({"description": "A term.", "anyOf": [{"$ref": "#/$defs/Term"}]}));
    let place = Parameters::from_argument::<Place>("value", "");
    assert_eq!(place, Parameters::from_type::<Place>());
}
