//! The paths of Azure's clients.
//!
//! They send the requests of the API below another path than `/v1`:
//!
//! | client | path |
//! |---|---|
//! | a Foundry project (`{endpoint}/openai/v1`) | `/openai/v1/responses` |
//! | the same, with the project in its endpoint | `/api/projects/{project}/openai/v1/responses` |
//! | `AzureOpenAI(azure_endpoint=…, api_version=…)` | `/openai/responses?api-version=…` |

use axum::extract::{OriginalUri, Request};
use http::Uri;

use crate::foreign_path::is_own;

/// The parameter that selects a version of Azure's API. The API below `/v1` has no versions.
const API_VERSION: &str = "api-version";

/// Replaces the URI of an Azure client by the one below `/v1` with the same meaning, before the
/// request is routed. Other requests stay unchanged.
pub(super) fn normalize(mut request: Request) -> Request {
    if let Some(uri) = v1_uri(request.uri()) {
        request.extensions_mut().insert(OriginalUri(uri.clone()));
        *request.uri_mut() = uri;
    }
    request
}

fn v1_uri(uri: &Uri) -> Option<Uri> {
    let path = v1_path(uri.path())?;
    let query = uri.query().map(without_version).filter(|query| !query.is_empty());
    let target = query.map_or_else(|| path.clone(), |query| format!("{path}?{query}"));
    target.parse().ok()
}

/// The path below `/v1`. Without a version in the path, only the gateway's own paths have the same
/// meaning there.
fn v1_path(path: &str) -> Option<String> {
    let rest = after_project(path).strip_prefix("/openai/")?;
    if let Some(rest) = rest.strip_prefix("v1/") {
        return Some(format!("/v1/{rest}"));
    }
    let first = rest.split('/').next()?;
    is_own(first).then(|| format!("/v1/{rest}"))
}

fn after_project(path: &str) -> &str {
    let project = path.strip_prefix("/api/projects/");
    project.and_then(|rest| rest.find('/').map(|at| &rest[at..])).unwrap_or(path)
}

fn without_version(query: &str) -> String {
    let is_kept = |part: &&str| part.split('=').next() != Some(API_VERSION);
    query.split('&').filter(is_kept).collect::<Vec<_>>().join("&")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn normalized(uri: &str) -> Option<String> {
        v1_uri(&uri.parse().unwrap()).map(|uri| uri.to_string())
    }

    #[test]
    fn azure_paths_are_paths_below_v1() {
        for (given, expected) in [
            ("/openai/v1/responses", "/v1/responses"),
            ("/openai/v1/embeddings?api-version=preview", "/v1/embeddings"),
            ("/api/projects/p/openai/v1/conversations", "/v1/conversations"),
            ("/openai/responses?api-version=2025-04-01-preview", "/v1/responses"),
            (
                "/openai/responses/resp_1/input_items?api-version=x&limit=2",
                "/v1/responses/resp_1/input_items?limit=2",
            ),
            ("/openai/models?a=1&api-version=x&b=2", "/v1/models?a=1&b=2"),
        ] {
            assert_eq!(normalized(given).as_deref(), Some(expected), "{given}");
        }
    }

    #[test]
    fn other_paths_are_unchanged() {
        for path in [
            "/v1/responses?api-version=x",
            "/openai",
            "/openai/v1",
            "/openai/deployments/gpt-5/chat/completions?api-version=x",
            "/openai/%72esponses",
            "/api/projects/p/agents",
            "/api/projects/openai/v1/responses",
            "/x/openai/v1/responses",
        ] {
            assert_eq!(normalized(path), None, "{path}");
        }
    }
}
