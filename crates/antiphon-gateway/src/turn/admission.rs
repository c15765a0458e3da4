//! Admits incoming items to the transcript of a conversation that the gateway owns.

use std::collections::HashMap;

use antiphon::faults::OmissionReason;
use antiphon::item::{FingerprintKey, IdSource};
use antiphon::placeholder::late_output_message;
use antiphon::reconcile::{
    Admission, AdmissionMode, AdmissionRules, Reconciliation, StoredInput, Verdict,
};
use antiphon::{Fingerprint, HeldItem, Item, ItemId, Kind, Transcript};

use super::context::Turn;
use super::prior_attempt::PriorInput;
use super::resolve::Incoming;
use crate::entropy::RandomIds;
use crate::error::ApiError;
use crate::request::is_bare_reasoning;

/// Adds the new items of the input to the transcript.
///
/// If an earlier attempt left its input in the transcript (`prior`), that input is judged by the
/// items before it, as it was then, and none of it is stored again.
pub(super) fn admit(
    turn: &Turn<'_>,
    transcript: Transcript,
    incoming: &[Incoming],
    items: &[Item],
    prior: Option<&PriorInput>,
) -> Result<Admission, ApiError> {
    let (key, style) = (turn.gateway.fingerprint_key, turn.request.replay_style);
    let before_prior = prior.map(|prior| items_before(&transcript, prior.positions.start));
    let compared = before_prior.as_ref().unwrap_or(&transcript);
    let reconciliation = Reconciliation::new(compared, items, key, style);
    let verdicts = &reconciliation.verdicts;
    let stored = prior.map(|prior| find_stored(&transcript, items, verdicts, prior, key));
    let stored = stored.unwrap_or_default();
    let is_stored = |position: &usize| stored.contains_key(position);
    let omitted = incoming.iter().enumerate().filter(|(position, _)| !is_stored(position));
    let omitted = omitted.filter_map(|(position, it)| Some((position, it.omission(key)?)));
    let origins = incoming.iter().enumerate();
    let rules = AdmissionRules {
        omitted: omitted.collect(),
        origins: origins.filter_map(|(at, it)| Some((at, it.origin.clone()?))).collect(),
        stored: StoredInput::Items(stored),
        ..AdmissionRules::new(key, AdmissionMode::Store, !turn.repairs())
    };
    let issue_id = &mut issue_item_id;
    Ok(Admission::from_verdicts(transcript, items, reconciliation, &rules, issue_id)?)
}

/// A new random id for an item of this kind.
pub(super) fn issue_item_id(kind: &Kind) -> ItemId {
    ItemId::from(RandomIds.issue(kind.id_prefix()))
}

impl Incoming {
    /// The reason to leave out the item if it is new.
    fn omission(&self, key: FingerprintKey) -> Option<OmissionReason> {
        if self.was_deleted_elsewhere(key) {
            return Some(OmissionReason::Deleted);
        }
        is_bare_reasoning(&self.item).then_some(OmissionReason::BareReasoning)
    }

    /// Whether the item was deleted under its id in another transcript. Replaying a deleted item
    /// must not bring it back to a model. For a message, the content has to match too, because some
    /// servers reuse the same ids in every response.
    fn was_deleted_elsewhere(&self, key: FingerprintKey) -> bool {
        let head = self.item.head();
        self.tombstone.as_ref().is_some_and(|deleted| {
            (&deleted.head.kind, &deleted.head.call_id) == (&head.kind, &head.call_id)
                && deleted.fingerprint == Fingerprint::from_item(key, &self.item)
        })
    }
}

fn items_before(transcript: &Transcript, end: usize) -> Transcript {
    transcript.items()[..end].iter().cloned().collect()
}

/// Finds the items that the earlier attempt stored: the position in the input, and the position in
/// the transcript. `verdicts` compare the input with the items before the attempt.
fn find_stored(
    transcript: &Transcript,
    items: &[Item],
    verdicts: &[Verdict],
    prior: &PriorInput,
    key: FingerprintKey,
) -> HashMap<usize, usize> {
    let mut rest = prior.positions.clone();
    let mut found = HashMap::new();
    for (position, item) in items.iter().enumerate().filter(|(at, _)| verdicts[*at].is_fresh()) {
        let mut next = rest.clone();
        if let Some(at) = next.find(|at| is_stored_as(&transcript.items()[*at], item, key)) {
            found.insert(position, at);
            rest = next;
        }
    }
    found
}

/// Whether an earlier attempt at the request stored this item: unchanged or, if it was a late
/// output, as the message with its text. A compaction trigger has had its effect and counts as new.
fn is_stored_as(stored: &HeldItem, item: &Item, key: FingerprintKey) -> bool {
    let says = |item: &Item| {
        let (mine, head) = (item.head(), &stored.head);
        (&mine.kind, &mine.role, &mine.call_id) == (&head.kind, &head.role, &head.call_id)
            && Fingerprint::from_item(key, item) == stored.fingerprint
    };
    item.head().kind != Kind::CompactionTrigger
        && (says(item) || late_output_message(item).is_some_and(|message| says(&message)))
}
