//! Counting on request: `Count from 1 to 5.`

use super::numbers::numbers;
use super::text::find_phrase;

/// The maximum amount of numbers in one answer.
const MOST: u64 = 1000;

/// `1, 2, 3, 4, 5`: the numbers between the two limits after `count`, inclusive, up or down. With
/// only one limit, the numbers start at 1. `None` if the text does not ask to count, or asks for
/// too many numbers.
pub(super) fn count(asked: &str) -> Option<String> {
    let behind = &asked[find_phrase(asked, "count")?.end..];
    let clause = behind.split(['.', '?', '!', '\n']).next()?;
    let limits: Vec<i64> =
        numbers(clause).iter().filter_map(|number| number.parse().ok()).collect();
    let (first, last) = match limits[..] {
        [last] => (1, last),
        [first, last] => (first, last),
        _ => return None,
    };
    if first.abs_diff(last) >= MOST {
        return None;
    }
    let counted: Vec<String> = match first <= last {
        true => (first..=last).map(|number| number.to_string()).collect(),
        false => (last..=first).rev().map(|number| number.to_string()).collect(),
    };
    Some(counted.join(", "))
}
