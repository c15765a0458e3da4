//! Writers that share conversations and repeat each request, under its key, until it is answered.
//!
//! Several writers append to one conversation, so that a request that was cut off is rarely the last
//! turn when it is repeated. Whatever happened in between, the conversation holds the input of each
//! request at most once, and exactly once when the request is answered.

use std::collections::BTreeMap;
use std::mem;
use std::sync::Arc;

use serde_json::Value;
use tokio::task::JoinSet;

use crate::ask::ask;
use crate::check::Violations;
use crate::fleet::Fleet;
use crate::fuse::{Fuse, Moment};
use crate::ledger::{Place, Row, Told};
use crate::look;
use crate::model::Plan;
use crate::request::{body, messages};
use crate::wire::{Lost, Wire};

/// The number of the writers' first request. Those of other clients are smaller.
pub(crate) const FIRST: u32 = 500_000;
/// How many writers there are, and how many requests each may number.
const WRITERS: u32 = 6;
const NUMBERS: u32 = 50_000;
/// How many conversations they share.
const CONVERSATIONS: usize = 2;
/// At how many items a conversation is left for a new one.
const LONG: usize = 80;
/// How often a request is repeated once nothing is killed any more.
const ATTEMPTS: usize = 20;
/// After how many events a writer that leaves does so, at the most.
const PATIENCE: usize = 14;
const PLANS: [Plan; 4] = [Plan::Short, Plan::Long, Plan::Two, Plan::Call];

/// All writers of a run, and the conversations that they share.
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
    /// The request that has no answer yet.
    open: Option<Request>,
    /// Requests of the conversations in use that are answered.
    answered: Vec<(Request, Vec<Row>)>,
    repeated: usize,
}

/// A request under a key of its own.
#[derive(Clone)]
struct Request {
    number: u32,
    conversation: String,
    body: Value,
    attempts: u32,
}

impl Writers {
    /// Writers whose choices follow from `rng`.
    pub(crate) fn new(rng: &mut fastrand::Rng) -> Self {
        let writer = |index: u32| Writer {
            rng: rng.fork(),
            next: FIRST + index * NUMBERS,
            open: None,
            answered: Vec::new(),
            repeated: 0,
        };
        Self { writers: (0..WRITERS).map(writer).collect(), ..Self::default() }
    }

    /// Sees to it that there are conversations to write to.
    pub(crate) async fn open_conversations(&mut self, wire: Wire) -> anyhow::Result<()> {
        while self.conversations.len() < CONVERSATIONS {
            self.conversations.push(look::create_conversation(wire).await?);
        }
        Ok(())
    }

    /// Starts all writers; they end when the gateway is killed.
    pub(crate) fn start(&mut self, fleet: &Fleet, fuse: &Arc<Fuse>) -> Running {
        let mut running = JoinSet::new();
        for (index, writer) in mem::take(&mut self.writers).into_iter().enumerate() {
            let (wire, fuse) = (fleet.wire(index % fleet.len()), Arc::clone(fuse));
            running.spawn(writer.run(wire, self.conversations.clone(), fuse));
        }
        Running(running)
    }

    /// Takes the writers back that were started.
    pub(crate) async fn ended(&mut self, Running(mut running): Running) -> anyhow::Result<()> {
        while let Some(writer) = running.join_next().await {
            self.writers.push(writer?);
        }
        self.repeated = self.writers.iter().map(|writer| writer.repeated).sum();
        Ok(())
    }

    /// Checks the conversations, and leaves those that are long once all their requests are answered.
    pub(crate) async fn check(&mut self, wire: Wire) -> anyhow::Result<Violations> {
        let mut violations = Violations::new();
        for conversation in self.conversations.clone() {
            let rows = look::items(wire, &conversation).await?;
            violations.extend(self.faults(&conversation, &rows));
            if rows.len() > LONG && violations.is_empty() {
                self.finish(wire, &conversation).await?;
                violations.extend(self.check_finished(wire, &conversation).await?);
                self.conversations.retain(|open| *open != conversation);
                for writer in &mut self.writers {
                    writer.answered.retain(|(request, _)| request.conversation != conversation);
                }
            }
        }
        Ok(violations)
    }

    /// Has every request answered, and checks all conversations for the last time.
    pub(crate) async fn check_all(&mut self, wire: Wire) -> anyhow::Result<Violations> {
        let mut violations = Violations::new();
        for conversation in mem::take(&mut self.conversations) {
            self.finish(wire, &conversation).await?;
            violations.extend(self.check_finished(wire, &conversation).await?);
        }
        Ok(violations)
    }

    /// Repeats the open requests of a conversation until each is answered.
    async fn finish(&mut self, wire: Wire, conversation: &str) -> anyhow::Result<()> {
        let quiet = Fuse::light(&mut fastrand::Rng::with_seed(0));
        for writer in &mut self.writers {
            let is_here =
                writer.open.as_ref().is_some_and(|open| open.conversation == conversation);
            for _ in (0..ATTEMPTS).filter(|_| is_here) {
                if writer.open.is_some() {
                    let _ = writer.attempt(wire, None, &quiet).await;
                }
            }
            anyhow::ensure!(
                !is_here || writer.open.is_none(),
                "a repeated request is not answered"
            );
        }
        Ok(())
    }

    async fn check_finished(&self, wire: Wire, conversation: &str) -> anyhow::Result<Violations> {
        Ok(self.faults(conversation, &look::items(wire, conversation).await?))
    }

    fn faults(&self, conversation: &str, rows: &[Row]) -> Violations {
        let answered = self.writers.iter().flat_map(|writer| &writer.answered);
        let answered = answered.filter(|(request, _)| request.conversation == conversation);
        let answered: Vec<(u32, &[Row])> =
            answered.map(|(request, told)| (request.number, &told[..])).collect();
        let faults = faults(rows, &answered).into_iter();
        faults.map(|fault| format!("shared conversation {conversation}: {fault}")).collect()
    }
}

/// Writers that are at work.
pub(crate) struct Running(JoinSet<Writer>);

impl Writer {
    /// Sends requests until the gateway is gone.
    async fn run(mut self, wire: Wire, conversations: Vec<String>, fuse: Arc<Fuse>) -> Self {
        while !fuse.is_burnt() {
            if self.open.is_none() {
                self.begin(&conversations);
            }
            let leaves = self.rng.u8(..100) < 40;
            let patience = leaves.then(|| self.rng.usize(1..PATIENCE));
            if self.attempt(wire, patience, &fuse).await.is_err() {
                break;
            }
        }
        self
    }

    /// Thinks of a new request.
    fn begin(&mut self, conversations: &[String]) {
        let number = self.next;
        self.next += 1;
        let conversation = conversations[self.rng.usize(..conversations.len())].clone();
        let plan = PLANS[self.rng.usize(..PLANS.len())];
        let place = Place::Conversation(conversation.clone());
        let body = body(&place, &messages(number, 1, plan), true);
        self.open = Some(Request { number, conversation, body, attempts: 0 });
    }

    /// Sends the open request, which stays open unless it is answered.
    async fn attempt(
        &mut self,
        wire: Wire,
        patience: Option<usize>,
        fuse: &Fuse,
    ) -> Result<(), Lost> {
        let Some(request) = &mut self.open else { return Ok(()) };
        let headers = [
            ("idempotency-key", format!("key-{}", request.number)),
            ("x-stainless-retry-count", request.attempts.to_string()),
        ];
        self.repeated += usize::from(request.attempts > 0);
        request.attempts += 1;
        fuse.saw(Moment::Asking);
        let heard = ask(wire, &request.body, &headers, patience, fuse).await;
        if let Told::Done(rows) = heard.told? {
            self.answered.extend(self.open.take().map(|request| (request, rows)));
        }
        Ok(())
    }
}

/// What is wrong with a conversation in which these requests are answered, with the output that their
/// writers were told.
fn faults(rows: &[Row], answered: &[(u32, &[Row])]) -> Vec<String> {
    let mut inputs: BTreeMap<u32, usize> = BTreeMap::new();
    for mark in rows.iter().filter_map(|row| row.mark).filter(|mark| mark.part == 0) {
        *inputs.entry(mark.turn).or_default() += 1;
    }
    let doubled = inputs.iter().filter(|(_, count)| **count > 1);
    let mut faults: Vec<String> = doubled
        .map(|(turn, count)| format!("the input of {turn} is there {count} times"))
        .collect();
    for (number, told) in answered {
        if !inputs.contains_key(number) {
            faults.push(format!("the input of {number}, which is answered, is missing"));
        }
        for row in *told {
            let count = rows.iter().filter(|held| held.id == row.id).count();
            if count != 1 {
                faults.push(format!("an answer of {number} is there {count} times: {row:?}"));
            }
            if row.mark.is_some_and(|mark| mark.turn != *number) {
                faults.push(format!("another request than {number} was answered: {row:?}"));
            }
        }
    }
    faults
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mark::Mark;

    fn row(turn: u32, part: usize) -> Row {
        Row {
            id: format!("msg_{turn}_{part}"),
            mark: Some(Mark::new(turn, part)),
            kind: "message".into(),
            status: None,
            call_id: None,
        }
    }

    #[test]
    fn input_and_answer_once_is_no_fault() {
        let rows = [row(1, 0), row(2, 0), row(2, 1), row(1, 1)];
        assert_eq!(faults(&rows, &[(1, &rows[3..]), (2, &rows[2..3])]), [""; 0]);
    }

    #[test]
    fn doubled_missing_and_foreign_items_are_found() {
        let told = [row(1, 1)];
        let doubled = faults(&[row(1, 0), row(1, 0), row(1, 1)], &[(1, &told)]);
        assert_eq!(doubled, ["the input of 1 is there 2 times"]);
        assert!(faults(&[row(1, 1)], &[(1, &told)])[0].contains("is missing"));
        assert!(faults(&[row(1, 0)], &[(1, &told)])[0].contains("is there 0 times"));
        let other = [row(2, 1)];
        let foreign = faults(&[row(1, 0), row(2, 0), row(2, 1)], &[(1, &other)]);
        assert!(foreign[0].contains("another request than 1"));
    }
}
