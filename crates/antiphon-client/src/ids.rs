//! Random ids.

use antiphon::item::IdSource;

/// Issues random ids.
pub(crate) struct RandomIds;

impl IdSource for RandomIds {
    fn fill(&mut self, bytes: &mut [u8]) {
        getrandom::fill(bytes).expect("the system has random bytes");
    }
}

/// Random bytes.
pub(crate) fn random_bytes() -> [u8; 16] {
    let mut bytes = [0; 16];
    RandomIds.fill(&mut bytes);
    bytes
}
