//! A request that its client makes again, where the upstream keeps the state.
//!
//! It never doubles a turn. Where the upstream completed the first attempt, it gives that answer again,
//! and no model is asked. Where it kept a part of it, the turn goes on behind that part: nothing can be
//! taken back there as it is in a conversation that is kept here. Where it kept nothing, the turn is made
//! as if for the first time.

use std::ops::Range;

use antiphon::dialect::{Asked, Dialect};
use antiphon::item::FingerprintKey;
use antiphon::kept::{KeptResponse, run_of, tail_of};
use antiphon::stream::{Assembler, Status, Taken};
use antiphon::{Fingerprint, HeldItem, Item, ItemId, Transcript};
use antiphon_store::ResponseRecord;

use super::Theirs;
use super::learn::found;
use crate::entropy::{RandomIds, unix_now};
use crate::error::ApiError;
use crate::request::Continues;
use crate::turn::open::Opened;
use crate::turn::relay::Hearing;
use crate::turn::retry::{still_answered, unreadable};
use crate::turn::{Client, report};
use crate::upstream::Upstream;

/// What came of a request when it was made before.
pub(super) enum Made {
    /// Nothing that the upstream has.
    Never,
    /// A whole answer.
    Whole(Box<KeptResponse>),
    /// A response in the upstream's background, however far it is.
    Queued(Box<KeptResponse>),
    /// Its input is held, and perhaps some output: positions in the input, and where each is held.
    Begun(Vec<(usize, usize)>),
}

/// An earlier attempt, and what the upstream says of its response.
type Attempt = (ResponseRecord, Option<KeptResponse>);

impl Theirs<'_> {
    /// What came of the request when it was made before. The ledger of its conversation is not in
    /// doubt any more.
    pub(super) async fn made_before(&self, opened: &Opened) -> Result<Made, ApiError> {
        let mut attempts = self.attempts(opened).await?;
        if attempts.is_empty() {
            return Ok(Made::Never);
        }
        if self.turn.request.is_queued() {
            let is_one = attempts.len() == 1 || self.turn.is_keyed();
            let kept = attempts.swap_remove(0).1.filter(|_| is_one);
            return Ok(kept.map_or(Made::Never, |kept| Made::Queued(Box::new(kept))));
        }
        let held = self.turn.load(opened.cursor).await?;
        self.keep_own(&mut attempts);
        let (whole, cut): (Vec<_>, Vec<_>) =
            attempts.into_iter().partition(|attempt| self.is_answered(attempt, &held));
        if let Some(answer) = self.the_one(whole) {
            return Ok(Made::Whole(Box::new(answer)));
        }
        for (record, _) in &cut {
            let brought = self.brought_by(record, &held).await?;
            if !brought.is_empty() {
                return Ok(Made::Begun(brought));
            }
        }
        Ok(Made::Never)
    }

    /// The attempts that are known, the newest first, and what the upstream has of each.
    async fn attempts(&self, opened: &Opened) -> Result<Vec<Attempt>, ApiError> {
        let mut attempts = Vec::new();
        for record in self.turn.known_attempts(opened).await?.known {
            let named =
                self.ledgers().name_of(&self.turn.caller.tenant, &record.response.id).await?;
            let kept = match named {
                Some(named) => found(self.provider().response(&named.id).await)?,
                None => None,
            };
            if kept.as_ref().is_some_and(KeptResponse::is_underway)
                && !self.turn.request.is_queued()
            {
                return Err(still_answered());
            }
            attempts.push((record, kept));
        }
        Ok(attempts)
    }

    /// Whether the attempt came to a whole answer, and the upstream has it where the turn goes on. A
    /// response that it gives is no proof of what its conversation holds. Of a conversation, the answer
    /// is what was said last, unless a key says which one it is.
    fn is_answered(&self, (record, kept): &Attempt, held: &Transcript) -> bool {
        let Some(kept) = kept else { return false };
        let ended = crate::turn::retry::is_whole(record) && kept.status != Status::Failed.as_str();
        if !ended && kept.status != Status::Completed.as_str() {
            return false;
        }
        let Continues::Conversation(_) = &self.turn.request.continues else { return true };
        let ids: Vec<&ItemId> =
            kept.output.iter().filter_map(|item| item.head().id.as_ref()).collect();
        match self.turn.is_keyed() {
            true => !ids.is_empty() && ids.iter().all(|id| held.position(id).is_some()),
            false => ids.last().is_some_and(|id| last(held).is_some_and(|item| item.id == **id)),
        }
    }

    /// Leaves those attempts that are this request's. Without a key, an equal request in the conversation
    /// that was answered before the latest was a turn of its own, and so was what came before it.
    fn keep_own(&self, attempts: &mut Vec<Attempt>) {
        let Continues::Conversation(_) = &self.turn.request.continues else { return };
        let mut earlier = attempts.iter().skip(1);
        let answered = earlier.position(|(record, _)| crate::turn::retry::is_whole(record));
        if let Some(others) = answered.filter(|_| !self.turn.is_keyed()) {
            attempts.truncate(others + 1);
        }
    }

    /// The attempt that is made again, of all that came to a whole answer: under a key the newest, in a
    /// conversation the last turn; elsewhere the only one, since several are turns of their own.
    fn the_one(&self, mut whole: Vec<Attempt>) -> Option<KeptResponse> {
        let is_named = self.turn.is_keyed()
            || matches!(self.turn.request.continues, Continues::Conversation(_));
        let is_one = whole.len() == 1 || is_named && !whole.is_empty();
        is_one.then(|| whole.swap_remove(0).1).flatten()
    }

    /// What of the input the upstream's conversation holds by an attempt that was cut short: its last
    /// words that are not a model's; with a key, also words that other turns followed. Elsewhere an attempt leaves nothing in what a turn goes on from.
    async fn brought_by(
        &self,
        record: &ResponseRecord,
        held: &Transcript,
    ) -> Result<Vec<(usize, usize)>, ApiError> {
        let Continues::Conversation(_) = &self.turn.request.continues else {
            return Ok(Vec::new());
        };
        let then = self.turn.load(Some(record.cursor)).await?;
        let Some(input) = place(&record.input) else { return Ok(Vec::new()) };
        let before = then.items().get(..input.start).unwrap_or_default();
        let brought = then.items().get(input).unwrap_or_default();
        let among_others = || run_of(held, before, brought).filter(|_| self.turn.is_keyed());
        Ok(match tail_of(held, before, brought).or_else(among_others) {
            Some(tail) => self.of_input(&tail, held),
            None => Vec::new(),
        })
    }

    /// Pairs messages of the input with held ones, in order. What has an id or a call is known by that.
    fn of_input(&self, tail: &[usize], held: &Transcript) -> Vec<(usize, usize)> {
        let key: FingerprintKey = self.turn.gateway.fingerprint_key;
        let mut input = self.turn.request.input.iter().enumerate();
        let mut next = |at: &usize| {
            let says = held.items()[*at].fingerprint?;
            let is_it = |(_, item): &(usize, &Item)| Fingerprint::of(key, item) == Some(says);
            input.clone().find(is_it).inspect(|(position, _)| {
                input = self.turn.request.input.iter().enumerate();
                input.nth(*position);
            })
        };
        tail.iter().filter_map(|at| Some((next(at)?.0, *at))).collect()
    }

    /// Gives again what was answered before, if that is so; else what of the input is held.
    pub(super) async fn told_again(
        &self,
        made: Made,
        client: &mut Client,
    ) -> Result<Option<Vec<(usize, usize)>>, ApiError> {
        match made {
            Made::Never => Ok(Some(Vec::new())),
            Made::Begun(brought) => Ok(Some(brought)),
            Made::Whole(answer) => self.answer_again(&answer, client).await.map(|()| None),
            Made::Queued(response) => {
                self.tell_again(&response, client);
                Ok(None)
            }
        }
    }

    /// Gives a whole answer again, as the upstream gives it.
    pub(super) async fn answer_again(
        &self,
        answer: &KeptResponse,
        client: &mut Client,
    ) -> Result<(), ApiError> {
        client.begin(report::head_again_unnamed());
        let mut hearing = self.hearing_again();
        hearing.whole(&answer.body);
        hearing.pass_on(client).await;
        tracing::info!("turn answered again");
        client.end(hearing.finish(unix_now()).ok_or_else(unreadable)?).await;
        Ok(())
    }

    /// Tells a response in the background as the upstream has it now.
    fn tell_again(&self, queued: &KeptResponse, client: &mut Client) {
        client.begin(report::head_again_unnamed());
        client.told(self.translated(String::from_utf8_lossy(&queued.body).into_owned()));
    }

    fn hearing_again(&self) -> Hearing {
        let fields = self.turn.request.object();
        let envelope = self.envelope("", unix_now(), &fields);
        let taken = Taken::items_of(&Transcript::default());
        let assembler = Assembler::new(envelope, taken, Box::new(RandomIds), true)
            .in_form(self.turn.gateway.settings.event_names)
            .obfuscating(self.turn.request.obfuscation());
        let origin = Upstream::Http(self.http).origin(&self.turn.request.model);
        Hearing::new(Dialect::Responses, Asked::of(&fields, origin), assembler)
    }
}

/// Sequence numbers as places in a transcript.
fn place(range: &Range<u64>) -> Option<Range<usize>> {
    Some(usize::try_from(range.start).ok()?..usize::try_from(range.end).ok()?)
}

fn last(held: &Transcript) -> Option<&HeldItem> {
    held.items().iter().rev().find(|item| !item.is_tombstone())
}
