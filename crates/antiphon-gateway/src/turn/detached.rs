//! Stores the input of a background turn without output, outside its conversation.

use antiphon::stream::{Assembler, Envelope, Event, Status, UsedIds};
use antiphon::{HeldItem, Transcript};
use antiphon_store::{
    Base, ConversationId, Cursor, LoggedEvent, NewResponse, ResponseId, ThreadId,
    Turn as TurnRecord,
};
use bytes::Bytes;

use super::job::Ending;
use super::log::numbered;
use super::report::Report;
use super::{Announced, Turn};
use crate::entropy::{RandomIds, unix_now};
use crate::error::ApiError;
use crate::request::Continues;

/// A turn without output.
pub(super) struct Apart {
    pub(super) turn: TurnRecord,
    pub(super) status: Status,
    /// The events before the last that the log does not have yet.
    pub(super) events: Vec<LoggedEvent>,
    pub(super) last: Event,
}

impl Turn<'_> {
    /// Ends the turn after `told` events. Opens nothing and waits for no other turn. Items that
    /// cannot be looked up are omitted.
    pub(super) async fn apart(&self, ending: Ending, told: u64) -> Apart {
        let Announced { id, created_at } =
            self.announced.clone().expect("a turn in the background is announced first");
        let cursor = self.began_at().await;
        let (fresh, report) = self.fresh_behind(cursor).await.unwrap_or_else(|_| {
            let report = Report::new(self.request.input.len());
            (Vec::new(), report.of_request(&self.caller.request_id))
        });
        let fresh = if ending.is_of_quota() { Vec::new() } else { fresh };
        let mut assembler = self.assembler_apart(told);
        match ending {
            Ending::Cancelled => assembler.cancel(),
            Ending::Failed(failure) => assembler.fail(failure),
        }
        let events = std::iter::from_fn(|| assembler.next_event()).map(|event| event.data);
        let events = numbered(told, events);
        let finished = assembler.finish(unix_now());
        let response = NewResponse {
            id,
            conversation: self.conversation_named(),
            created_at,
            envelope: Bytes::from(finished.envelope),
            report: report.to_json().into(),
        };
        let turn = TurnRecord {
            base: base_behind(cursor, &response.id),
            input: fresh,
            output: Vec::new(),
            response: Some(response),
            request: Some(self.request.identity.digest),
            place: None,
            notices: Vec::new(),
            ledger: None,
        };
        Apart { turn, status: finished.status, events, last: finished.event }
    }

    /// The cursor that the turn continued, if it still exists.
    async fn began_at(&self) -> Option<Cursor> {
        let (store, tenant) = (&self.gateway.store, &self.caller.tenant);
        match &self.request.continues {
            Continues::Nothing => None,
            Continues::Response(text) => {
                let found = store.response(tenant, &ResponseId::parse(text)?).await;
                Some(found.ok()??.cursor)
            }
            Continues::Conversation(text) => {
                let found = store.conversation(tenant, &ConversationId::parse(text)?).await;
                Some(found.ok()??.1)
            }
        }
    }

    /// The new items of the input.
    async fn fresh_behind(
        &self,
        cursor: Option<Cursor>,
    ) -> Result<(Vec<HeldItem>, Report), ApiError> {
        let upstream = self.gateway.upstream_of(&self.request.model)?;
        let held = self.load(cursor).await?;
        let input = self.resolve(&held, self.request.input.clone()).await?;
        let plan = self.plan(held, input, upstream)?;
        Ok((plan.fresh, plan.report))
    }

    fn assembler_apart(&self, told: u64) -> Assembler {
        let taken = UsedIds::from_transcript(&Transcript::default());
        self.assembler(self.envelope_announced(), taken).starting_after(told)
    }

    /// The envelope of a turn whose identity is known before it opens.
    pub(super) fn envelope_announced(&self) -> Envelope {
        let Announced { id, created_at } =
            self.announced.clone().expect("a turn in the background is announced first");
        let conversation = self.conversation_named();
        let conversation = conversation.as_ref().map(ConversationId::as_str);
        Envelope::new(id.as_str(), created_at, &self.request.object(), conversation)
    }

    fn conversation_named(&self) -> Option<ConversationId> {
        match &self.request.continues {
            Continues::Conversation(text) => ConversationId::parse(text),
            Continues::Nothing | Continues::Response(_) => None,
        }
    }
}

fn base_behind(cursor: Option<Cursor>, id: &ResponseId) -> Base {
    let thread = ThreadId::issue(&mut RandomIds);
    match cursor {
        Some(cursor) => Base::After { cursor, fork: thread, end_of: None },
        None => Base::New { shard: id.shard(), thread },
    }
}
