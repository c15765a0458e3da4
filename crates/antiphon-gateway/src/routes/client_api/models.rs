//! Models in the form of Anthropic's Models API.
//!
//! Source: Anthropic's reference of `GET /v1/models`.

use antiphon::json::{Object, quote};
use http::HeaderMap;

use crate::date_time::rfc_3339;

/// Whether the request comes from a client of Anthropic's API, which names its version.
pub(in crate::routes) fn is_from_anthropics_client(headers: &HeaderMap) -> bool {
    headers.contains_key("anthropic-version")
}

/// The list of these models, which are in the form of OpenAI's Models API. It has one page.
pub(in crate::routes) fn anthropic_list(models: &[String]) -> String {
    let models: Vec<String> = models.iter().map(|model| anthropic_model(model)).collect();
    let id = |model: Option<&String>| {
        let model = model.and_then(|model| Object::parse_str(model).ok());
        model.as_ref().and_then(|model| model.get("id")).unwrap_or("null").to_owned()
    };
    let (first, last) = (id(models.first()), id(models.last()));
    let data = models.join(",");
    format!(r#"{{"data":[{data}],"has_more":false,"first_id":{first},"last_id":{last}}}"#)
}

/// A model in Anthropic's form. Its name is its id, unless the upstream names it.
pub(in crate::routes) fn anthropic_model(model: &str) -> String {
    let model = Object::parse_str(model).unwrap_or_default();
    let id = model.get("id").unwrap_or("null");
    let name = model.present("display_name").unwrap_or(id);
    let created = model.get("created").and_then(|seconds| seconds.parse().ok()).unwrap_or(0);
    let created = quote(&rfc_3339(created));
    format!(r#"{{"type":"model","id":{id},"display_name":{name},"created_at":{created}}}"#)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn model_of_openai_has_the_fields_of_anthropic() {
        let model = r#"{"id":"m-1","object":"model","created":0,"owned_by":"x"}"#.to_owned();
        let expected = concat!(
            r#"{"data":[{"type":"model","id":"m-1","display_name":"m-1","#,
            r#""created_at":"1970-01-01T00:00:00Z"}],"has_more":false,"#,
            r#""first_id":"m-1","last_id":"m-1"}"#,
        );
        assert_eq!(anthropic_list(&[model]), expected);
    }
}
