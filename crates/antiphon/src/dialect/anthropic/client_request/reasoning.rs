//! `thinking`, `output_config` and `output_format`: the inverse of the encoder's `thinking`.

use super::RequestDecoder;
use super::field::Fields;
use crate::dialect::effort::effort_of_budget;
use crate::dialect::{InvalidRequest, UpstreamApi};
use crate::json::Object;

/// Decodes the fields. An Anthropic upstream receives them unchanged.
///
/// | `thinking` | `reasoning` |
/// |---|---|
/// | absent | the effort of `output_config`, if there is one |
/// | `disabled` | effort `none` |
/// | `enabled` | the effort nearest to the budget, with a summary |
/// | `adaptive` | the effort of `output_config`, with a summary |
///
/// A summary is not requested if `display` is `omitted`, or from Chat Completions, which has none.
pub(super) fn decode(
    request: &Fields<'_>,
    decoder: &mut RequestDecoder,
) -> Result<(), InvalidRequest> {
    let config = request.present("output_config").map(|config| config.object()).transpose()?;
    let thinking = request.present("thinking").map(|thinking| thinking.object()).transpose()?;
    if decoder.is_for(UpstreamApi::Anthropic) {
        for key in ["thinking", "output_config", "output_format"] {
            if let Some(field) = request.present(key) {
                decoder.set_raw(key, field.raw());
            }
        }
        return Ok(());
    }
    let effort = config.as_ref().and_then(|config| config.present("effort"));
    let effort = effort.map(|effort| effort.text()).transpose()?;
    reasoning(thinking.as_ref(), effort, decoder)?;
    format(request, config.as_ref(), decoder)
}

fn reasoning(
    thinking: Option<&Fields<'_>>,
    effort: Option<String>,
    decoder: &mut RequestDecoder,
) -> Result<(), InvalidRequest> {
    let effort = effort.map(|effort| known_effort(effort, decoder));
    let mut reasoning = Object::default();
    let kind = thinking.map(Fields::kind).transpose()?;
    let effort = match (kind.as_deref(), thinking) {
        (None | Some("adaptive"), _) | (_, None) => effort,
        (Some("disabled"), _) => Some("none".to_owned()),
        (Some("enabled"), Some(thinking)) => {
            let budget =
                thinking.typed("enabled").required("budget_tokens")?.integer_from(1_024)?;
            effort.or_else(|| Some(effort_of_budget(budget).to_owned()))
        }
        (Some(other), Some(thinking)) => {
            let tags = "'adaptive', 'disabled', 'enabled'";
            let sentence = format!(
                "Input tag '{other}' found using 'type' does not match any of the expected tags: \
                 {tags}"
            );
            return Err(super::field::invalid(thinking.path(), &sentence));
        }
    };
    if let Some(effort) = &effort {
        reasoning.set_string("effort", effort);
    }
    if shows_thinking(kind.as_deref(), thinking) && decoder.upstream == UpstreamApi::Responses {
        reasoning.set_string("summary", "auto");
    }
    if reasoning.iter().next().is_some() {
        decoder.set_raw("reasoning", reasoning.to_text());
    }
    Ok(())
}

fn shows_thinking(kind: Option<&str>, thinking: Option<&Fields<'_>>) -> bool {
    let display = thinking.and_then(|thinking| thinking.object().string("display"));
    matches!(kind, Some("enabled" | "adaptive")) && display.as_deref() != Some("omitted")
}

/// The effort of the Responses API, which has no `max`.
fn known_effort(effort: String, decoder: &mut RequestDecoder) -> String {
    if effort != "max" {
        return effort;
    }
    decoder.change("output_config.effort", "the highest effort of the upstream is 'xhigh'");
    "xhigh".to_owned()
}

/// The JSON schema of the answer, in `output_config.format` or in the older `output_format`.
fn format(
    request: &Fields<'_>,
    config: Option<&Fields<'_>>,
    decoder: &mut RequestDecoder,
) -> Result<(), InvalidRequest> {
    let format = config.and_then(|config| config.present("format"));
    let Some(format) = format.or_else(|| request.present("output_format")) else { return Ok(()) };
    let format = format.object()?;
    if format.kind()? != "json_schema" {
        return Err(format.required("type")?.should_be("'json_schema'"));
    }
    let schema = format.required("schema")?;
    schema.object()?;
    let head = r#""type":"json_schema","name":"output","strict":true"#;
    decoder.set_raw("text", format!(r#"{{"format":{{{head},"schema":{}}}}}"#, schema.raw()));
    Ok(())
}
