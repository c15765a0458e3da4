//! Writers that share conversations and repeat each request, with its idempotency key, until it is
//! answered.
//!
//! Several writers append to one conversation, so a repeated request is rarely its last turn. In
//! every case the conversation contains the input of each request at most once, and exactly once if
//! the request is answered.

use std::collections::BTreeMap;
use std::mem;
use std::sync::Arc;

use serde_json::Value;
use tokio::task::JoinSet;

use crate::check::Violations;
use crate::fleet::Fleet;
use crate::gateway_client::{GatewayClient, NoAnswer};
use crate::kill_trigger::{KillTrigger, Moment};
use crate::ledger::{ItemRecord, Outcome, Target};
use crate::lookup;
use crate::mark::FIRST_WRITER_TURN;
use crate::model::Plan;
use crate::request::{body, messages};
use crate::send::send_turn;

/// The number of writers, and the range of request numbers for each.
const WRITERS: u32 = 6;
const NUMBERS: u32 = 50_000;
/// The number of shared conversations.
const CONVERSATIONS: usize = 2;
/// The number of items at which a new conversation replaces an old one.
const LONG: usize = 80;
/// The maximum number of repetitions after the last kill.
const ATTEMPTS: usize = 20;
/// The maximum number of events before a writer that disconnects does so.
const LONGEST_WAIT: usize = 14;
const PLANS: [Plan; 4] = [Plan::Short, Plan::Long, Plan::Two, Plan::Call];

/// All writers of a run and their conversations.
#[derive(Default)]
pub(crate) struct Writers {
    writers: Vec<Writer>,
    conversations: Vec<String>,
    /// The number of repeated requests so far.
    pub(crate) repeated: usize,
}

/// One writer.
struct Writer {
    rng: fastrand::Rng,
    next: u32,
    /// The request without an answer.
    open: Option<Request>,
    /// Answered requests of the conversations in use, with the received output.
    answered: Vec<(Request, Vec<ItemRecord>)>,
    repeated: usize,
}

/// A request with its own idempotency key.
#[derive(Clone)]
struct Request {
    number: u32,
    conversation: String,
    body: Value,
    attempts: u32,
}

impl Writers {
    /// Writers that make random choices from `rng`.
    pub(crate) fn new(rng: &mut fastrand::Rng) -> Self {
        let writer = |index: u32| Writer {
            rng: rng.fork(),
            next: FIRST_WRITER_TURN + index * NUMBERS,
            open: None,
            answered: Vec::new(),
            repeated: 0,
        };
        Self { writers: (0..WRITERS).map(writer).collect(), ..Self::default() }
    }

    /// Creates missing conversations.
    pub(crate) async fn open_conversations(
        &mut self,
        gateway: GatewayClient,
    ) -> anyhow::Result<()> {
        while self.conversations.len() < CONVERSATIONS {
            self.conversations.push(lookup::create_conversation(gateway).await?);
        }
        Ok(())
    }

    /// Starts all writers. They end when the gateway is killed.
    pub(crate) fn start(&mut self, fleet: &Fleet, trigger: &Arc<KillTrigger>) -> Running {
        let mut running = JoinSet::new();
        for (index, writer) in mem::take(&mut self.writers).into_iter().enumerate() {
            let (gateway, trigger) = (fleet.gateway(index % fleet.len()), Arc::clone(trigger));
            running.spawn(writer.run(gateway, self.conversations.clone(), trigger));
        }
        Running(running)
    }

    /// Waits for the started writers and takes them back.
    pub(crate) async fn wait(&mut self, Running(mut running): Running) -> anyhow::Result<()> {
        while let Some(writer) = running.join_next().await {
            self.writers.push(writer?);
        }
        self.repeated = self.writers.iter().map(|writer| writer.repeated).sum();
        Ok(())
    }

    /// Checks the conversations. Completes and replaces long ones.
    pub(crate) async fn check(&mut self, gateway: GatewayClient) -> anyhow::Result<Violations> {
        let mut violations = Violations::new();
        for conversation in self.conversations.clone() {
            let rows = lookup::items(gateway, &conversation).await?;
            violations.extend(self.faults(&conversation, &rows));
            if rows.len() > LONG && violations.is_empty() {
                self.finish(gateway, &conversation).await?;
                violations.extend(self.check_finished(gateway, &conversation).await?);
                self.conversations.retain(|open| *open != conversation);
                for writer in &mut self.writers {
                    writer.answered.retain(|(request, _)| request.conversation != conversation);
                }
            }
        }
        Ok(violations)
    }

    /// Completes every request and checks all conversations for the last time.
    pub(crate) async fn check_all(&mut self, gateway: GatewayClient) -> anyhow::Result<Violations> {
        let mut violations = Violations::new();
        for conversation in mem::take(&mut self.conversations) {
            self.finish(gateway, &conversation).await?;
            violations.extend(self.check_finished(gateway, &conversation).await?);
        }
        Ok(violations)
    }

    /// Repeats the open requests of a conversation until each is answered.
    async fn finish(&mut self, gateway: GatewayClient, conversation: &str) -> anyhow::Result<()> {
        let unused = KillTrigger::new(&mut fastrand::Rng::with_seed(0));
        for writer in &mut self.writers {
            let is_here =
                writer.open.as_ref().is_some_and(|open| open.conversation == conversation);
            for _ in (0..ATTEMPTS).filter(|_| is_here) {
                if writer.open.is_some() {
                    let _ = writer.attempt(gateway, None, &unused).await;
                }
            }
            anyhow::ensure!(
                !is_here || writer.open.is_none(),
                "a repeated request was never answered"
            );
        }
        Ok(())
    }

    async fn check_finished(
        &self,
        gateway: GatewayClient,
        conversation: &str,
    ) -> anyhow::Result<Violations> {
        Ok(self.faults(conversation, &lookup::items(gateway, conversation).await?))
    }

    fn faults(&self, conversation: &str, rows: &[ItemRecord]) -> Violations {
        let answered = self.writers.iter().flat_map(|writer| &writer.answered);
        let answered = answered.filter(|(request, _)| request.conversation == conversation);
        let answered: Vec<(u32, &[ItemRecord])> =
            answered.map(|(request, received)| (request.number, &received[..])).collect();
        let faults = faults(rows, &answered).into_iter();
        faults.map(|fault| format!("shared conversation {conversation}: {fault}")).collect()
    }
}

/// The running writers.
pub(crate) struct Running(JoinSet<Writer>);

impl Writer {
    /// Sends requests until the gateway is gone.
    async fn run(
        mut self,
        gateway: GatewayClient,
        conversations: Vec<String>,
        trigger: Arc<KillTrigger>,
    ) -> Self {
        while !trigger.has_fired() {
            if self.open.is_none() {
                self.begin(&conversations);
            }
            let leaves = self.rng.u8(..100) < 40;
            let leave_after = leaves.then(|| self.rng.usize(1..LONGEST_WAIT));
            if self.attempt(gateway, leave_after, &trigger).await.is_err() {
                break;
            }
        }
        self
    }

    /// Creates a new request.
    fn begin(&mut self, conversations: &[String]) {
        let number = self.next;
        self.next += 1;
        let conversation = conversations[self.rng.usize(..conversations.len())].clone();
        let plan = PLANS[self.rng.usize(..PLANS.len())];
        let target = Target::Conversation(conversation.clone());
        let body = body(&target, &messages(number, 1, plan), true);
        self.open = Some(Request { number, conversation, body, attempts: 0 });
    }

    /// Sends the open request. It stays open unless it is answered.
    async fn attempt(
        &mut self,
        gateway: GatewayClient,
        leave_after: Option<usize>,
        trigger: &KillTrigger,
    ) -> Result<(), NoAnswer> {
        let Some(request) = &mut self.open else { return Ok(()) };
        let headers = [
            ("idempotency-key", format!("key-{}", request.number)),
            ("x-stainless-retry-count", request.attempts.to_string()),
        ];
        self.repeated += usize::from(request.attempts > 0);
        request.attempts += 1;
        trigger.observe(Moment::RequestSent);
        let received = send_turn(gateway, &request.body, &headers, leave_after, trigger).await;
        if let Outcome::Done(rows) = received.outcome? {
            self.answered.extend(self.open.take().map(|request| (request, rows)));
        }
        Ok(())
    }
}

/// The faults of a conversation. `answered` has its answered requests with the output that their
/// writers received.
fn faults(rows: &[ItemRecord], answered: &[(u32, &[ItemRecord])]) -> Vec<String> {
    let mut inputs: BTreeMap<u32, usize> = BTreeMap::new();
    for mark in rows.iter().filter_map(|row| row.mark).filter(|mark| mark.part == 0) {
        *inputs.entry(mark.turn).or_default() += 1;
    }
    let duplicates = inputs.iter().filter(|(_, count)| **count > 1);
    let mut faults: Vec<String> = duplicates
        .map(|(turn, count)| format!("the input of {turn} occurs {count} times"))
        .collect();
    for (number, received) in answered {
        if !inputs.contains_key(number) {
            faults.push(format!("the input of {number} is missing, but the request is answered"));
        }
        for row in *received {
            let count = rows.iter().filter(|held| held.id == row.id).count();
            if count != 1 {
                faults.push(format!("an answer of {number} occurs {count} times: {row:?}"));
            }
            if row.mark.is_some_and(|mark| mark.turn != *number) {
                faults.push(format!("the answer of {number} belongs to another request: {row:?}"));
            }
        }
    }
    faults
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mark::Mark;

    fn row(turn: u32, part: usize) -> ItemRecord {
        ItemRecord {
            id: format!("msg_{turn}_{part}"),
            mark: Some(Mark::new(turn, part)),
            kind: "message".into(),
            status: None,
            call_id: None,
        }
    }

    #[test]
    fn single_input_and_answer_have_no_fault() {
        let rows = [row(1, 0), row(2, 0), row(2, 1), row(1, 1)];
        assert_eq!(faults(&rows, &[(1, &rows[3..]), (2, &rows[2..3])]), [""; 0]);
    }

    #[test]
    fn duplicate_missing_and_foreign_items_are_found() {
        let received = [row(1, 1)];
        let duplicates = faults(&[row(1, 0), row(1, 0), row(1, 1)], &[(1, &received)]);
        assert_eq!(duplicates, ["the input of 1 occurs 2 times"]);
        assert!(faults(&[row(1, 1)], &[(1, &received)])[0].contains("is missing"));
        assert!(faults(&[row(1, 0)], &[(1, &received)])[0].contains("occurs 0 times"));
        let other = [row(2, 1)];
        let foreign = faults(&[row(1, 0), row(2, 0), row(2, 1)], &[(1, &other)]);
        assert!(foreign[0].contains("belongs to another request"));
    }
}
