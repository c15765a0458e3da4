//! Parses gungraun's output.

use super::Subject;

/// The instruction count of each benchmark.
pub(super) fn read(text: &str) -> Vec<(Subject, u64)> {
    let mut subject = None;
    let mut counted = Vec::new();
    for line in text.lines() {
        if let Some(benchmark) = line.strip_prefix("instructions::") {
            subject = subject_of(benchmark);
        } else if let Some(counts) = line.trim_start().strip_prefix("Instructions:") {
            // The count of an earlier run is after the bar.
            let latest = counts.split('|').next().and_then(number_in);
            counted.extend(subject.take().zip(latest));
        }
    }
    counted
}

/// Parses `group::function id:(arguments)`. The length is among the arguments. The id is `n_` and a
/// number, with a type's name in place of `n` if the benchmark has one.
fn subject_of(benchmark: &str) -> Option<Subject> {
    let (name, arguments) = benchmark.split_once(' ')?;
    let (id, arguments) = arguments.split_once(":(")?;
    let name = match id.split_once('_') {
        None | Some(("n", _)) => name.to_owned(),
        Some((kind, _)) => format!("{name}::{kind}"),
    };
    Some((name, number_in(arguments)?))
}

fn number_in(text: &str) -> Option<u64> {
    let digits: String = text.chars().filter(char::is_ascii_digit).collect();
    digits.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn latest_count_precedes_the_bar() {
        let text = "\
instructions::items::transcript n_1:(held(10_000))
  Instructions:                        21555944|20000000             (+7.78%) [+1.08x]
  L1 Hits:                             31897570|N/A                  (*********)
instructions::reconcile::delta n_0:(Turn :: delta(1_000))
  Instructions:                          288444|N/A                  (*********)
instructions::dialects::encode Chat_0:(sealed :: < Chat >(1_000))
  Instructions:                        28000170|N/A                  (*********)
";
        let expected = [
            (("items::transcript".to_owned(), 10_000), 21_555_944),
            (("reconcile::delta".to_owned(), 1_000), 288_444),
            (("dialects::encode::Chat".to_owned(), 1_000), 28_000_170),
        ];
        assert_eq!(read(text), expected);
    }
}
