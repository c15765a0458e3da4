//! Runs a turn that only prepares the next one.

use antiphon::stream::UsedIds;
use bytes::Bytes;

use super::open::Opened;
use super::plan::Plan;
use super::relay::Outcome;
use super::{Client, Turn, envelope};
use crate::error::ApiError;

/// A stand-in for the upstream's answer, because no model is asked.
const NOTHING: &[u8] = br#"{"status":"completed","output":[],"usage":{"input_tokens":0,"input_tokens_details":{"cached_tokens":0,"cache_write_tokens":0},"output_tokens":0,"output_tokens_details":{"reasoning_tokens":0},"total_tokens":0}}"#;

impl Turn<'_> {
    /// Processes the input like any other turn and answers with an empty response that can be
    /// continued. No model is asked, and no token is used.
    pub(super) async fn warm_up(
        &self,
        opened: Opened,
        plan: Plan,
        client: &mut Client,
    ) -> Result<(), ApiError> {
        client.begin(plan.report.head(&opened.response_id));
        let envelope = envelope(&opened, &self.request.object());
        let mut assembler = self.assembler(envelope, UsedIds::from_transcript(&plan.transcript));
        assembler.apply_response(&Bytes::from_static(NOTHING)).expect("the constant is JSON");
        while let Some(event) = assembler.next_event() {
            client.event(&event).await;
        }
        self.conclude(opened, plan, Outcome::Ended(assembler), client).await
    }
}
