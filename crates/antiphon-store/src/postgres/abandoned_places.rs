//! Queue places that nobody uses, although the database may still have them.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::records::QueuePlace;

/// The number of times a place is deleted from the database. The second time covers an insert that
/// was still in progress at the first.
const TIMES: u8 = 2;

/// The places to delete. They would block their queues as long as this process lives. There are
/// never more of them than turns that failed at about the same time.
#[derive(Debug, Default)]
pub(super) struct AbandonedPlaces(Mutex<Vec<(QueuePlace, u8)>>);

impl AbandonedPlaces {
    pub(super) fn add(&self, place: QueuePlace) {
        self.all().push((place, TIMES));
    }

    pub(super) fn places(&self) -> Vec<QueuePlace> {
        self.all().iter().map(|(place, _)| *place).collect()
    }

    /// Records that these places were deleted from the database.
    pub(super) fn record_deletion(&self, places: &[QueuePlace]) {
        self.all().retain_mut(|(place, times)| {
            if places.contains(place) {
                *times -= 1;
            }
            *times > 0
        });
    }

    fn all(&self) -> MutexGuard<'_, Vec<(QueuePlace, u8)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Places drawn for one caller. If the call fails or is dropped, the caller never gets its places:
/// they are abandoned.
#[derive(Debug)]
pub(super) struct DrawnPlaces {
    places: Mutex<Vec<QueuePlace>>,
    abandoned: Arc<AbandonedPlaces>,
}

impl DrawnPlaces {
    pub(super) fn new(abandoned: &Arc<AbandonedPlaces>) -> Self {
        Self { places: Mutex::default(), abandoned: Arc::clone(abandoned) }
    }

    /// Records a place before it is certain to be taken.
    pub(super) fn note(&self, place: QueuePlace) {
        self.places().push(place);
    }

    /// Gives the place to the caller.
    pub(super) fn keep(&self, place: QueuePlace) {
        self.places().retain(|drawn| *drawn != place);
    }

    fn places(&self) -> MutexGuard<'_, Vec<QueuePlace>> {
        self.places.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for DrawnPlaces {
    fn drop(&mut self) {
        for place in self.places().drain(..) {
            self.abandoned.add(place);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn abandoned_place_is_deleted_twice() {
        let abandoned = Arc::<AbandonedPlaces>::default();
        let drawn = DrawnPlaces::new(&abandoned);
        for place in [1, 2] {
            drawn.note(QueuePlace(place));
        }
        drawn.keep(QueuePlace(2));
        assert_eq!(abandoned.places(), []);

        drop(drawn);

        for _ in 0..TIMES {
            assert_eq!(abandoned.places(), [QueuePlace(1)]);
            abandoned.record_deletion(&[QueuePlace(1)]);
        }
        assert_eq!(abandoned.places(), []);
    }
}
