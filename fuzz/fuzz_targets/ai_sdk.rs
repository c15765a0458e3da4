//! For any stream of the AI SDK, clients of both dialects get one well-formed stream.
#![no_main]

use antiphon::dialect::Dialect;
use antiphon_fuzz::conversion::check;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| check(Dialect::AiSdk, bytes));
