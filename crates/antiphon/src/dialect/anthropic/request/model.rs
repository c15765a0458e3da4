//! Differences between models, by the model's name.

use crate::json::Object;

/// A model's family and version.
///
/// They decide only between several forms of a request, and whether to leave out an option. The
/// provider itself rejects a request that its model cannot serve.
///
/// A name without `claude` belongs to another server of this API, which gets the oldest forms. A
/// Claude without a version in its name counts as the latest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Model {
    family: Family,
    version: (u32, u32),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Family {
    Opus,
    Sonnet,
    Haiku,
    OtherClaude,
    NotClaude,
}

/// The way to turn thinking off.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum DisableThinking {
    /// The model does not think by default.
    OffByDefault,
    /// `thinking` with this value.
    Config(&'static str),
    /// The model always thinks; the lowest effort keeps it short.
    LowestEffort,
}

impl Model {
    pub(super) fn from_fields(fields: &Object<'_>) -> Self {
        Self::from_name(&fields.string("model").unwrap_or_default())
    }

    pub(super) fn from_name(name: &str) -> Self {
        let name = name.to_ascii_lowercase();
        let Some((_, name)) = name.split_once("claude") else {
            return Self { family: Family::NotClaude, version: (0, 0) };
        };
        let words = || name.split(|letter: char| !letter.is_ascii_alphanumeric());
        let family = words().find_map(|word| match word {
            "opus" => Some(Family::Opus),
            "sonnet" => Some(Family::Sonnet),
            "haiku" => Some(Family::Haiku),
            _ => None,
        });
        // A longer number is a date.
        let number = |word: &str| word.parse().ok().filter(|_| word.len() <= 2);
        let mut numbers = words().map(number).skip_while(Option::is_none);
        let major = numbers.next().flatten().unwrap_or(u32::MAX);
        let minor = numbers.next().flatten().unwrap_or(0);
        Self { family: family.unwrap_or(Family::OtherClaude), version: (major, minor) }
    }

    /// Whether the model takes a thinking budget in tokens (`thinking.type: enabled`). Claude 4.6
    /// and later think adaptively, with `output_config.effort`; the latest reject a budget.
    pub(super) fn takes_thinking_budget(self) -> bool {
        self.is_before((4, 6))
    }

    /// Whether `temperature` and `top_p` may differ from their defaults. Claude 4.7 and later
    /// reject them.
    pub(super) fn allows_sampling(self) -> bool {
        self.is_before((4, 7))
    }

    /// Whether one request may have both `temperature` and `top_p`: "`temperature` and `top_p`
    /// cannot both be specified for this model."
    pub(super) fn allows_both_sampling_fields(self) -> bool {
        self.is_before((4, 1))
    }

    /// The maximum of tokens in one answer, if that is less than our default: 4,096 for Claude 3,
    /// 8,192 for the later models before Claude 4.
    pub(super) fn max_output_tokens(self) -> Option<u64> {
        match self.version {
            _ if self.family == Family::NotClaude => None,
            (..=2, _) | (3, 0) => Some(4_096),
            (3, _) => Some(8_192),
            _ => None,
        }
    }

    /// Whether the model has the effort `xhigh`.
    pub(super) fn supports_xhigh(self) -> bool {
        !self.is_before((4, 7))
    }

    /// Whether the model shows its thinking only if `thinking.display` asks for it.
    pub(super) fn hides_thinking(self) -> bool {
        !self.is_before((4, 7))
    }

    pub(super) fn disable_thinking(self) -> DisableThinking {
        match (self.family, self.version) {
            _ if self.is_before((5, 0)) => DisableThinking::OffByDefault,
            (Family::Opus | Family::Sonnet, (5, 0)) | (Family::Haiku, (5, _)) => {
                DisableThinking::Config(r#"{"type":"disabled"}"#)
            }
            (Family::Sonnet, (5, 5)) => DisableThinking::Config(r#"{"type":"between_tools"}"#),
            _ => DisableThinking::LowestEffort,
        }
    }

    fn is_before(self, version: (u32, u32)) -> bool {
        self.family == Family::NotClaude || self.version < version
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn version_is_parsed_from_every_name_form() {
        for (name, version) in [
            ("claude-3-7-sonnet-20250219", (3, 7)),
            ("claude-sonnet-4-20250514", (4, 0)),
            ("claude-haiku-4-5-20251001", (4, 5)),
            ("us.anthropic.claude-opus-4-6-v1:0", (4, 6)),
            ("anthropic/claude-opus-4.6", (4, 6)),
            ("claude-opus-4@20250514", (4, 0)),
            ("claude-opus-5-5", (5, 5)),
            ("claude-mythos-preview", (u32::MAX, 0)),
            ("deepseek-chat", (0, 0)),
        ] {
            assert_eq!(Model::from_name(name).version, version, "{name}");
        }
    }

    #[test]
    fn old_model_limits_max_tokens() {
        for (name, most) in [
            ("claude-3-haiku-20240307", Some(4_096)),
            ("claude-3-5-haiku-20241022", Some(8_192)),
            ("claude-sonnet-4-20250514", None),
            ("claude-opus-5-5", None),
            ("qwen3", None),
        ] {
            assert_eq!(Model::from_name(name).max_output_tokens(), most, "{name}");
        }
    }

    #[test]
    fn each_generation_turns_thinking_off_differently() {
        use DisableThinking as W;
        for (name, way) in [
            ("claude-opus-4-8", W::OffByDefault),
            ("claude-opus-5", W::Config(r#"{"type":"disabled"}"#)),
            ("claude-haiku-5-5", W::Config(r#"{"type":"disabled"}"#)),
            ("claude-sonnet-5-5", W::Config(r#"{"type":"between_tools"}"#)),
            ("claude-opus-5-5", W::LowestEffort),
            ("claude-fable-5", W::LowestEffort),
            ("llama-4", W::OffByDefault),
        ] {
            assert_eq!(Model::from_name(name).disable_thinking(), way, "{name}");
        }
    }
}
