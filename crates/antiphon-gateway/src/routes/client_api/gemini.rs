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
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use bytes::Bytes;
use http::{Method, Uri, header};

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

/// Rejects a request whose method its path does not have: actions are posted, and models are read.
pub(in crate::routes) async fn check_method(request: Request, next: Next) -> Response {
    let (method, uri) = (request.method(), request.uri());
    let name = uri.path().rsplit_once(':').map(|(_, name)| name);
    let is_action = name.is_some_and(|name| Action::parse(name, uri).is_some());
    let is_allowed = match *method {
        Method::GET | Method::HEAD => !is_action,
        // Names of models have colons, too: the path may have an unknown action.
        Method::POST => name.is_some(),
        _ => false,
    };
    if is_allowed {
        return next.run(request).await;
    }
    let allowed = [(header::ALLOW, if is_action { "POST" } else { "GET,HEAD" })];
    let uri = request.extensions().get::<OriginalUri>().map_or(uri, |original| &original.0);
    (allowed, wrong_method(method, uri)).into_response()
}

/// `POST /v1beta/models/{model}:{action}`
pub(in crate::routes) async fn act_on_model(
    State(gateway): State<Arc<Gateway>>,
    caller: Caller,
    Extension(permit): Extension<TurnPermit>,
    OriginalUri(uri): OriginalUri,
    Path(path): Path<String>,
    request: Request,
) -> Result<Response, ApiError> {
    let method = request.method();
    let unknown = || unknown_url(method, &uri);
    let (model, name) = path.rsplit_once(':').ok_or_else(unknown)?;
    let action = Action::parse(name, &uri).ok_or_else(unknown)?;
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
