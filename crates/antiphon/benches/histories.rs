//! Prints a history as the JSON array that a request carries, for benchmarks in other languages.
//!
//!     cargo bench --package antiphon --bench histories -- broken_everywhere 1000

#[expect(dead_code, unused_imports, reason = "the other benchmarks use the rest")]
mod given;

use std::env;
use std::io::{self, Write as _};

use antiphon::Item;
use given::{agent_run, broken, list_of};

fn main() -> io::Result<()> {
    let arguments: Vec<String> = env::args().skip(1).filter(|it| it != "--bench").collect();
    let [name, count] = &arguments[..] else { return Err(io::Error::other(USAGE)) };
    let count = count.parse().map_err(io::Error::other)?;
    let items = history(name, count).ok_or_else(|| io::Error::other(USAGE))?;
    io::stdout().write_all(&list_of(&items))
}

const USAGE: &str =
    "expected two arguments: `well_formed` or `broken_everywhere`, and the number of items";

/// `count` items of a run: well-formed, or with missing outputs and repeated calls.
fn history(name: &str, count: usize) -> Option<Vec<Item>> {
    let mut items = match name {
        "well_formed" => agent_run(count),
        "broken_everywhere" => broken(&agent_run(count)),
        _ => return None,
    };
    items.truncate(count);
    Some(items)
}
