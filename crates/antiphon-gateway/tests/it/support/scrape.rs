//! The metrics of a gateway.

use std::collections::BTreeMap;

use super::{Client, soon};

/// The key of the operator.
pub(crate) const METRICS_KEY: &str = "key-of-the-operator";

/// The values of all series, by their names with labels: `name{label="value"}`.
#[derive(Clone, Debug)]
pub(crate) struct Scrape(BTreeMap<String, String>);

impl Scrape {
    /// Reads `GET /metrics`, as the operator.
    pub(crate) async fn read(client: &Client) -> Self {
        let answer = client.get("/metrics").await;
        assert_eq!(answer.status(), 200);
        Self::parse(str::from_utf8(answer.body()).expect("it is text"))
    }

    fn parse(text: &str) -> Self {
        let series = text.lines().filter(|line| !line.starts_with('#'));
        let series = series.map(|line| line.rsplit_once(' ').expect("a series has a value"));
        Self(series.map(|(name, value)| (name.to_owned(), value.to_owned())).collect())
    }

    /// The value of a series, as it is written.
    pub(crate) fn text(&self, series: &str) -> Option<&str> {
        self.0.get(series).map(String::as_str)
    }

    /// The value of a series that counts; 0 if there is none.
    pub(crate) fn count(&self, series: &str) -> u64 {
        self.text(series).map_or(0, |value| value.parse().expect("it is a whole number"))
    }

    /// The names of all series without labels and without the suffixes of histograms.
    pub(crate) fn families(&self) -> impl Iterator<Item = &str> {
        let names = self.0.keys().map(|name| name.split('{').next().unwrap_or(name));
        names.map(|name| {
            let suffix = ["_bucket", "_sum", "_count"].into_iter().find(|it| name.ends_with(it));
            name.strip_suffix(suffix.unwrap_or_default()).unwrap_or(name)
        })
    }

    /// The names with labels of the series of a metric.
    pub(crate) fn series(&self, metric: &str) -> Vec<&str> {
        let of_metric = |name: &&String| name.split('{').next() == Some(metric);
        self.0.keys().filter(of_metric).map(String::as_str).collect()
    }
}

/// Reads the metrics until a series has this value.
pub(crate) async fn wait_for_metric(client: &Client, series: &str, value: u64) -> Scrape {
    let reading = async {
        loop {
            let scrape = Scrape::read(client).await;
            if scrape.count(series) == value {
                return scrape;
            }
            tokio::task::yield_now().await;
        }
    };
    soon("the metric has the value", reading).await
}
