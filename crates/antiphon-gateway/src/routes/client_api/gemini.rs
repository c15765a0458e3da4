//! `POST /v1beta/models/{model}:generateContent`, `:streamGenerateContent` and `:countTokens`, and
//! the same below `/v1`, where newer SDKs send them.
//!
//! The path of a request names the model and the form of the answer. Both become fields of the
//! request, as its decoder expects them.

use std::sync::Arc;

use antiphon::dialect::ClientApi;
use antiphon::json::quote;
use axum::Extension;
use axum::extract::{OriginalUri, Request, State};
use axum::response::{IntoResponse as _, Response};
use bytes::Bytes;
use http::Uri;

use super::super::extract::Path;
use super::super::passthrough::InspectedBody;
use super::super::responses::count_tokens_of;
use super::super::{json, unknown_url, wrong_method};
use super::prepared::{Prepared, Purpose};
use super::{Sent, answer, run};
use crate::caller::Caller;
use crate::error::ApiError;
use crate::gateway::Gateway;
use crate::limits::TurnPermit;
use crate::request::parse_object;

/// The last part of the path, after the model and a colon.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Action {
    Generate,
    /// An event stream.
    Stream,
    /// A stream whose chunks are the elements of one array.
    StreamArray,
    Count,
}

impl Action {
    fn parse(name: &str, uri: &Uri) -> Option<Self> {
        let query = uri.query().unwrap_or_default();
        let is_sse = query.split('&').any(|parameter| parameter == "alt=sse");
        Some(match name {
            "generateContent" => Self::Generate,
            "streamGenerateContent" if is_sse => Self::Stream,
            "streamGenerateContent" => Self::StreamArray,
            "countTokens" => Self::Count,
            _ => return None,
        })
    }
}

/// `POST /v1beta/models/{model}:{action}`. A path without an action is that of a model, to which
/// nothing can be posted.
pub(in crate::routes) async fn act_on_model(
    State(gateway): State<Arc<Gateway>>,
    caller: Caller,
    Extension(permit): Extension<TurnPermit>,
    OriginalUri(uri): OriginalUri,
    Path(path): Path<String>,
    request: Request,
) -> Result<Response, ApiError> {
    let method = request.method();
    let (model, name) = path.rsplit_once(':').ok_or_else(|| wrong_method(method, &uri))?;
    let action = Action::parse(name, &uri).ok_or_else(|| unknown_url(method, &uri))?;
    let (parts, body) = InspectedBody::read(request, true, &gateway).await?;
    let body = body.whole().cloned().unwrap_or_default();
    let json = with_path(&body, model, action)?;
    let fields = parse_object(&json)?;
    let sent = Sent { headers: &parts.headers, fields: &fields, json: &json };
    match action {
        Action::Count => count(&gateway, &caller, sent).await,
        Action::Generate | Action::Stream | Action::StreamArray => {
            let purpose = Purpose::Answer(ClientApi::Gemini);
            let prepared = Prepared::new(purpose, &gateway, sent.headers, sent.fields)?;
            let write =
                if action == Action::StreamArray { answer::write_array } else { answer::write };
            run(&gateway, caller, permit, prepared, sent, write).await
        }
    }
}

/// The body with the fields from the path.
fn with_path(body: &Bytes, model: &str, action: Action) -> Result<Bytes, ApiError> {
    let mut fields = parse_object(body)?;
    let is_stream = matches!(action, Action::Stream | Action::StreamArray);
    fields.set("model", quote(model));
    fields.set("stream", is_stream.to_string());
    Ok(fields.to_bytes())
}

/// Counts the tokens of the model's input, including the stored items of the conversation. Stores
/// nothing.
async fn count(gateway: &Gateway, caller: &Caller, sent: Sent<'_>) -> Result<Response, ApiError> {
    let purpose = Purpose::Count(ClientApi::Gemini);
    let prepared = Prepared::new(purpose, gateway, sent.headers, sent.fields)?;
    let request = prepared.into_request(gateway, sent.headers, sent.json)?;
    let counted = count_tokens_of(gateway, caller, &request).await;
    let (tokens, source) =
        counted.map_err(|error| error.reworded(ClientApi::Gemini, sent.fields))?;
    let counted = json(format!(r#"{{"totalTokens":{tokens}}}"#));
    Ok(([("antiphon-tokens", source)], counted).into_response())
}
