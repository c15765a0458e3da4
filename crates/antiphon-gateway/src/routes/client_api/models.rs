//! Models in the form of Anthropic's Models API.
//!
//! Source: Anthropic's reference of `GET /v1/models`.

use antiphon::json::{Object, quote};
use http::HeaderMap;

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
    let created = quote(&date_time(created));
    format!(r#"{{"type":"model","id":{id},"display_name":{name},"created_at":{created}}}"#)
}

/// The time in the form of RFC 3339, from Unix seconds.
fn date_time(seconds: i64) -> String {
    let (days, second) = (seconds.div_euclid(86_400), seconds.rem_euclid(86_400));
    let (year, month, day) = date(days);
    let (hour, minute, second) = (second / 3_600, second / 60 % 60, second % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z")
}

/// The date of a day, counted from 1970-01-01. The algorithm counts years from March, so that a
/// leap day is the last one, and in eras of 400 years, which have equally many days.
fn date(days: i64) -> (i64, i64, i64) {
    let days = days + 719_468;
    let (era, day) = (days.div_euclid(146_097), days.rem_euclid(146_097));
    let year = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let day = day - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    (year + era * 400 + i64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_is_written_by_rfc_3339() {
        for (seconds, text) in [
            (0, "1970-01-01T00:00:00Z"),
            (951_782_400, "2000-02-29T00:00:00Z"),
            (1_770_000_060, "2026-02-02T02:41:00Z"),
            (4_107_542_399, "2100-02-28T23:59:59Z"),
        ] {
            assert_eq!(date_time(seconds), text);
        }
    }

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
