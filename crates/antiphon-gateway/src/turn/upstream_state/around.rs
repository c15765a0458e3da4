//! Continues a response chain around items that no request can repair.
//!
//! Items of a response cannot be deleted. The turn therefore continues the response before it, and
//! refers to the rest of the items by id: the input of the blocked response and the valid part of
//! its output.

use std::collections::HashSet;

use antiphon::json::quote;
use antiphon::provider_api::StoredResponse;
use antiphon::{HeldItem, Item, ItemId};
use antiphon_store::{Base, ThreadId};

use super::UpstreamTurn;
use super::attempt::{Basis, Planned};
use super::plan::Plan;
use super::replay::Footing;
use super::resync::found;
use crate::entropy::RandomIds;
use crate::error::ApiError;
use crate::request::Continues;
use crate::turn::open::Opened;

/// The context of a turn that does not continue the response in the request.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Around {
    /// The response before the blocked one. `None` if there is none, or if the references list its
    /// items too.
    pub(super) previous: Option<String>,
    /// References to the items after that response.
    references: Vec<Item>,
}

impl UpstreamTurn<'_> {
    /// Plans the turn around the blocking items of the previous response. The plan stays unchanged
    /// if these items are elsewhere, or if the upstream does not list the items of the response.
    /// The upstream then decides.
    pub(super) async fn around(&self, planned: Planned) -> Result<Planned, ApiError> {
        let Continues::Response(id) = &self.turn.request.continues else { return Ok(planned) };
        let stuck = planned.plan.stuck.ids();
        if stuck.is_empty() || planned.basis.footing != Footing::AsAsked || !self.turn.mends() {
            return Ok(planned);
        }
        let Some(around) = self.found_around(id, &stuck).await? else { return Ok(planned) };
        let Planned { mut opened, basis, .. } = planned;
        let basis = Basis { footing: Footing::Around(around), ..basis };
        let mut plan = self.plan(&opened, &basis).await?;
        plan.leave_behind(&stuck);
        opened.base = apart(&opened);
        Ok(Planned { opened, plan, basis })
    }

    /// Asks the upstream for the other items of the response.
    async fn found_around(
        &self,
        id: &str,
        stuck: &HashSet<ItemId>,
    ) -> Result<Option<Around>, ApiError> {
        let provider = self.provider();
        let Some(response) = found(provider.response(id).await)? else { return Ok(None) };
        let Some(input) = found(provider.input_items(id).await)? else { return Ok(None) };
        let previous = match &response.previous {
            Some(previous) => found(provider.response(previous).await)?,
            None => None,
        };
        let items: Vec<&Item> = input.iter().chain(&response.output).collect();
        let own: HashSet<&ItemId> = response.output.iter().filter_map(id_of).collect();
        if input.is_empty() || !stuck.iter().all(|id| own.contains(id)) {
            return Ok(None);
        }
        let is_listed = previous.as_ref().is_some_and(|previous| lists_output_of(&input, previous));
        let ids = items.into_iter().filter_map(id_of).filter(|id| !stuck.contains(id));
        let references = ids.map(reference_to).collect();
        let previous = response.previous.filter(|_| !is_listed);
        Ok(Some(Around { previous, references }))
    }
}

impl Around {
    /// Puts the references before the sent items.
    pub(super) fn sent_behind(&self, sent: Vec<Item>) -> Vec<Item> {
        self.references.iter().cloned().chain(sent).collect()
    }
}

impl Plan {
    /// Adds all stored items except these to the new items, because the turn starts a thread of its
    /// own.
    fn leave_behind(&mut self, stuck: &HashSet<ItemId>) {
        let held = self.transcript.items()[..self.held].iter();
        let kept: Vec<HeldItem> = held.filter(|item| !stuck.contains(&item.id)).cloned().collect();
        self.fresh.splice(0..0, kept);
        self.report.left_behind(self.stuck.blocking_items());
    }
}

/// A new thread, for a turn that does not continue the end of its response.
fn apart(opened: &Opened) -> Base {
    let shard = opened.response_id.shard();
    Base::New { shard, thread: ThreadId::issue(&mut RandomIds) }
}

fn id_of(item: &Item) -> Option<&ItemId> {
    item.head().id.as_ref()
}

fn reference_to(id: &ItemId) -> Item {
    let raw = format!(r#"{{"type":"item_reference","id":{}}}"#, quote(id.as_str()));
    Item::parse(raw.into()).expect("the text above is an item")
}

/// Whether an input list also contains the output of the previous response.
fn lists_output_of(input: &[Item], previous: &StoredResponse) -> bool {
    let listed: HashSet<&ItemId> = input.iter().filter_map(id_of).collect();
    let mut output = previous.output.iter().filter_map(id_of).peekable();
    output.peek().is_some() && output.all(|id| listed.contains(id))
}
