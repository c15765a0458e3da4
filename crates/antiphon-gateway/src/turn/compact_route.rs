//! Compacts a history without a turn: `POST /v1/responses/compact`.

use antiphon::json::{Object, quote};
use antiphon::{HeldItem, IdSource, Item, Kind, Role};
use antiphon_store::{ResponseId, Shard};
use bytes::Bytes;

use super::client::Head;
use super::context::Turn;
use super::encode;
use super::finished::{record_compaction, record_refusal};
use super::plan::{Plan, Planner};
use super::preview::Preview;
use super::report::Report;
use super::summary::summarize;
use crate::caller::Caller;
use crate::entropy::{RandomIds, unix_now};
use crate::error::ApiError;
use crate::gateway::Gateway;
use crate::item_json::item_text;
use crate::request::CreateRequest;
use crate::trace::{MAX_REASON, MAX_TEXT, shortened};
use crate::upstream::{RetrySession, UpstreamError};

/// The path of the compaction route at Responses API upstreams.
const PATH: &str = "/responses/compact";

/// The usage of an answer whose upstream reports none.
const UNCOUNTED: &str = concat!(
    r#"{"input_tokens":0,"input_tokens_details":{"cached_tokens":0,"cache_write_tokens":0},"#,
    r#""output_tokens":0,"output_tokens_details":{"reasoning_tokens":0},"total_tokens":0}"#
);

/// Returns the compacted history of a request: a `response.compaction` object as JSON. It is a
/// snapshot: it opens and stores nothing, and does not contain turns that are still open.
///
/// The upstream compacts if it has a route for that; otherwise its model writes a summary. The
/// gateway remembers upstreams without the route.
pub(crate) async fn compact_history(
    gateway: &Gateway,
    caller: &Caller,
    request: &CreateRequest,
) -> Result<(Head, String), ApiError> {
    let turn = Turn::new(gateway, caller, request);
    let compacting = async {
        let mut preview = Preview::new(gateway, caller, request).await?;
        let planner = Planner::new(&turn, preview.upstream());
        let compacted = match compact_upstream(planner, &mut preview.plan).await? {
            Some(compacted) => compacted,
            None => compact_here(planner, &mut preview.plan).await?,
        };
        Ok((preview.plan.report, compacted))
    };
    let compacted = tokio::select! {
        compacted = compacting => compacted,
        () = gateway.closing.cancelled() => Err(ApiError::Stopping),
    };
    log_result(&turn, compacted.as_ref().map(|(report, _)| report));
    compacted.map(|(report, compacted)| (report.head_unnamed(), compacted))
}

/// Logs one line for the operator.
fn log_result(turn: &Turn<'_>, compacted: Result<&Report, &ApiError>) {
    let model = shortened(&turn.request.model, MAX_TEXT);
    match compacted {
        Ok(report) => {
            record_compaction(&turn.trace, report);
            report.log_compaction(model);
        }
        Err(error) => {
            record_refusal(&turn.trace, error);
            let (status, message) = (error.status().as_u16(), error.to_string());
            let reason = shortened(&message, MAX_REASON);
            if error.status().is_server_error() {
                tracing::warn!(model, status, reason, "history not compacted");
            } else {
                tracing::info!(model, status, reason, "history not compacted");
            }
        }
    }
}

/// Compacts by the upstream's own route and seals its compaction items; `None` if it has no route.
async fn compact_upstream(
    planner: Planner<'_>,
    plan: &mut Plan,
) -> Result<Option<String>, ApiError> {
    let without = &planner.turn.gateway.upstreams.without_compact_path;
    let Some(mut sealing) = planner.sealing(&plan.origin) else { return Ok(None) };
    if without.contains(&plan.origin) {
        return Ok(None);
    }
    match request_compaction(planner, plan).await {
        None => Ok(None),
        Some(Ok(answer)) => Ok(Some(convert_compacted(&sealing.apply(&answer))?)),
        Some(Err(error)) if error.has_no_such_path() => {
            without.insert(&plan.origin);
            Ok(None)
        }
        Some(Err(error)) => Err(error.into()),
    }
}

/// Asks the upstream to compact; `None` if it does not speak the Responses API. If it cannot read
/// the reasoning in the input, asks once more without it.
async fn request_compaction(
    planner: Planner<'_>,
    plan: &mut Plan,
) -> Option<Result<Bytes, UpstreamError>> {
    let Turn { caller, request, .. } = planner.turn;
    let mut session = RetrySession::new(planner.upstream, &request.model);
    let body = encode::encode_compact(request, &plan.prompt.view);
    match session.call(PATH, body, caller).await? {
        Err(error) if error.rejects_reasoning() && planner.turn.repairs() => {
            let Some(fallback) = planner.without_reasoning(&plan.prompt, &plan.origin) else {
                return Some(Err(error));
            };
            let body = encode::encode_compact(request, &fallback.prompt.view);
            plan.report.changes.add_new(fallback.changes);
            session.call(PATH, body, caller).await
        }
        answer => Some(answer),
    }
}

/// Compacts by the model: all messages of the user, followed by a summary of everything.
async fn compact_here(planner: Planner<'_>, plan: &mut Plan) -> Result<String, ApiError> {
    let summary = summarize(planner, plan).await?;
    plan.report.changes.add_new(summary.changes);
    let held = plan.transcript.items().iter();
    let of_user = held.filter(|item| item.head.role == Some(Role::User) && !item.is_tombstone());
    let mut output: Vec<String> = of_user.map(|item| item_text(item, true)).collect();
    output.push(to_api_item(&summary.compaction));
    let mut compacted = Object::default();
    compacted.set("id", quote(issue_compaction_id().as_str()));
    compacted.set("object", r#""response.compaction""#);
    compacted.set("created_at", unix_now().to_string());
    compacted.set("output", json_array(&output));
    compacted.set("usage", summary.usage.unwrap_or_else(|| UNCOUNTED.to_owned()));
    Ok(compacted.to_text())
}

/// Gives the upstream's answer a new id, which names no response, and each of its items an id. An
/// answer without a compaction is an error.
fn convert_compacted(answer: &Bytes) -> Result<String, UpstreamError> {
    let unexpected = || UpstreamError::UnexpectedAnswer("no compacted output".to_owned());
    let mut compacted = Object::parse(answer).map_err(|_| unexpected())?;
    let output = compacted.get("output").ok_or_else(unexpected)?.to_owned();
    let items = antiphon::item::parse_items(&output.into()).map_err(|_| unexpected())?;
    if !items.iter().any(|item| item.head().kind == Kind::Compaction && item.head().encrypted) {
        return Err(unexpected());
    }
    let items: Vec<String> = items.iter().map(to_api_item).collect();
    compacted.set_first("id", quote(issue_compaction_id().as_str()));
    compacted.set("object", r#""response.compaction""#);
    if compacted.present("created_at").is_none() {
        compacted.set("created_at", unix_now().to_string());
    }
    compacted.set("output", json_array(&items));
    if compacted.present("usage").is_none() {
        compacted.set("usage", UNCOUNTED);
    }
    Ok(compacted.to_text())
}

/// Converts the item to the form of the API.
fn to_api_item(item: &Item) -> String {
    let id = item.head().id.clone();
    let id = id.unwrap_or_else(|| RandomIds.issue(item.head().kind.id_prefix()).into());
    let key = antiphon::FingerprintKey::new([0; 16]);
    item_text(&HeldItem::new(id, item, key, None), true)
}

/// Issues an id in the form of a response id. It names no response.
fn issue_compaction_id() -> ResponseId {
    ResponseId::issue(Shard::issue(&mut RandomIds), &mut RandomIds)
}

fn json_array(items: &[String]) -> String {
    format!("[{}]", items.join(","))
}
