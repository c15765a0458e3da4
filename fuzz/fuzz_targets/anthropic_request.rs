//! Any items encode to an Anthropic Messages request that is valid JSON, or are refused. If the
//! items are repaired, every call has a result.
#![no_main]

use antiphon::dialect::UpstreamApi;
use antiphon_fuzz::request::{Given, anthropic};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let Some(given) = Given::of(bytes) else { return };
    if let Some(encoded) = given.encoded(UpstreamApi::Anthropic) {
        anthropic::check(&encoded.body);
    }
});
