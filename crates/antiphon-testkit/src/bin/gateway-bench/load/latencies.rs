//! The latencies of the requests of a load.

use std::time::Duration;

use anyhow::bail;

/// Sorted latencies, and the failures.
#[derive(Debug, Default)]
pub(crate) struct Latencies {
    sorted: Vec<Duration>,
    pub(crate) failed: usize,
    pub(crate) first_failure: Option<String>,
}

impl Latencies {
    /// Fails if a request failed.
    pub(crate) fn check(self) -> anyhow::Result<()> {
        match self.first_failure {
            Some(failure) => bail!("{} requests failed, first: {failure}", self.failed),
            None => Ok(()),
        }
    }

    /// The latency that this share of the requests does not exceed, in microseconds.
    #[expect(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "counts of requests are small"
    )]
    pub(crate) fn quantile(&self, share: f64) -> Option<f64> {
        let last = self.sorted.len().checked_sub(1)?;
        let index = (last as f64 * share).round() as usize;
        Some(self.sorted[index].as_secs_f64() * 1e6)
    }
}

impl FromIterator<anyhow::Result<Duration>> for Latencies {
    fn from_iter<T: IntoIterator<Item = anyhow::Result<Duration>>>(results: T) -> Self {
        let mut latencies = Self::default();
        for result in results {
            match result {
                Ok(latency) => latencies.sorted.push(latency),
                Err(error) => {
                    latencies.failed += 1;
                    latencies.first_failure.get_or_insert_with(|| format!("{error:#}"));
                }
            }
        }
        latencies.sorted.sort();
        latencies
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_of_the_sorted_latencies() {
        let latencies: Latencies =
            (0..=100).rev().map(|it| Ok(Duration::from_micros(it))).collect();
        assert_eq!(latencies.quantile(0.5).map(f64::round), Some(50.0));
        assert_eq!(latencies.quantile(0.99).map(f64::round), Some(99.0));
        assert_eq!(Latencies::default().quantile(0.5), None);
    }
}
