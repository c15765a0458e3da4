//! Errors for unknown conversations and responses that the provider may have.

use crate::error::{ApiError, Hint};
use crate::gateway::Gateway;
use crate::upstream::Upstream;

impl Gateway {
    pub(crate) fn conversation_not_found(&self, id: &str) -> ApiError {
        ApiError::ConversationNotFound { id: id.into(), hint: self.hint(id) }
    }

    pub(crate) fn response_not_found(&self, id: &str) -> ApiError {
        ApiError::ResponseNotFound { id: id.into(), hint: self.hint(id) }
    }

    pub(crate) fn previous_response_not_found(&self, id: &str) -> ApiError {
        ApiError::PreviousResponseNotFound { id: id.into(), hint: self.hint(id) }
    }

    /// The hint, if an upstream could own state and none does. Only the format of the id decides,
    /// so the hint reveals nothing about other tenants.
    fn hint(&self, id: &str) -> Hint {
        let could_keep = |http| Upstream::Http(http).is_responses_server();
        let applies = has_provider_form(id)
            && !self.upstreams.may_own_state()
            && self.upstreams.http().iter().any(could_keep);
        if applies { Hint::StateUpstream } else { Hint::None }
    }
}

/// Whether an id has a provider's format: hexadecimal digits, with another length than ours.
/// OpenAI's first ids have the same length as ours. They start with a time and continue like a UUID
/// of version 8; one in 300,000 of our random ids does.
fn has_provider_form(id: &str) -> bool {
    let digits = id.strip_prefix("conv_").or_else(|| id.strip_prefix("resp_"));
    let digits = digits.filter(|digits| digits.bytes().all(|byte| byte.is_ascii_hexdigit()));
    let Some(digits) = digits else { return false };
    match digits.len() {
        OUR_DIGITS => {
            let time = u32::from_str_radix(&digits[..8], 16).unwrap_or_default();
            let is_uuid = digits[12..].starts_with("819") && digits[16..].starts_with(VARIANT);
            TIMES.contains(&time) && is_uuid
        }
        length => PROVIDER_DIGITS.contains(&length),
    }
}

const OUR_DIGITS: usize = 48;
/// OpenAI's ids have 50 digits, those of servers with UUIDs 32.
const PROVIDER_DIGITS: std::ops::RangeInclusive<usize> = 32..=64;
/// The digits of a UUID's variant.
const VARIANT: [char; 4] = ['8', '9', 'a', 'b'];
/// Seconds since 1970, from before OpenAI's first response: 2024-12-05 to 2031-08-31.
const TIMES: std::ops::Range<u32> = 0x6750_0000..0x7400_0000;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn provider_ids_are_recognized_by_form() {
        for id in [
            "resp_67ccd3a9da748190baa7f1570fe91ac604becb25c45c1d41",
            "conv_689667905b048191b4740501625afd940c7533ace33a2dab",
            "resp_0be1ebc1ac5a3bb6006913e9bb0ff48190b3d39da4c3a2fd09",
            "resp_0123456789abcdef0123456789abcdef",
        ] {
            assert!(has_provider_form(id), "{id}");
        }
        for id in [
            "resp_0123456789abcdef0123456789abcdef0123456789abcdef",
            "conv_67ccd3a9da740190baa7f1570fe91ac604becb25c45c1d41",
            "conv_b0a34c714210817377e79167d409354770761f35a4081239",
            "resp_x",
            "conv_",
            "msg_67ccd3a9da748190baa7f1570fe91ac604becb25c45c1d41",
            "resp_67ccd3a9da748190baa7f1570fe91ac604becb25c45c1d4é",
        ] {
            assert!(!has_provider_form(id), "{id}");
        }
    }
}
