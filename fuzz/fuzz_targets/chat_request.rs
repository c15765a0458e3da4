//! Any items encode to a Chat Completions request that is valid JSON, or are refused. If the items
//! are repaired, every call has an output.
#![no_main]

use antiphon::dialect::UpstreamApi;
use antiphon_fuzz::request::{Given, chat};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let Some(given) = Given::of(bytes) else { return };
    if let Some(encoded) = given.encoded(UpstreamApi::Chat) {
        chat::check(&encoded.body);
    }
});
