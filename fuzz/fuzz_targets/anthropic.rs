//! For any stream of an Anthropic server, clients of both dialects get one well-formed stream.
#![no_main]

use antiphon::dialect::Dialect;
use antiphon_fuzz::conversion::check;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| check(Dialect::Anthropic, bytes));
