//! The attributes of the resource, which name this service and its process.

use percent_encoding::percent_decode_str;

use super::variables::Variables;

/// The name of the service without a variable.
const SERVICE: &str = "antiphon";

/// Reads the attributes. The last one with a name counts.
pub(super) fn read(variables: &mut Variables<'_>) -> Vec<(String, String)> {
    let mut resource = vec![
        ("service.name".to_owned(), SERVICE.to_owned()),
        ("service.version".to_owned(), env!("CARGO_PKG_VERSION").to_owned()),
    ];
    for (name, value) in given(variables) {
        set(&mut resource, name, value);
    }
    if let Some(name) = variables.text("OTEL_SERVICE_NAME") {
        set(&mut resource, "service.name".to_owned(), name);
    }
    resource
}

fn set(resource: &mut Vec<(String, String)>, name: String, value: String) {
    resource.retain(|(known, _)| *known != name);
    resource.push((name, value));
}

/// `key=value` pairs with commas between them and percent-encoded values. If one of them is
/// invalid, the standard demands to ignore all.
fn given(variables: &mut Variables<'_>) -> Vec<(String, String)> {
    const NAME: &str = "OTEL_RESOURCE_ATTRIBUTES";
    let text = variables.text(NAME).unwrap_or_default();
    let pairs = text.split(',').map(str::trim).filter(|pair| !pair.is_empty());
    let pairs: Option<Vec<(String, String)>> = pairs.map(pair).collect();
    pairs.unwrap_or_else(|| {
        variables.warn(NAME, "not a list of KEY=VALUE; it is ignored");
        Vec::new()
    })
}

fn pair(text: &str) -> Option<(String, String)> {
    let (name, value) = text.split_once('=')?;
    let value = percent_decode_str(value.trim()).decode_utf8().ok()?;
    Some((name.trim().to_owned(), value.into_owned()))
}
