//! The shards of recent requests, in memory.

use std::collections::HashMap;
use std::hash::{BuildHasher as _, RandomState};
use std::mem;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::ids::{Shard, Tenant};
use crate::records::{RETRY_WINDOW, RequestDigest};

/// The maximum number of requests: about 20 MB.
const MAX_REQUESTS: usize = 1 << 19;

/// The seconds for which at least each request is kept. A response is created shortly after the
/// shard of its request is chosen, so this is longer than the window.
const PERIOD: i64 = RETRY_WINDOW + 60;

/// The shards of the threads that recent requests began.
///
/// Threads are stored in the order of their shards. Shards that begin with the time are
/// neighbours, so concurrent turns write the same pages; but a retry cannot derive the shard of its
/// first attempt, and finds it here. While there is no room, and for a retry of an unknown request,
/// the shard is the one derived from the request.
#[derive(Debug)]
pub(super) struct RecentRequests {
    known: Mutex<Halves>,
    hasher: RandomState,
    max: usize,
}

/// The requests since a time, and those of the period before it. A key is a hash of the tenant and
/// the request. If two have the same hash, their threads have the same shard, which does no harm.
#[derive(Debug)]
struct Halves {
    since: i64,
    recent: HashMap<u64, Shard>,
    older: HashMap<u64, Shard>,
}

impl RecentRequests {
    /// The requests of a former process, and the shards of their threads, the oldest first.
    pub(super) fn restored(
        placed: impl IntoIterator<Item = (Tenant, RequestDigest, Shard)>,
        now: i64,
    ) -> Self {
        let hasher = RandomState::new();
        let keys = placed
            .into_iter()
            .map(|(tenant, request, shard)| (hasher.hash_one((&tenant, &request)), shard));
        let halves = Halves { since: now, recent: keys.collect(), older: HashMap::new() };
        Self { known: Mutex::new(halves), hasher, max: MAX_REQUESTS }
    }

    /// The shard of a request at `now` (Unix seconds). `candidate` is a new shard for a first
    /// attempt, and `None` for a retry.
    pub(super) fn place(
        &self,
        tenant: &Tenant,
        request: &RequestDigest,
        candidate: Option<Shard>,
        now: i64,
    ) -> Shard {
        let key = self.hasher.hash_one((tenant, request));
        let mut known = self.known();
        known.age(now);
        let found = known.older.remove(&key).or_else(|| known.recent.get(&key).copied());
        let has_room = known.recent.len() + known.older.len() < self.max;
        if found.is_none() && !has_room {
            return request.shard();
        }
        let shard = found.or(candidate).unwrap_or_else(|| request.shard());
        known.recent.insert(key, shard);
        shard
    }

    fn known(&self) -> MutexGuard<'_, Halves> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Halves {
    /// Forgets the requests of a period that has passed.
    fn age(&mut self, now: i64) {
        let age = now.saturating_sub(self.since);
        if age < PERIOD {
            return;
        }
        let recent = mem::take(&mut self.recent);
        self.older = if age < 2 * PERIOD { recent } else { HashMap::new() };
        self.since = now;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const REQUEST: RequestDigest = RequestDigest([0xa5; 16]);
    const NOW: i64 = 1_767_225_600;
    const DERIVED: Shard = Shard(0xa5a5_a5a5_a5a5_a5a5);

    fn none() -> RecentRequests {
        RecentRequests::restored([], NOW)
    }

    fn alice() -> Tenant {
        Tenant::new("alice")
    }

    #[test]
    fn request_is_kept_for_the_window_after_its_last_attempt() {
        let requests = none();
        let first = requests.place(&alice(), &REQUEST, Some(Shard(1)), NOW);
        assert_eq!(first, Shard(1));
        let mut now = NOW;
        for _ in 0..5 {
            now += RETRY_WINDOW + 1;
            assert_eq!(requests.place(&alice(), &REQUEST, None, now), first);
        }
        assert_eq!(requests.place(&alice(), &REQUEST, None, now + 2 * PERIOD), DERIVED);
    }

    #[test]
    fn equal_first_attempts_share_a_shard() {
        let requests = none();
        requests.place(&alice(), &REQUEST, Some(Shard(1)), NOW);
        assert_eq!(requests.place(&alice(), &REQUEST, Some(Shard(2)), NOW), Shard(1));
    }

    #[test]
    fn tenants_do_not_share_shards() {
        let requests = none();
        requests.place(&alice(), &REQUEST, Some(Shard(1)), NOW);
        let mallory = Tenant::new("mallory");
        assert_eq!(requests.place(&mallory, &REQUEST, Some(Shard(2)), NOW), Shard(2));
        assert_eq!(requests.place(&Tenant::new("bob"), &REQUEST, None, NOW), DERIVED);
    }

    #[test]
    fn unknown_retry_gets_the_derived_shard() {
        let requests = none();
        assert_eq!(requests.place(&alice(), &REQUEST, None, NOW), DERIVED);
        let next = requests.place(&alice(), &REQUEST, Some(Shard(1)), NOW);
        assert_eq!(next, DERIVED, "all attempts are in one shard");
    }

    #[test]
    fn request_without_room_gets_the_derived_shard() {
        let requests = RecentRequests { max: 2, ..none() };
        for number in 1..=3 {
            let request = RequestDigest([number; 16]);
            requests.place(&alice(), &request, Some(Shard(u64::from(number))), NOW);
        }
        let found = |number, now| requests.place(&alice(), &RequestDigest([number; 16]), None, now);
        let derived = |number: u8| RequestDigest([number; 16]).shard();
        assert_eq!([found(1, NOW), found(2, NOW), found(3, NOW)], [Shard(1), Shard(2), derived(3)]);

        // A known request needs no room when it is seen again in the next period.
        let later = NOW + PERIOD;
        assert_eq!(
            requests.place(&alice(), &RequestDigest([1; 16]), Some(Shard(4)), later),
            Shard(1)
        );
        assert_eq!(found(3, later), derived(3));
    }

    #[test]
    fn clock_that_goes_back_forgets_nothing() {
        let requests = none();
        requests.place(&alice(), &REQUEST, Some(Shard(1)), NOW);
        assert_eq!(requests.place(&alice(), &REQUEST, None, NOW - 3 * PERIOD), Shard(1));
        assert_eq!(requests.place(&alice(), &REQUEST, None, NOW + RETRY_WINDOW), Shard(1));
    }
}
