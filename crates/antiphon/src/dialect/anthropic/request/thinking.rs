//! Converts `reasoning` and `text.format` into `thinking` and `output_config`.

use super::model::{DisableThinking, Model};
use super::{AnthropicOmissions, unsupported};
use crate::dialect::request::{RequestPath, Unsupported};
use crate::json::Object;

/// The smallest budget that Anthropic accepts.
const LEAST_BUDGET: u64 = 1_024;

/// How much the model thinks, and the format of its answer.
///
/// | `reasoning.effort` | before Claude 4.6, and other servers' models | from Claude 4.6 on |
/// |---|---|---|
/// | absent | not sent | not sent |
/// | `none`, `minimal` | no `thinking` | thinking turned off, or effort `low` |
/// | `low` | a budget of 2,048 tokens | adaptive, effort `low` |
/// | `medium` | 8,192 | adaptive, `medium` |
/// | `high` | 16,384 | adaptive, `high` |
/// | `xhigh` | 32,768 | adaptive, `xhigh`; `high` at Claude 4.6 |
/// | `max` | 32,768 | adaptive, `max` |
///
/// A budget is at most half of `max_tokens`, which includes it. `reasoning.summary` makes newer
/// models show their thinking.
#[derive(Default)]
pub(super) struct Thinking {
    config: Option<String>,
    effort: Option<&'static str>,
    /// The raw JSON schema of the answer.
    schema: Option<String>,
    is_on: bool,
}

/// The conditions that restrict thinking.
#[derive(Clone, Copy)]
pub(super) struct Limits {
    pub(super) max_tokens: u64,
    /// "Thinking may not be enabled when `tool_choice` forces tool use."
    pub(super) forced_tool: bool,
    /// The last assistant message must begin with thinking, but does not.
    pub(super) needs_thinking_first: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Effort {
    Off,
    Low,
    Medium,
    High,
    XHigh,
    Max,
}

impl Thinking {
    pub(super) fn from_fields(
        fields: &Object<'_>,
        model: &Model,
        limits: Limits,
        omissions: &mut AnthropicOmissions,
    ) -> Result<Self, Unsupported> {
        let reasoning =
            fields.present("reasoning").and_then(|raw| Object::parse(raw.as_bytes()).ok());
        let effort = match reasoning.as_ref().and_then(|reasoning| reasoning.string("effort")) {
            Some(effort) => Some(Effort::parse(&effort)?),
            None => None,
        };
        let summarizes = reasoning.is_some_and(|reasoning| reasoning.present("summary").is_some());
        let mut thinking = match effort {
            None => Self::default(),
            Some(Effort::Off) => Self::off(*model, omissions),
            Some(effort) if model.takes_thinking_budget() => {
                Self::by_budget(effort, limits, omissions)
            }
            Some(effort) => Self::adaptive(effort, *model, limits, summarizes, omissions),
        };
        thinking.schema = schema(fields)?;
        if let Some(own) = fields.present("thinking") {
            thinking.override_config(own, limits, omissions);
        }
        Ok(thinking)
    }

    /// Whether the request asks for thinking.
    pub(super) fn is_on(&self) -> bool {
        self.is_on
    }

    pub(super) fn write(self, body: &mut Object<'_>) {
        if let Some(config) = self.config {
            body.set("thinking", config);
        }
        let effort = self.effort.map(|effort| format!(r#""effort":"{effort}""#));
        let format = self
            .schema
            .map(|schema| format!(r#""format":{{"type":"json_schema","schema":{schema}}}"#));
        let config: Vec<String> = effort.into_iter().chain(format).collect();
        if !config.is_empty() {
            body.set("output_config", format!("{{{}}}", config.join(",")));
        }
    }

    /// Replaces the configuration with that of the request. A budget is left out if Anthropic would
    /// reject it because of the messages, which the caller may not have sent like this.
    fn override_config(&mut self, own: &str, limits: Limits, omissions: &mut AnthropicOmissions) {
        let config = Object::parse(own.as_bytes()).unwrap_or_default();
        let kind = config.string("type");
        if kind.as_deref() == Some("enabled") && limits.needs_thinking_first {
            let why = "the Anthropic Messages API rejects it, because the last assistant message \
                       does not begin with its thinking";
            omissions.leave_out(RequestPath::field("thinking"), why);
            (self.config, self.is_on) = (None, false);
            return;
        }
        self.is_on = kind.is_some_and(|kind| kind != "disabled");
        self.config = Some(own.to_owned());
    }

    fn off(model: Model, omissions: &mut AnthropicOmissions) -> Self {
        match model.disable_thinking() {
            DisableThinking::OffByDefault => Self::default(),
            DisableThinking::Config(config) => {
                Self { config: Some(config.into()), ..Self::default() }
            }
            DisableThinking::LowestEffort => {
                let how = "this Anthropic model always thinks; its lowest effort is requested";
                omissions.change(RequestPath::field("reasoning.effort"), how);
                Self { effort: Some("low"), ..Self::default() }
            }
        }
    }

    fn by_budget(effort: Effort, limits: Limits, omissions: &mut AnthropicOmissions) -> Self {
        let budget = effort.budget().min(limits.max_tokens / 2);
        let obstacle = if limits.forced_tool {
            "the Anthropic Messages API rejects thinking if the model must call a tool"
        } else if limits.needs_thinking_first {
            "the Anthropic Messages API rejects it, because the last assistant message no longer \
             begins with its thinking"
        } else if budget < LEAST_BUDGET {
            "the Anthropic Messages API needs 1,024 tokens to think and as many to answer"
        } else {
            let config = format!(r#"{{"type":"enabled","budget_tokens":{budget}}}"#);
            return Self { config: Some(config), is_on: true, ..Self::default() };
        };
        omissions.leave_out(RequestPath::field("reasoning.effort"), obstacle);
        Self::default()
    }

    fn adaptive(
        effort: Effort,
        model: Model,
        limits: Limits,
        summarizes: bool,
        omissions: &mut AnthropicOmissions,
    ) -> Self {
        let level = effort.level(model);
        if level != effort.name() {
            let how = format!("this Anthropic model has no such effort; '{level}' is requested");
            omissions.change(RequestPath::field("reasoning.effort"), &how);
        }
        let thinking = Self { effort: Some(level), ..Self::default() };
        if limits.forced_tool {
            return thinking;
        }
        let config = match summarizes && model.hides_thinking() {
            true => r#"{"type":"adaptive","display":"summarized"}"#,
            false => r#"{"type":"adaptive"}"#,
        };
        Self { config: Some(config.into()), is_on: true, ..thinking }
    }
}

impl Effort {
    fn parse(name: &str) -> Result<Self, Unsupported> {
        Ok(match name {
            "none" | "minimal" => Self::Off,
            "low" => Self::Low,
            "medium" => Self::Medium,
            "high" => Self::High,
            "xhigh" => Self::XHigh,
            "max" => Self::Max,
            other => {
                let why = format!("the Anthropic Messages API has no effort '{other}'");
                return Err(unsupported(RequestPath::field("reasoning.effort"), &why));
            }
        })
    }

    fn budget(self) -> u64 {
        match self {
            Self::Off => 0,
            Self::Low => 2_048,
            Self::Medium => 8_192,
            Self::High => 16_384,
            Self::XHigh | Self::Max => 32_768,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Off => "none",
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
            Self::XHigh => "xhigh",
            Self::Max => "max",
        }
    }

    /// The name of the effort, or of the next lower effort that the model supports.
    fn level(self, model: Model) -> &'static str {
        match self {
            Self::XHigh if !model.supports_xhigh() => Self::High.name(),
            effort => effort.name(),
        }
    }
}

/// The schema of `text.format` for `output_config.format`. Its name and description are dropped,
/// because Anthropic has no field for them.
fn schema(fields: &Object<'_>) -> Result<Option<String>, Unsupported> {
    let text = fields.present("text").and_then(|raw| Object::parse(raw.as_bytes()).ok());
    let format = text.as_ref().and_then(|text| text.present("format"));
    let Some(format) = format.and_then(|raw| Object::parse(raw.as_bytes()).ok()) else {
        return Ok(None);
    };
    let why = match &*format.string("type").unwrap_or_default() {
        "text" => return Ok(None),
        "json_schema" => match format.present("schema") {
            Some(schema) => return Ok(Some(schema.to_owned())),
            None => "the Anthropic Messages API needs the schema itself".to_owned(),
        },
        "json_object" => {
            "the Anthropic Messages API guarantees JSON only with a 'json_schema'".to_owned()
        }
        other => format!("the Anthropic Messages API has no format '{other}'"),
    };
    Err(unsupported(RequestPath::field("text.format"), &why))
}
