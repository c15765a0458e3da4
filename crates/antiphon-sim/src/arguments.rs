//! JSON from a schema and the text of a request.

use std::collections::HashSet;

use serde_json::{Map, Value, json};

use super::SimError;
use super::evidence::Evidence;
use super::scalar::{Property, Scalars};
use super::schema::{Fault, chosen_type, combine, is_null, required, resolve, with_all_of};

/// The maximum number of values per schema. Together with [`DEEPEST`] it stops schemas that refer
/// to themselves.
const MOST_VALUES: usize = 4096;
/// The maximum nesting of one schema, references included.
const DEEPEST: usize = 64;
/// The number of references after which a recursive schema is brought to its end.
const ENOUGH_REFERENCES: usize = 3;

/// A value that is valid by `schema`, filled from `evidence`.
///
/// `pattern`, `uniqueItems` and conditions (`if`, `not`) are ignored, and `oneOf` is read as
/// `anyOf`.
pub(super) fn from_schema(
    schema: &Value,
    evidence: Evidence<'_>,
    subject: impl Fn() -> String,
) -> Result<Value, SimError> {
    Generator { root: schema, scalars: Scalars::new(evidence), values: 0 }
        .value(schema, Place::ROOT)
        .map_err(|fault| SimError::Schema { subject: subject(), fault })
}

/// The arguments of a function whose parameters are `schema`.
pub(super) fn from_parameters(
    schema: &Value,
    evidence: Evidence<'_>,
    subject: impl Fn() -> String,
) -> Result<Value, SimError> {
    let arguments = from_schema(schema, evidence, &subject)?;
    if arguments.is_object() {
        Ok(arguments)
    } else {
        Err(SimError::Schema { subject: subject(), fault: "its type must be 'object'" })
    }
}

struct Generator<'a> {
    root: &'a Value,
    scalars: Scalars<'a>,
    /// The number of values so far.
    values: usize,
}

/// The position of a value in the document.
#[derive(Clone, Copy)]
struct Place<'p> {
    property: Property<'p>,
    depth: usize,
    references: usize,
}

impl<'p> Place<'p> {
    const ROOT: Place<'static> =
        Place { property: Property { name: "", siblings: &[] }, depth: 0, references: 0 };

    fn deeper(self) -> Self {
        Self { depth: self.depth + 1, ..self }
    }

    fn at_property(self, property: Property<'p>) -> Self {
        Self { property, ..self.deeper() }
    }

    /// Whether optional parts should be omitted.
    fn should_end(self) -> bool {
        self.references >= ENOUGH_REFERENCES
    }
}

impl Generator<'_> {
    fn value(&mut self, schema: &Value, place: Place<'_>) -> Result<Value, Fault> {
        self.values += 1;
        if self.values > MOST_VALUES || place.depth > DEEPEST {
            return Err("it asks for a value without end");
        }
        match schema {
            Value::Bool(true) => Ok(self.scalars.string(&Map::new(), place.property)),
            Value::Bool(false) => Err("'false' allows no value"),
            Value::Object(schema) => self.resolve_value(schema, place),
            _ => Err("a schema must be an object"),
        }
    }

    fn resolve_value(
        &mut self,
        schema: &Map<String, Value>,
        place: Place<'_>,
    ) -> Result<Value, Fault> {
        if let Some(reference) = schema.get("$ref") {
            let reference = reference.as_str().ok_or("a '$ref' must be a string")?;
            let place = Place { references: place.references + 1, ..place.deeper() };
            return self.value(resolve(self.root, reference)?, place);
        }
        if let Some(constant) = schema.get("const") {
            return Ok(constant.clone());
        }
        if let Some(options) = schema.get("enum") {
            let options = options.as_array().ok_or("'enum' must be an array")?;
            let option = self.scalars.option(options).or(options.first());
            return option.cloned().ok_or("'enum' must not be empty");
        }
        if let Some(all) = with_all_of(self.root, schema)? {
            return self.value(&Value::Object(all), place.deeper());
        }
        match schema.get("anyOf").or(schema.get("oneOf")) {
            Some(branches) => self.branch(schema, branches, place),
            None => self.value_by_type(schema, place),
        }
    }

    /// A value of the first branch that has one. Branches that are not null come first, unless a
    /// recursion must end.
    fn branch(
        &mut self,
        schema: &Map<String, Value>,
        branches: &Value,
        place: Place<'_>,
    ) -> Result<Value, Fault> {
        let branches = branches.as_array().ok_or("'anyOf' and 'oneOf' must be arrays")?;
        let mut ordered: Vec<&Value> = branches.iter().collect();
        if place.should_end() {
            ordered.sort_by_key(|branch| (!is_null(branch), branch.get("$ref").is_some()));
        } else {
            ordered.sort_by_key(|branch| is_null(branch));
        }
        let mut fault = "'anyOf' and 'oneOf' must not be empty";
        for branch in ordered {
            match self.value(&beside(schema, branch), place.deeper()) {
                Ok(value) => return Ok(value),
                Err(why) => fault = why,
            }
        }
        Err(fault)
    }

    fn value_by_type(
        &mut self,
        schema: &Map<String, Value>,
        place: Place<'_>,
    ) -> Result<Value, Fault> {
        match chosen_type(schema, place.should_end())? {
            "object" => self.object(schema, place),
            "array" => self.array(schema, place),
            "string" => Ok(self.scalars.string(schema, place.property)),
            "integer" => Ok(self.scalars.integer(schema, place.property)),
            "number" => Ok(self.scalars.number(schema, place.property)),
            "boolean" => Ok(self.scalars.boolean(place.property)),
            "null" => Ok(Value::Null),
            _ => Err("'type' must be one of the seven types of JSON"),
        }
    }

    fn object(&mut self, schema: &Map<String, Value>, place: Place<'_>) -> Result<Value, Fault> {
        let none = Map::new();
        let properties = match schema.get("properties") {
            None => &none,
            Some(properties) => properties.as_object().ok_or("'properties' must be an object")?,
        };
        let siblings: Vec<&str> = properties.keys().map(String::as_str).collect();
        let mut object = Map::new();
        for name in self.select_properties(&required(schema)?, properties, &siblings, place) {
            if !object.contains_key(name) {
                let schema = properties.get(name).unwrap_or(&Value::Bool(true));
                let value =
                    self.value(schema, place.at_property(Property { name, siblings: &siblings }))?;
                object.insert(name.to_owned(), value);
            }
        }
        Ok(Value::Object(object))
    }

    /// The required properties and those that the text names. If none is required, all properties.
    fn select_properties<'s>(
        &self,
        required: &[&'s str],
        properties: &Map<String, Value>,
        siblings: &[&'s str],
        place: Place<'_>,
    ) -> Vec<&'s str> {
        let is_wanted = |name: &&str| match required {
            [] => !place.should_end(),
            _ => self.scalars.speaks_of(Property { name, siblings }, &properties[*name]),
        };
        let known: HashSet<&str> = required.iter().copied().collect();
        let optional = siblings.iter().filter(|name| !known.contains(*name));
        required.iter().chain(optional.filter(|name| is_wanted(name))).copied().collect()
    }

    /// One element, or as many as the schema demands.
    fn array(&mut self, schema: &Map<String, Value>, place: Place<'_>) -> Result<Value, Fault> {
        let count = |key: &str| schema.get(key).and_then(Value::as_u64);
        let first = match schema.get("prefixItems") {
            None => &[][..],
            Some(first) => first.as_array().ok_or("'prefixItems' must be an array")?,
        };
        let usual = if place.should_end() { 0 } else { first.len().max(1) as u64 };
        let wanted = usual.max(count("minItems").unwrap_or(0));
        let wanted = wanted.min(count("maxItems").unwrap_or(u64::MAX));
        let rest = schema.get("items").unwrap_or(&Value::Bool(true));
        let schemas = first.iter().chain(std::iter::repeat(rest));
        (0..wanted).zip(schemas).map(|(_, schema)| self.value(schema, place.deeper())).collect()
    }
}

/// `branch`, combined with the demands next to its `anyOf`.
fn beside(schema: &Map<String, Value>, branch: &Value) -> Value {
    let mut outer = schema.clone();
    outer.remove("anyOf");
    outer.remove("oneOf");
    let demands = ["type", "properties", "required", "items"];
    match branch.as_object() {
        Some(branch) if demands.iter().any(|key| outer.contains_key(*key)) => {
            let mut both = branch.clone();
            if let Some(reference) = both.remove("$ref") {
                both.insert("allOf".to_owned(), json!([{ "$ref": reference }]));
            }
            combine(&mut both, &outer);
            Value::Object(both)
        }
        _ => branch.clone(),
    }
}
