//! Watches responses that an upstream with state makes in its own background, until they end.
//!
//! A watch is committed with the turn that the upstream queued, as a notice of that turn
//! ([`antiphon_store::Watches`]). It is claimed and put off as webhooks are: at any time one
//! process polls a response, and another takes over if that process dies. The end is committed
//! together with the webhooks that it causes, and then logged.
//!
//! # Limits
//! - A watch ends after [`LONGEST`](crate::watches::LONGEST); the webhooks of such a response are
//!   not sent.
//! - If the upstream gets the caller's own token, which is never stored, only the process that
//!   queued the response polls it, from memory. No process polls it after that one ends.

mod outcome;
mod watch;

use std::time::Duration;

use antiphon_store::ClaimedNotice;
use futures_util::StreamExt as _;
use futures_util::stream::FuturesUnordered;
use tokio::sync::Semaphore;

use crate::entropy::unix_now;
use crate::gateway::Gateway;
use crate::watches::{CLAIM, Watch};

/// The maximum number of concurrent polls. Watches with callers' tokens have a separate limit of
/// the same size.
const MAX_POLLS: usize = 16;
/// The maximum number of watches with callers' tokens.
const MAX_WITH_TOKENS: usize = 10_000;
/// The interval in seconds at which a shared store is read for watches of dead processes.
const PERIOD: i64 = 5;
/// The bound on one poll.
const POLL: Duration = Duration::from_secs(12);
const _: () = assert!(POLL.as_secs() * 2 < CLAIM.unsigned_abs());
/// The longest pause between two polls.
const LONGEST_PAUSE: Duration = Duration::from_secs(30);

/// Polls the watches that are due, and never returns. If it is dropped, its claims expire.
pub(crate) async fn run(gateway: &Gateway) {
    if !gateway.upstreams.may_own_state() {
        return std::future::pending().await;
    }
    let slots = Semaphore::new(MAX_POLLS);
    let mut claimed = FuturesUnordered::new();
    let mut with_tokens = FuturesUnordered::new();
    let mut wake = Some(unix_now());
    loop {
        let room = MAX_POLLS - claimed.len();
        tokio::select! {
            Some(due) = claimed.next() => wake = earlier(wake, due),
            Some(()) = with_tokens.next() => {}
            () = gateway.watches.wait_for_wake(wake), if room > 0 => {
                for watch in gateway.watches.take_with_tokens() {
                    if with_tokens.len() < MAX_WITH_TOKENS {
                        with_tokens.push(watch.poll_to_its_end(gateway, &slots));
                    } else {
                        watch.log_too_many();
                    }
                }
                let due = claim(gateway, room).await;
                wake = match due.len() == room {
                    true => Some(unix_now()),
                    false => next_wake(gateway).await,
                };
                claimed.extend(due.into_iter().map(|due| Watch::poll_claimed(due, gateway)));
            }
        }
    }
}

async fn claim(gateway: &Gateway, limit: usize) -> Vec<ClaimedNotice> {
    let now = unix_now();
    let due = gateway.store.watches().claim(now, now + CLAIM, limit).await;
    due.unwrap_or_else(|error| {
        tracing::warn!(%error, "could not read which background responses to poll");
        Vec::new()
    })
}

/// The time of the next look, after all due watches were claimed. If only this process uses the
/// store, no other process commits watches.
async fn next_wake(gateway: &Gateway) -> Option<i64> {
    let now = unix_now();
    let next = match gateway.store.watches().next_due().await {
        Ok(next) => next.map(|due| due.max(now + 1)),
        Err(_) => Some(now + PERIOD),
    };
    match gateway.store.lease_queue() {
        Some(_) => earlier(next, Some(now + PERIOD)),
        None => next,
    }
}

fn earlier(one: Option<i64>, other: Option<i64>) -> Option<i64> {
    one.into_iter().chain(other).min()
}

/// The pause after poll number `attempt`, from 1: 2 seconds, 4, 8, 16, 30, 30 …
fn pause(attempt: u32) -> Duration {
    let seconds = 1u64.checked_shl(attempt).unwrap_or(u64::MAX);
    Duration::from_secs(seconds).min(LONGEST_PAUSE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_grow_to_the_longest() {
        let pauses = [1, 2, 3, 4, 5, 6, 63, 64, u32::MAX].map(|attempt| pause(attempt).as_secs());
        assert_eq!(pauses, [2, 4, 8, 16, 30, 30, 30, 30, 30]);
    }

    #[test]
    fn earlier_of_two_times_wakes() {
        assert_eq!(earlier(None, None), None);
        assert_eq!(earlier(Some(3), None), Some(3));
        assert_eq!(earlier(Some(3), Some(2)), Some(2));
    }
}
