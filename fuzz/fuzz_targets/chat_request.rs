//! Any items as a request of Chat Completions: JSON, or refused; of repaired items every call is answered.
#![no_main]

use antiphon::dialect::Dialect;
use antiphon_fuzz::request::{Given, chat};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let Some(given) = Given::of(bytes) else { return };
    if let Some(encoded) = given.encoded(Dialect::Chat) {
        chat::check(&encoded.body);
    }
});
