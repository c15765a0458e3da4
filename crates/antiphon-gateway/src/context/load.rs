//! Loads the context of a turn from the store of a gateway.

use std::ops::Range;

use antiphon::HeldItem;
use antiphon_store::{ResponseId, ResponseRecord, Seq, Tenant};

use super::{Context, Source, rebuild};
use crate::error::ApiError;
use crate::gateway::Gateway;

/// The maximum number of earlier responses of a chain that are read to find the origin of stored
/// items. Items of older responses have no response in a context.
const MAX_ANCESTORS: usize = 256;

/// The context of a stored response of this tenant. `None` if it does not exist.
pub(crate) async fn load(
    gateway: &Gateway,
    tenant: &Tenant,
    id: &ResponseId,
) -> Result<Option<Context>, ApiError> {
    let Some(record) = gateway.store.response(tenant, id).await? else { return Ok(None) };
    let items = gateway.store.transcript(tenant, record.cursor).await?;
    let open = |item: &antiphon::Item| gateway.compaction_key.unseal_item(tenant, item);
    let mut context = rebuild(&record, &items, &open);
    context.is_delta = is_stored_elsewhere(&record, &items);
    let owners = find_responses(gateway, tenant, &context, &record).await?;
    context.name_responses(&owners);
    let output = usize::try_from(record.output.start).unwrap_or(usize::MAX);
    context.encode(gateway, items.get(output..).unwrap_or_default());
    Ok(Some(context))
}

/// Whether an upstream stores the items of the turn.
fn is_stored_elsewhere(record: &ResponseRecord, items: &[HeldItem]) -> bool {
    let start = usize::try_from(record.input.start).unwrap_or(usize::MAX);
    let own = items.get(start..).unwrap_or_default();
    own.iter().any(|held| held.body == antiphon::Body::StoredElsewhere)
}

/// The positions of the items of earlier responses of the chain, the latest first.
async fn find_responses(
    gateway: &Gateway,
    tenant: &Tenant,
    context: &Context,
    record: &ResponseRecord,
) -> Result<Vec<(Range<Seq>, ResponseId)>, ApiError> {
    let mut found = Vec::new();
    let mut previous = context.previous.clone();
    let mut end = record.input.start;
    while let Some(id) = previous.as_deref().and_then(ResponseId::parse) {
        let Some(record) = gateway.store.response(tenant, &id).await? else { break };
        previous = previous_of(&record);
        // A response that shares no items with the turn is not in its transcript.
        if found.len() == MAX_ANCESTORS || record.output.end > end {
            break;
        }
        end = record.input.start;
        found.push((record.input.start..record.output.end, id));
    }
    Ok(found)
}

/// The response that the turn of a record continues.
fn previous_of(record: &ResponseRecord) -> Option<String> {
    let envelope = antiphon::json::Object::parse(&record.response.envelope).ok()?;
    envelope.string("previous_response_id").map(std::borrow::Cow::into_owned)
}

impl Context {
    /// Sets the responses of the stored items.
    fn name_responses(&mut self, owners: &[(Range<Seq>, ResponseId)]) {
        for item in &mut self.items {
            let (Some(seq), Source::Stored { response }) = (item.seq, &mut item.source) else {
                continue;
            };
            let owner = owners.iter().find(|(range, _)| range.contains(&seq));
            *response = owner.map(|(_, id)| id.clone());
        }
    }
}
