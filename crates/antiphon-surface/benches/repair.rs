//! Measures a repair of the items in a file, from JSON text and from parsed items. Prints one line
//! of JSON, in the same form as the benchmarks of the packages for other languages.
//!
//!     cargo bench --package antiphon-surface --bench repair -- ITEMS.json

use std::env;
use std::fs;
use std::hint::black_box;
use std::io;
use std::time::Instant;

use bytes::Bytes;
use serde_json::json;

const ROUNDS: usize = 200;

fn main() -> io::Result<()> {
    let path = env::args().skip(1).find(|argument| argument != "--bench");
    let text = Bytes::from(fs::read(path.ok_or_else(|| io::Error::other("no file is named"))?)?);
    let items = antiphon::item::parse_items(&text).map_err(io::Error::other)?;
    let from_text = median_of(|| antiphon_surface::repair(black_box(&text), None, ""));
    let from_items = median_of(|| antiphon::repair::repair(black_box(&items)));
    let measured = json!({
        "items": items.len(),
        "repair_ns": from_text,
        "repair_items_ns": from_items,
    });
    println!("{measured}");
    Ok(())
}

/// The median time of `work` in nanoseconds.
fn median_of<T>(mut work: impl FnMut() -> T) -> u128 {
    let mut took: Vec<u128> = (0..ROUNDS).map(|_| nanoseconds_of(&mut work)).collect();
    took.sort_unstable();
    took[ROUNDS / 2]
}

/// The time includes dropping the result, as in other languages.
fn nanoseconds_of<T>(work: &mut impl FnMut() -> T) -> u128 {
    let started = Instant::now();
    drop(black_box(work()));
    started.elapsed().as_nanos()
}
