//! Converts a client's request of Chat Completions into one of the Responses API.

use crate::dialect::{DecodedRequest, InvalidRequest};
use crate::json::{Object, quote};
use crate::transcript::Origin;

use super::history::{ChatHistoryError, parse_items};

/// Converts the request. See [`ClientApi::decode_request`](crate::dialect::ClientApi).
pub(in crate::dialect) fn decode_request(
    request: &Object<'_>,
    origin: &Origin,
) -> Result<DecodedRequest, InvalidRequest> {
    let messages = request.get("messages").ok_or_else(|| InvalidRequest {
        path: "messages".into(),
        message: "Missing required parameter: 'messages'.".into(),
    })?;
    let items = parse_items(messages.as_bytes(), Some(origin)).map_err(invalid)?;
    let model = request.string("model").unwrap_or_default();
    let stream = request.is_true("stream");
    let fields = format!(r#"{{"model":{},"stream":{stream}}}"#, quote(&model));
    Ok(DecodedRequest { fields, items, omissions: Vec::new() })
}

fn invalid(error: ChatHistoryError) -> InvalidRequest {
    InvalidRequest { path: "messages".into(), message: error.to_string() }
}
