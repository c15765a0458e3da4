//! Parses divan's output.

use super::Subject;

/// The medians of one benchmark.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Median {
    pub(super) items_per_second: f64,
    pub(super) bytes_per_second: Option<f64>,
}

/// Parses divan's tree of medians: modules and functions by name, then the input lengths, then the
/// rates of each length.
pub(super) fn read(tree: &str) -> Vec<(Subject, Median)> {
    let mut path: Vec<&str> = Vec::new();
    let mut medians: Vec<(Subject, Median)> = Vec::new();
    for line in tree.lines() {
        let row = Row::parse(line);
        match row.name {
            Some(name) => {
                path.truncate(row.level.saturating_sub(1));
                if let Ok(length) = name.parse() {
                    medians.push(((path.join("::"), length), Median::default()));
                }
                path.push(name);
            }
            None => {
                if let Some((_, median)) = medians.last_mut() {
                    median.take(row.median);
                }
            }
        }
    }
    medians
}

struct Row<'a> {
    level: usize,
    /// `None` if the row continues the one before it.
    name: Option<&'a str>,
    median: &'a str,
}

impl<'a> Row<'a> {
    fn parse(line: &'a str) -> Self {
        let is_tree = |character: char| " │├╰─".contains(character);
        let text = line.trim_start_matches(is_tree);
        let tree = &line[..line.len() - text.len()];
        let is_named = tree.contains(['├', '╰']);
        Self {
            level: tree.chars().count() / WIDTH,
            name: text.split_whitespace().next().filter(|_| is_named),
            median: text.split('│').nth(MEDIAN).unwrap_or_default().trim(),
        }
    }
}

/// The width of one tree level in characters.
const WIDTH: usize = 3;
/// The column of the median, after the fastest and the slowest time.
const MEDIAN: usize = 2;

impl Median {
    fn take(&mut self, rate: &str) {
        let Some((number, unit)) = rate.split_once(' ') else { return };
        let Ok(number) = number.parse::<f64>() else { return };
        if let Some(scale) = unit.strip_suffix("item/s") {
            self.items_per_second = number * factor(scale);
        } else if let Some(scale) = unit.strip_suffix("B/s") {
            self.bytes_per_second = Some(number * factor(scale));
        }
    }
}

fn factor(scale: &str) -> f64 {
    match scale {
        "K" => 1e3,
        "M" => 1e6,
        "G" => 1e9,
        "T" => 1e12,
        _ => 1.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TREE: &str = include_str!("clock.txt");

    #[test]
    fn medians_are_in_the_third_column() {
        let median =
            |items_per_second, bytes_per_second| Median { items_per_second, bytes_per_second };
        let expected = [
            (("items::items_of".to_owned(), 10), median(1.118e6, Some(1.216e9))),
            (("items::transcript".to_owned(), 1000), median(5.545e6, None)),
            (("repair::broken".to_owned(), 10), median(831.5e3, None)),
        ];
        assert_eq!(read(TREE), expected);
    }
}
