//! What a request may ask of a model, by the model's name.

use crate::json::Object;

/// A model's family and version. It decides only where one wish has several forms, or can be left
/// out: what a model refuses altogether is for its provider to refuse.
///
/// Names of models that are not Claude's come from other servers of this dialect: they take the
/// forms that the dialect began with. A Claude without a version in its name counts as the latest.
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
    NoClaude,
}

/// How a model is kept from thinking.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WithoutThinking {
    /// It does not think unless it is asked to.
    Unasked,
    /// `thinking` of this type.
    Config(&'static str),
    /// It always thinks; the lowest effort is as little as it can.
    LowestEffort,
}

impl Model {
    pub(super) fn of(fields: &Object<'_>) -> Self {
        Self::named(&fields.string("model").unwrap_or_default())
    }

    pub(super) fn named(name: &str) -> Self {
        let name = name.to_ascii_lowercase();
        let Some((_, name)) = name.split_once("claude") else {
            return Self { family: Family::NoClaude, version: (0, 0) };
        };
        let words = || name.split(|letter: char| !letter.is_ascii_alphanumeric());
        let family = words().find_map(|word| match word {
            "opus" => Some(Family::Opus),
            "sonnet" => Some(Family::Sonnet),
            "haiku" => Some(Family::Haiku),
            _ => None,
        });
        // Longer numbers are dates.
        let number = |word: &str| word.parse().ok().filter(|_| word.len() <= 2);
        let mut numbers = words().map(number).skip_while(Option::is_none);
        let major = numbers.next().flatten().unwrap_or(u32::MAX);
        let minor = numbers.next().flatten().unwrap_or(0);
        Self { family: family.unwrap_or(Family::OtherClaude), version: (major, minor) }
    }

    /// Whether it thinks with a budget of tokens (`thinking.type: enabled`). From Claude 4.6 on it
    /// thinks adaptively, as `output_config.effort` says; later ones refuse a budget.
    pub(super) fn thinks_by_budget(self) -> bool {
        self.is_before((4, 6))
    }

    /// Whether `temperature` and `top_p` may differ from their defaults. From Claude 4.7 on they
    /// are refused.
    pub(super) fn takes_sampling(self) -> bool {
        self.is_before((4, 7))
    }

    /// Whether `temperature` and `top_p` may stand in one request: "`temperature` and `top_p`
    /// cannot both be specified for this model."
    pub(super) fn takes_both_samplings(self) -> bool {
        self.is_before((4, 1))
    }

    /// How many tokens it writes in one answer at most, where that is less than our default: 4,096
    /// for Claude 3, 8,192 for the later ones before Claude 4.
    pub(super) fn writes_at_most(self) -> Option<u64> {
        match self.version {
            _ if self.family == Family::NoClaude => None,
            (..=2, _) | (3, 0) => Some(4_096),
            (3, _) => Some(8_192),
            _ => None,
        }
    }

    /// Whether `xhigh` is one of its efforts.
    pub(super) fn knows_xhigh(self) -> bool {
        !self.is_before((4, 7))
    }

    /// Whether it shows what it thinks only where `thinking.display` asks for that.
    pub(super) fn hides_thinking(self) -> bool {
        !self.is_before((4, 7))
    }

    pub(super) fn without_thinking(self) -> WithoutThinking {
        match (self.family, self.version) {
            _ if self.is_before((5, 0)) => WithoutThinking::Unasked,
            (Family::Opus | Family::Sonnet, (5, 0)) | (Family::Haiku, (5, _)) => {
                WithoutThinking::Config(r#"{"type":"disabled"}"#)
            }
            (Family::Sonnet, (5, 5)) => WithoutThinking::Config(r#"{"type":"between_tools"}"#),
            _ => WithoutThinking::LowestEffort,
        }
    }

    fn is_before(self, version: (u32, u32)) -> bool {
        self.family == Family::NoClaude || self.version < version
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_is_read_in_every_form_that_names_have() {
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
            assert_eq!(Model::named(name).version, version, "{name}");
        }
    }

    #[test]
    fn an_old_model_is_not_asked_for_more_than_it_can_write() {
        for (name, most) in [
            ("claude-3-haiku-20240307", Some(4_096)),
            ("claude-3-5-haiku-20241022", Some(8_192)),
            ("claude-sonnet-4-20250514", None),
            ("claude-opus-5-5", None),
            ("qwen3", None),
        ] {
            assert_eq!(Model::named(name).writes_at_most(), most, "{name}");
        }
    }

    #[test]
    fn each_generation_is_kept_from_thinking_in_its_own_way() {
        use WithoutThinking as W;
        for (name, way) in [
            ("claude-opus-4-8", W::Unasked),
            ("claude-opus-5", W::Config(r#"{"type":"disabled"}"#)),
            ("claude-haiku-5-5", W::Config(r#"{"type":"disabled"}"#)),
            ("claude-sonnet-5-5", W::Config(r#"{"type":"between_tools"}"#)),
            ("claude-opus-5-5", W::LowestEffort),
            ("claude-fable-5", W::LowestEffort),
            ("llama-4", W::Unasked),
        ] {
            assert_eq!(Model::named(name).without_thinking(), way, "{name}");
        }
    }
}
