//! The names of providers in OpenTelemetry's convention.

use antiphon::dialect::{UpstreamApi, Vendor};
use http::Uri;

/// Hosts, with the names of their providers. A host is equal, or ends with a dot and this name.
const HOSTS: [(&str, &str); 12] = [
    ("openai.com", "openai"),
    ("anthropic.com", "anthropic"),
    ("openai.azure.com", "azure.ai.openai"),
    ("services.ai.azure.com", "azure.ai.inference"),
    ("amazonaws.com", "aws.bedrock"),
    ("generativelanguage.googleapis.com", "gcp.gemini"),
    ("aiplatform.googleapis.com", "gcp.vertex_ai"),
    ("deepseek.com", "deepseek"),
    ("groq.com", "groq"),
    ("mistral.ai", "mistral_ai"),
    ("moonshot.ai", "moonshot_ai"),
    ("x.ai", "x_ai"),
];

/// The name of the provider at this URL. If its host is not known, the vendor of its API: the
/// convention names the form of the requests.
pub(super) fn provider_name(url: &Uri, api: UpstreamApi) -> &'static str {
    let host = url.host().unwrap_or_default();
    let is_at = |name: &str| {
        host.strip_suffix(name).is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
    };
    let known = HOSTS.iter().find(|(host, _)| is_at(host)).map(|(_, name)| *name);
    known.unwrap_or(match api.vendor() {
        Vendor::OpenAi => "openai",
        Vendor::Anthropic => "anthropic",
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn host_or_api_names_the_provider() {
        for (url, api, name) in [
            ("https://api.openai.com/v1", UpstreamApi::Responses, "openai"),
            ("https://west.openai.azure.com/openai/v1", UpstreamApi::Responses, "azure.ai.openai"),
            ("https://api.x.ai/v1", UpstreamApi::Chat, "x_ai"),
            ("https://notx.ai/v1", UpstreamApi::Chat, "openai"),
            ("http://127.0.0.1:8000/v1", UpstreamApi::Chat, "openai"),
            ("http://127.0.0.1:8000/v1", UpstreamApi::Anthropic, "anthropic"),
        ] {
            assert_eq!(provider_name(&url.parse().unwrap(), api), name, "{url}");
        }
    }
}
