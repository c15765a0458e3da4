//! The dialogues that a load continues.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::client::{Client, Reply};
use crate::dialogue::Dialogue;

/// Dialogues of one client. Each request of a load is the next turn of one of them.
pub(crate) struct Work {
    client: Client,
    dialogues: Dialogues,
    /// Counts the turns, if each tenth is aborted first.
    aborts: Option<AtomicU64>,
}

enum Dialogues {
    /// Each turn begins a dialogue like this one, with a number of its own.
    New { like: Dialogue, number: AtomicU64 },
    /// Each turn continues the dialogue that has waited longest.
    Pool(Mutex<VecDeque<Dialogue>>),
}

impl Work {
    /// Each turn is the first of a dialogue like this one.
    pub(crate) fn first_turns(client: Client, dialogue: Dialogue) -> Self {
        let number = AtomicU64::new(0);
        Self { client, dialogues: Dialogues::New { like: dialogue, number }, aborts: None }
    }

    /// The turns continue these dialogues, one after the other.
    pub(crate) fn continued(client: Client, dialogues: Vec<Dialogue>) -> Self {
        Self { client, dialogues: Dialogues::Pool(Mutex::new(dialogues.into())), aborts: None }
    }

    /// The number of dialogues that the turns continue.
    pub(crate) fn dialogues(&self) -> usize {
        match &self.dialogues {
            Dialogues::New { .. } => 0,
            Dialogues::Pool(pool) => lock(pool).len(),
        }
    }

    /// Changes each of the continued dialogues. No turn may be open.
    pub(crate) fn change_each(&self, change: impl Fn(Dialogue) -> Dialogue) {
        if let Dialogues::Pool(pool) = &self.dialogues {
            let mut pool = lock(pool);
            *pool = std::mem::take(&mut *pool).into_iter().map(change).collect();
        }
    }

    /// The same work, but each tenth turn is aborted in the middle of its stream and sent again.
    pub(crate) fn with_aborts(self) -> Self {
        Self { aborts: Some(AtomicU64::new(1)), ..self }
    }

    /// Performs one turn and returns the time of its last request.
    pub(crate) async fn turn(&self) -> anyhow::Result<Duration> {
        let mut dialogue = self.take()?;
        let turned = self.turn_of(&mut dialogue).await;
        if let Dialogues::Pool(pool) = &self.dialogues {
            lock(pool).push_back(dialogue);
        }
        Ok(turned?.took)
    }

    async fn turn_of(&self, dialogue: &mut Dialogue) -> anyhow::Result<Reply> {
        let turns = self.aborts.as_ref().map(|turns| turns.fetch_add(1, Ordering::Relaxed));
        if turns.is_some_and(|turns| turns % ABORT_EACH == 0) {
            let mut aborted = dialogue.open_turn(&self.client).await?;
            aborted.read_until(has_some_text).await?;
        }
        dialogue.turn(&self.client).await
    }

    fn take(&self) -> anyhow::Result<Dialogue> {
        match &self.dialogues {
            Dialogues::New { like, number } => {
                Ok(like.clone().numbered(number.fetch_add(1, Ordering::Relaxed)))
            }
            Dialogues::Pool(pool) => {
                let waiting = lock(pool).pop_front();
                waiting.ok_or_else(|| anyhow::anyhow!("every dialogue has an open turn"))
            }
        }
    }
}

const ABORT_EACH: u64 = 10;

/// Whether the stream has come to its middle.
fn has_some_text(received: &[u8]) -> bool {
    memchr::memmem::find(received, b"word30").is_some()
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
