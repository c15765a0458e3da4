//! Replays the stored answer of a request that its client repeats.

use antiphon::dialect::{RequestContext, UpstreamApi};
use antiphon::json::Object;
use antiphon::stream::{Envelope, UsedIds};
use antiphon::{HeldItem, Item, Origin, Transcript};
use antiphon_store::{ConversationId, NewResponse, ResponseRecord};
use bytes::Bytes;

use super::client::Client;
use super::context::Turn;
use super::finished::TurnEnd;
use super::reader::ResponseReader;
use super::report;
use crate::error::ApiError;

/// Replays a complete answer.
pub(super) async fn replay(
    turn: &Turn<'_>,
    record: &ResponseRecord,
    client: &mut Client,
) -> Result<(), ApiError> {
    let envelope =
        Object::parse(&record.response.envelope).map_err(|_| ApiError::UnreadableAnswer)?;
    let body = response_object(turn, record, envelope.clone()).await?;
    client.begin_answer(report::head_again(&record.response.id));
    let reader = reader(turn, &record.response);
    let finished = reader.replay(&body, completed_at(&envelope), client).await?;
    let response = Some(record.response.id.as_str());
    turn.finished(TurnEnd::Replayed).with_response(response).publish();
    client.send_end(finished).await;
    Ok(())
}

/// Rebuilds the response object as an upstream would have sent it.
async fn response_object(
    turn: &Turn<'_>,
    record: &ResponseRecord,
    mut envelope: Object<'_>,
) -> Result<Bytes, ApiError> {
    let store = &turn.gateway.store;
    let output = store.output_items(&turn.caller.tenant, &record.response.id).await?;
    let output: Vec<_> = output.iter().filter_map(HeldItem::item).collect();
    let output: Vec<&str> = output.iter().map(Item::text).collect();
    envelope.set("output", format!("[{}]", output.join(",")));
    Ok(envelope.to_text().into())
}

fn reader(turn: &Turn<'_>, response: &NewResponse) -> ResponseReader {
    let NewResponse { id, conversation, created_at, .. } = response;
    let fields = turn.request.object();
    let conversation = conversation.as_ref().map(ConversationId::as_str);
    let envelope = Envelope::new(id.as_str(), *created_at, &fields, conversation);
    let assembler = turn.assembler(envelope, UsedIds::from_transcript(&Transcript::default()));
    // A replayed answer is not stored again, so nothing uses its origin.
    let context = RequestContext::from_request(&fields, &[], Origin::new("replay"));
    ResponseReader::new(UpstreamApi::Responses, context, assembler)
}

/// The completion time in Unix seconds; 0 if the response did not complete.
fn completed_at(envelope: &Object<'_>) -> i64 {
    let at = envelope.present("completed_at").and_then(|at| at.parse().ok());
    at.unwrap_or_default()
}
