//! For any stream of a Chat Completions server, clients of both dialects get one well-formed
//! stream.
#![no_main]

use antiphon::dialect::Dialect;
use antiphon_fuzz::conversion::check;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| check(Dialect::Chat, bytes));
