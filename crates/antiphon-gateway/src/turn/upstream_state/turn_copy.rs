//! Copies of turns that the upstream may have lost.
//!
//! The client of a stream learns the response's id before the end. If the turn is then aborted, the
//! client can continue a response of which some providers store nothing. So the record of the
//! turn has an encrypted copy of its items until it expires, or until the upstream lists the
//! response. A turn that ends well leaves no copy.

use std::collections::HashMap;

use antiphon::stateful::{ContinueFrom, EarlierPoint, Plan};
use antiphon::{Body, HeldItem, Transcript};
use antiphon_store::TurnCopy;
use bytes::Bytes;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::UpstreamTurn;
use crate::entropy::unix_now;
use crate::request::Continues;
use crate::settings::Ledger;

/// The lifetime of a copy, in seconds.
const LIFETIME: i64 = 24 * 60 * 60;

/// The maximum size of a copy. A longer turn is not copied.
const MAX_BYTES: usize = 1 << 20;

/// The items of a turn that the upstream may have lost.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(super) struct CopiedTurn {
    /// The response that the turn continues at the upstream.
    previous: Option<String>,
    /// The items after it, with their ids in the ledger. A tombstone has no bytes.
    items: Vec<(String, Option<Box<RawValue>>)>,
}

impl CopiedTurn {
    /// Copies a turn. `None` if only the upstream has the bytes of an item.
    pub(super) fn new<'a>(
        previous: Option<&str>,
        items: impl IntoIterator<Item = &'a HeldItem>,
    ) -> Option<Self> {
        let copied = Self { previous: previous.map(str::to_owned), items: Vec::new() };
        copied.with(items)
    }

    /// The copy with more items at the end.
    pub(super) fn with<'a>(
        mut self,
        items: impl IntoIterator<Item = &'a HeldItem>,
    ) -> Option<Self> {
        for item in items {
            let raw = match &item.body {
                Body::Stored(raw) => {
                    let raw = std::str::from_utf8(raw).ok()?;
                    Some(RawValue::from_string(raw.to_owned()).ok()?)
                }
                Body::Erased => None,
                Body::StoredElsewhere => return None,
            };
            self.items.push((item.id.as_str().to_owned(), raw));
        }
        Some(self)
    }

    /// The point before the turn, in a transcript that ends with it.
    pub(super) fn start_in(&self, transcript: &Transcript) -> Option<EarlierPoint> {
        let kept = transcript.items().len().checked_sub(self.items.len())?;
        let mut tail = transcript.items()[kept..].iter().zip(&self.items);
        let ends_with_it = tail.all(|(held, (id, _))| held.id.as_str() == id);
        ends_with_it.then(|| EarlierPoint { previous: self.previous.clone(), kept })
    }

    /// Adds the bytes of the copied items to a transcript.
    pub(super) fn fill(&self, transcript: &Transcript) -> Transcript {
        let copied = self.items.iter().filter_map(|(id, raw)| Some((id.as_str(), raw.as_ref()?)));
        let copied: HashMap<&str, &Box<RawValue>> = copied.collect();
        let filled = transcript.items().iter().cloned().map(|item| {
            match (&item.body, copied.get(item.id.as_str())) {
                (Body::StoredElsewhere, Some(raw)) => {
                    let raw = Bytes::copy_from_slice(raw.get().as_bytes());
                    HeldItem { body: Body::Stored(raw), ..item }
                }
                _ => item,
            }
        });
        filled.collect()
    }
}

impl UpstreamTurn<'_> {
    /// Whether the upstream may lose the turn and its client continue it: the client learns the id
    /// of a response before its end. A conversation continues without such an id, and a ledger with
    /// bodies needs no copy.
    fn needs_copy(&self) -> bool {
        let request = self.turn.request;
        self.turn.has_pending_record()
            && self.turn.gateway.settings.ledger == Ledger::Heads
            && self.turn.repairs()
            && !matches!(request.continues, Continues::Conversation(_))
    }

    /// The copy of a planned turn, if it needs one.
    pub(super) fn copy(&self, plan: &Plan) -> Option<CopiedTurn> {
        let known = plan.known();
        let (previous, replayed) = match (&plan.continue_from, &self.turn.request.continues) {
            _ if !self.needs_copy() => return None,
            (ContinueFrom::Earlier(point), _) => (point.previous.as_deref(), &known[point.kept..]),
            // The new request refers to items of the responses that it avoids.
            (ContinueFrom::Detour(_), _) => return None,
            (ContinueFrom::AsRequested, Continues::Response(id)) => (Some(id.as_str()), &[][..]),
            (ContinueFrom::AsRequested, _) => (None, &[][..]),
        };
        CopiedTurn::new(previous, replayed.iter().chain(&plan.fresh))
    }

    /// Encrypts a copy for the record of the turn. `None` if it is too long.
    pub(super) fn seal_copy(&self, copy: &CopiedTurn) -> Option<TurnCopy> {
        let json = serde_json::to_vec(copy).ok().filter(|json| json.len() <= MAX_BYTES)?;
        let sealed = self.turn.gateway.copy_key.seal(&self.turn.caller.tenant, json).into();
        Some(TurnCopy { sealed, expires_at: unix_now().saturating_add(LIFETIME) })
    }

    /// Decrypts a copy that has not expired.
    pub(super) fn open_copy(&self, copy: &TurnCopy) -> Option<CopiedTurn> {
        if copy.expires_at <= unix_now() {
            return None;
        }
        let (key, tenant) = (&self.turn.gateway.copy_key, &self.turn.caller.tenant);
        serde_json::from_slice(&key.open(tenant, &copy.sealed).ok()?).ok()
    }
}
