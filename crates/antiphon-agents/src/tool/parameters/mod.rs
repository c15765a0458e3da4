//! The parameters of a function tool: their JSON schema, and the validation of arguments.

mod arguments;
mod strict;
mod validation;

use std::borrow::Cow;

use antiphon::json::Object;
use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde::Deserialize;
use serde::de::value::StrDeserializer;
use serde::de::{DeserializeOwned, IntoDeserializer as _};
use serde_json::{Map, Value, json};

pub use arguments::{ArgumentFault, InvalidArguments};
pub use strict::SchemaFault;

/// The type of the arguments of a tool. Every type that implements [`Deserialize`] and
/// [`JsonSchema`] is one.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be an argument of a tool",
    label = "has no JSON schema or cannot be read from JSON",
    note = "add `#[derive(serde::Deserialize, schemars::JsonSchema)]` to `{Self}`"
)]
pub trait ToolArgument: DeserializeOwned + JsonSchema + Send + 'static {}

#[diagnostic::do_not_recommend]
impl<T: DeserializeOwned + JsonSchema + Send + 'static> ToolArgument for T {}

/// The arguments of a tool without parameters: an object without fields.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
pub struct NoArguments {}

/// The parameters of a function tool: a JSON schema of an object.
///
/// The provider is sent the schema in its *strict* form, so that the model cannot write other
/// arguments: an object has exactly the listed fields, and optional fields may be `null`. A schema
/// with values of arbitrary form, such as maps, has no strict form; see [`SchemaFault`]. Use
/// [`not_strict`](Self::not_strict) for such a schema.
///
/// Arguments are validated with the original schema, because not every provider enforces the strict
/// form.
#[derive(Clone, Debug, PartialEq)]
pub struct Parameters {
    /// The schema as it was generated.
    schema: Value,
    /// The schema that providers are sent.
    wire: Result<Value, SchemaFault>,
    is_strict: bool,
    /// The field with the only argument, if that is not an object itself.
    field: Option<String>,
}

impl Parameters {
    /// The parameters of the type `T`, whose fields are the arguments.
    pub fn from_type<T: JsonSchema>() -> Self {
        Self::new(schema::<T>(), None)
    }

    /// The parameters of a function with one argument. If `T` is an object, its fields are the
    /// arguments. Otherwise the arguments are an object with the field `name`.
    pub fn from_argument<T: ToolArgument>(name: &str, description: &str) -> Self {
        let schema = schema::<T>();
        if is_struct(&schema) {
            return Self::new(schema, None);
        }
        Self::new(in_field::<T>(name, description), Some(name.to_owned()))
    }

    /// The parameters that a JSON schema describes, for example one of another program.
    pub fn from_schema(schema: Value) -> Self {
        Self::new(schema, None)
    }

    fn new(schema: Value, field: Option<String>) -> Self {
        let wire = strict::strict_form(&schema);
        Self { schema, wire, is_strict: true, field }
    }

    /// Lets the provider use the schema as a hint: every schema of an object is accepted, and the
    /// model may write other arguments. They are validated before the tool runs.
    #[must_use]
    pub fn not_strict(mut self) -> Self {
        self.wire = strict::hint(&self.schema);
        self.is_strict = false;
        self
    }

    /// Whether the provider enforces the schema.
    pub fn is_strict(&self) -> bool {
        self.is_strict
    }

    /// The schema that providers are sent.
    pub fn schema(&self) -> Result<&Value, SchemaFault> {
        self.wire.as_ref().map_err(Clone::clone)
    }

    /// Validates arguments and reads them as `T`. Returns everything that is wrong with them.
    ///
    /// An empty text counts as an object without fields. A `null` for an optional field counts as
    /// an absent field.
    pub fn parse<T: ToolArgument>(&self, arguments: &str) -> Result<T, Vec<ArgumentFault>> {
        let text = if arguments.trim().is_empty() { "{}" } else { arguments };
        let mut value = serde_json::from_str(text).map_err(|error| {
            arguments::whole(format!("the arguments are not valid JSON: {error}"))
        })?;
        let has_changed = validation::validate(&self.schema, &mut value, self.is_strict)?;
        let text = if has_changed { Cow::Owned(value.to_string()) } else { Cow::Borrowed(text) };
        match &self.field {
            None => arguments::deserialize(&text, None),
            Some(field) => {
                let object = Object::parse_str(&text).unwrap_or_default();
                arguments::deserialize(object.get(field).unwrap_or("null"), Some(field))
            }
        }
    }

    /// Reads the input of a custom tool.
    pub(super) fn parse_text<T: DeserializeOwned>(input: &str) -> Result<T, Vec<ArgumentFault>> {
        let input: StrDeserializer<'_, serde_json::Error> = input.into_deserializer();
        T::deserialize(input).map_err(|error| arguments::whole(error.to_string()))
    }
}

fn schema<T: JsonSchema>() -> Value {
    settings().into_generator().into_root_schema_for::<T>().to_value()
}

fn settings() -> SchemaSettings {
    SchemaSettings::draft2020_12().with(|settings| settings.meta_schema = None)
}

/// Whether the schema is one of an object with named fields.
fn is_struct(schema: &Value) -> bool {
    let root = strict::resolve(schema, schema);
    let is_map = || {
        let properties = root.get("properties").and_then(Value::as_object);
        root.get("additionalProperties").is_some_and(|it| *it != false)
            && properties.is_none_or(Map::is_empty)
    };
    root["type"] == "object" && !is_map()
}

/// The schema of an object with one field of the type `T`.
fn in_field<T: JsonSchema>(name: &str, description: &str) -> Value {
    let mut generator = settings().into_generator();
    let mut argument = generator.subschema_for::<T>();
    if !description.is_empty() {
        argument.insert("description".to_owned(), description.into());
    }
    let definitions = generator.take_definitions(true);
    let mut schema = json!({"type": "object", "properties": {name: argument}});
    if !definitions.is_empty() {
        schema["$defs"] = definitions.into();
    }
    if !strict::accepts_null(strict::resolve(&schema, &schema["properties"][name])) {
        schema["required"] = json!([name]);
    }
    schema
}

#[cfg(test)]
mod tests;
