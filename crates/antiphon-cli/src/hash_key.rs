//! `antiphon hash-key`.

use std::io::{self, BufRead as _, Read as _};
use std::process::ExitCode;

use antiphon_gateway::settings::KeyHash;

use crate::failure::{Failure, print};

/// The maximum length of a key, in bytes.
const LONGEST: u64 = 64 << 10;

/// Prints the hash of the key on the first line of standard input.
pub(crate) fn hash_key() -> Result<ExitCode, Failure> {
    let mut line = String::new();
    io::stdin()
        .lock()
        .take(LONGEST)
        .read_line(&mut line)
        .map_err(|error| Failure::runtime(format!("standard input cannot be read: {error}")))?;
    let key = line.trim();
    if key.is_empty() || !key.bytes().all(|byte| byte.is_ascii_graphic()) {
        return Err(Failure::usage(
            "standard input must begin with a key of visible ASCII characters, without spaces",
        ));
    }
    print(&format!("{}\n", KeyHash::from_key(key)))?;
    Ok(ExitCode::SUCCESS)
}
