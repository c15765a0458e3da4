//! Converts the metrics of the registry to those of OpenTelemetry. Names, labels and values stay the
//! same, so that a dashboard works with both exporters.
//!
//! Source: "Prometheus and OpenMetrics Compatibility" of OpenTelemetry's specification.

use opentelemetry_proto::tonic::common::v1::any_value::Value as AttributeValue;
use opentelemetry_proto::tonic::common::v1::{AnyValue, KeyValue};
use opentelemetry_proto::tonic::metrics::v1::metric::Data;
use opentelemetry_proto::tonic::metrics::v1::number_data_point::Value;
use opentelemetry_proto::tonic::metrics::v1::{
    AggregationTemporality, Gauge, Histogram, HistogramDataPoint, Metric, NumberDataPoint, Sum,
};
use prometheus::proto::{self, MetricFamily, MetricType};

/// The times of an export, in nanoseconds since 1970.
#[derive(Clone, Copy, Debug)]
pub(super) struct Times {
    /// The start of the process, from which all counters count.
    pub(super) start: u64,
    /// The time at which the values were read.
    pub(super) now: u64,
}

/// The metric with all of its series; `None` for a type that the gateway's registry does not have.
pub(super) fn convert(family: &MetricFamily, times: Times) -> Option<Metric> {
    let series = family.get_metric().iter();
    let cumulative = AggregationTemporality::Cumulative.into();
    let data = match family.get_field_type() {
        MetricType::COUNTER => {
            let points = series.map(|it| number(it, it.get_counter().get_value(), times));
            let data_points = points.collect();
            Data::Sum(Sum { data_points, aggregation_temporality: cumulative, is_monotonic: true })
        }
        MetricType::GAUGE => {
            let points = series.map(|it| number(it, it.get_gauge().get_value(), times));
            Data::Gauge(Gauge { data_points: points.collect() })
        }
        MetricType::HISTOGRAM => {
            let data_points = series.map(|it| histogram(it, times)).collect();
            Data::Histogram(Histogram { data_points, aggregation_temporality: cumulative })
        }
        MetricType::SUMMARY | MetricType::UNTYPED => return None,
    };
    Some(Metric {
        name: family.name().to_owned(),
        description: family.help().to_owned(),
        unit: unit(family.name()).to_owned(),
        data: Some(data),
        ..Metric::default()
    })
}

/// The unit that the name of a metric ends with, in the notation of UCUM.
fn unit(name: &str) -> &'static str {
    let name = name.strip_suffix("_total").unwrap_or(name);
    match name.rsplit('_').next() {
        Some("seconds") => "s",
        Some("bytes") => "By",
        _ => "",
    }
}

fn number(series: &proto::Metric, value: f64, times: Times) -> NumberDataPoint {
    NumberDataPoint {
        attributes: attributes(series),
        start_time_unix_nano: times.start,
        time_unix_nano: times.now,
        value: Some(Value::AsDouble(value)),
        ..NumberDataPoint::default()
    }
}

/// The buckets of Prometheus count all values up to a bound, and those of OpenTelemetry the values
/// between two bounds. The last one has no bound.
fn histogram(series: &proto::Metric, times: Times) -> HistogramDataPoint {
    let histogram = series.get_histogram();
    let bounded = histogram.get_bucket().iter().filter(|it| it.upper_bound().is_finite());
    let (mut explicit_bounds, mut bucket_counts, mut below) = (Vec::new(), Vec::new(), 0);
    for bucket in bounded {
        explicit_bounds.push(bucket.upper_bound());
        bucket_counts.push(bucket.cumulative_count().saturating_sub(below));
        below = bucket.cumulative_count();
    }
    bucket_counts.push(histogram.get_sample_count().saturating_sub(below));
    HistogramDataPoint {
        attributes: attributes(series),
        start_time_unix_nano: times.start,
        time_unix_nano: times.now,
        count: histogram.get_sample_count(),
        sum: Some(histogram.get_sample_sum()),
        bucket_counts,
        explicit_bounds,
        ..HistogramDataPoint::default()
    }
}

fn attributes(series: &proto::Metric) -> Vec<KeyValue> {
    series.get_label().iter().map(|label| attribute(label.name(), label.value())).collect()
}

/// An attribute with a text.
pub(super) fn attribute(key: &str, value: &str) -> KeyValue {
    let value = AttributeValue::StringValue(value.to_owned());
    KeyValue {
        key: key.to_owned(),
        value: Some(AnyValue { value: Some(value) }),
        ..KeyValue::default()
    }
}

#[cfg(test)]
mod tests {
    use prometheus::{Histogram, HistogramOpts, IntCounterVec, Opts, Registry};

    use super::*;

    const TIMES: Times = Times { start: 1, now: 2 };

    #[test]
    fn buckets_hold_the_values_between_two_bounds() {
        let options = HistogramOpts::new("wait_seconds", "Waits.").buckets(vec![1.0, 2.0, 4.0]);
        let waits = Histogram::with_opts(options).unwrap();
        for value in [0.5, 1.0, 3.0, 3.5, 9.0] {
            waits.observe(value);
        }
        let metric = converted(Box::new(waits));
        assert_eq!((&*metric.name, &*metric.unit), ("wait_seconds", "s"));
        let Some(Data::Histogram(histogram)) = metric.data else { panic!("{metric:?}") };
        let point = &histogram.data_points[0];
        assert_eq!(point.explicit_bounds, [1.0, 2.0, 4.0]);
        assert_eq!(point.bucket_counts, [2, 0, 2, 1]);
        assert_eq!((point.count, point.sum), (5, Some(17.0)));
        assert_eq!((point.start_time_unix_nano, point.time_unix_nano), (1, 2));
    }

    #[test]
    fn counters_are_cumulative_sums_with_their_labels() {
        let options = Opts::new("sent_bytes_total", "Bytes.");
        let sent = IntCounterVec::new(options, &["route"]).unwrap();
        sent.with_label_values(&["/v1"]).inc_by(7);
        let metric = converted(Box::new(sent));
        assert_eq!((&*metric.name, &*metric.unit), ("sent_bytes_total", "By"));
        let Some(Data::Sum(sum)) = metric.data else { panic!("{metric:?}") };
        assert!(sum.is_monotonic);
        assert_eq!(sum.aggregation_temporality(), AggregationTemporality::Cumulative);
        assert_eq!(sum.data_points[0].value, Some(Value::AsDouble(7.0)));
        assert_eq!(sum.data_points[0].attributes, [attribute("route", "/v1")]);
    }

    fn converted(collector: Box<dyn prometheus::core::Collector>) -> Metric {
        let registry = Registry::new();
        registry.register(collector).unwrap();
        let families = registry.gather();
        assert_eq!(families.len(), 1);
        convert(&families[0], TIMES).unwrap()
    }
}
