//! A table of both measurements.

use std::collections::HashMap;
use std::fmt;

use super::Subject;
use super::clock::Median;

/// A table with a row for each benchmark.
pub(super) struct Table(Vec<(Subject, Median, Option<u64>)>);

impl Table {
    pub(super) fn new(timed: Vec<(Subject, Median)>, counted: Vec<(Subject, u64)>) -> Self {
        let counted: HashMap<Subject, u64> = counted.into_iter().collect();
        let row = |(subject, median): (Subject, Median)| {
            let instructions = counted.get(&subject).copied();
            (subject, median, instructions)
        };
        Self(timed.into_iter().map(row).collect())
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [what, items, time, rate, instructions] =
            ["", "items", "ns/item", "MB/s", "instructions/item"];
        writeln!(f, "{what:<44} {items:>8} {time:>9} {rate:>8} {instructions:>18}")?;
        for ((name, length), median, instructions) in &self.0 {
            let time = 1e9 / median.items_per_second;
            let rate = median.bytes_per_second.map_or("-".to_owned(), megabytes);
            let instructions = instructions.map(|count| (count / length.max(&1)).to_string());
            let instructions = instructions.unwrap_or("-".to_owned());
            writeln!(f, "{name:<44} {length:>8} {time:>9.0} {rate:>8} {instructions:>18}")?;
        }
        Ok(())
    }
}

fn megabytes(bytes: f64) -> String {
    format!("{:.0}", bytes / 1e6)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missing_count_shows_a_dash() {
        let subject = |length| ("items::items_of".to_owned(), length);
        let median = Median { items_per_second: 2e6, bytes_per_second: Some(512.4e6) };
        let timed = vec![(subject(10), median), (subject(1000), median)];
        let text = Table::new(timed, vec![(subject(1000), 45_678)]).to_string();
        let rows: Vec<Vec<&str>> =
            text.lines().skip(1).map(|row| row.split_whitespace().collect()).collect();
        assert_eq!(rows[0], ["items::items_of", "10", "500", "512", "-"]);
        assert_eq!(rows[1], ["items::items_of", "1000", "500", "512", "45"]);
    }
}
