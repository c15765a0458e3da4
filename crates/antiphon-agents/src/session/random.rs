//! Random ids.

use antiphon::item::IdSource;

/// Random bytes of the operating system.
pub(super) struct Random;

impl IdSource for Random {
    fn fill(&mut self, bytes: &mut [u8]) {
        getrandom::fill(bytes).expect("the operating system has random bytes");
    }
}
