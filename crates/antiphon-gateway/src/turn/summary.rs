//! Summarizes a history with the model of the request.

use antiphon::dialect::RequestContext;
use antiphon::json::Object;
use antiphon::stream::{Envelope, Finished, Status, UsedIds};
use antiphon::{Item, Kind, Transcript};

use super::context::Turn;
use super::finished::record_answer;
use super::plan::{Plan, Planner};
use super::reader::ResponseReader;
use super::report::PromptChanges;
use super::send::PromptSender;
use crate::compaction::{compaction_item, summary_request};
use crate::entropy::unix_now;
use crate::error::ApiError;
use crate::span::ErrorType as _;
use crate::upstream::UpstreamError;

/// A model's summary of a history.
pub(super) struct Summary {
    /// The compaction item with the summary.
    pub(super) compaction: Item,
    /// The usage of the summary in the form of the API; `None` if the upstream reports none.
    pub(super) usage: Option<String>,
    /// The changes to the history before it was summarized.
    pub(super) changes: PromptChanges,
}

/// Asks the model to summarize the plan's view, in a separate request that changes nothing. An
/// incomplete summary is an error.
pub(super) async fn summarize(planner: Planner<'_>, plan: &Plan) -> Result<Summary, ApiError> {
    let Planner { turn, upstream } = planner;
    let (request, prompt) = summary_request(turn.request);
    let turn = Turn { request: &request, ..turn.clone() };
    let planner = Planner::new(&turn, upstream);
    let is_trigger = |item: &&Item| item.head().kind == Kind::CompactionTrigger;
    let view = plan.prompt.view.iter().filter(|item| !is_trigger(item));
    let view: Vec<Item> = view.cloned().chain([prompt]).collect();
    let mut changes = PromptChanges::default();
    let prompt = planner.encode(view, &plan.origin, &mut changes)?;
    let mut plan = plan.with_summary_prompt(prompt, changes);
    planner.fit(&mut plan).await?;
    let finished = request_summary(planner, &mut plan).await?;
    let text = summary_text(&finished).ok_or(ApiError::SummaryIncomplete)?;
    let content = turn.gateway.compaction_key.seal_summary(&turn.caller.tenant, &text);
    let (compaction, usage) = (compaction_item(&content), usage_json(&finished));
    Ok(Summary { compaction, usage, changes: plan.report.changes })
}

/// Requests the complete answer. Retries while that can help, because no client has seen any of it.
async fn request_summary(planner: Planner<'_>, plan: &mut Plan) -> Result<Finished, UpstreamError> {
    let mut sender = PromptSender::new(planner);
    loop {
        let reply = sender.send(plan).await?.report_in(plan);
        match reader(planner, plan).read_to_end(reply).await {
            Err(error) if sender.backoff(&error).await => {}
            Err(error) => {
                sender.chat().fail(&error.error_type());
                return Err(error);
            }
            Ok(finished) => {
                record_answer(sender.chat(), &finished);
                return Ok(finished);
            }
        }
    }
}

/// A reader of an answer that the client does not receive.
pub(super) fn reader(Planner { turn, upstream }: Planner<'_>, plan: &Plan) -> ResponseReader {
    let fields = turn.request.object();
    let envelope = Envelope::new("", unix_now(), &fields, None);
    let assembler = turn.assembler(envelope, UsedIds::from_transcript(&Transcript::default()));
    let context = RequestContext::from_request(&fields, &[], plan.origin.clone());
    ResponseReader::new(upstream.api(), context, assembler).with_max_size(upstream.max_event())
}

/// The text of a completed answer's messages; `None` if it is incomplete or empty.
fn summary_text(finished: &Finished) -> Option<String> {
    let items = finished.output.iter().filter_map(|output| output.item.as_ref());
    let messages = items.filter(|item| item.head().kind == Kind::Message);
    let text = messages.map(|item| message_text(&item.object())).collect::<Vec<_>>().join("\n");
    (finished.status == Status::Completed && !text.trim().is_empty()).then_some(text)
}

fn message_text(message: &Object<'_>) -> String {
    let content = message.present("content").unwrap_or("[]");
    let parts: Vec<Object<'_>> = serde_json::from_str(content).unwrap_or_default();
    parts.iter().filter_map(|part| part.string("text")).collect()
}

fn usage_json(finished: &Finished) -> Option<String> {
    let response = Object::parse_str(&finished.response).ok()?;
    response.present("usage").map(str::to_owned)
}
