//! Headers with a delay before a retry, of answers to callers and of other servers' answers.
//!
//! Source: RFC 9110, section 10.2.3: `Retry-After` is a number of seconds or a date. OpenAI and
//! Azure also send `retry-after-ms`, which their clients prefer.

use std::time::{Duration, UNIX_EPOCH};

use http::header::RETRY_AFTER;
use http::{HeaderMap, HeaderName, HeaderValue};

/// The delay that these headers request, at `now` in Unix seconds. `None` without a valid value.
pub(crate) fn retry_after(headers: &HeaderMap, now: i64) -> Option<Duration> {
    let text = |name| headers.get(name).and_then(|value| value.to_str().ok()).map(str::trim);
    let milliseconds = text("retry-after-ms").and_then(|text| duration(text, 0.001));
    let seconds_or_date = || {
        let text = text("retry-after")?;
        duration(text, 1.0).or_else(|| until(text, now))
    };
    milliseconds.or_else(seconds_or_date)
}

fn duration(text: &str, unit: f64) -> Option<Duration> {
    let number: f64 = text.parse().ok()?;
    Duration::try_from_secs_f64(number * unit).ok()
}

/// The time until the date, or zero if it has passed.
fn until(date: &str, now: i64) -> Option<Duration> {
    let at = httpdate::parse_http_date(date).ok()?.duration_since(UNIX_EPOCH).ok()?;
    let now = Duration::from_secs(now.try_into().ok()?);
    Some(at.saturating_sub(now))
}

/// The headers for a retry: whole seconds as in HTTP, and milliseconds, which the provider's
/// clients prefer. Neither is shorter than `wait`.
pub(crate) fn retry_headers(wait: Duration) -> [(HeaderName, HeaderValue); 2] {
    let millis = millis(wait);
    let seconds = millis.div_ceil(1000).max(1);
    [(RETRY_AFTER, seconds.into()), (HeaderName::from_static("retry-after-ms"), millis.into())]
}

/// A duration in the form of the provider's `x-ratelimit-reset-*` headers: `12ms`, `1s`, `8.64s`,
/// `6m0s`.
pub(crate) fn format_duration(time: Duration) -> String {
    let millis = millis(time);
    let (minutes, rest) = (millis / 60_000, millis % 60_000);
    match (minutes, rest) {
        (0, 0) => "0s".into(),
        (0, ..1000) => format!("{rest}ms"),
        (0, _) => seconds(rest),
        (..60, _) => format!("{minutes}m{}", seconds(rest)),
        _ => format!("{}h{}m{}", minutes / 60, minutes % 60, seconds(rest)),
    }
}

fn seconds(millis: u64) -> String {
    let (whole, fraction) = (millis / 1000, millis % 1000);
    let fraction = format!(".{fraction:03}");
    format!("{whole}{}s", fraction.trim_end_matches('0').trim_end_matches('.'))
}

/// Milliseconds, rounded up.
fn millis(time: Duration) -> u64 {
    let millis = time.as_nanos().div_ceil(1_000_000);
    u64::try_from(millis).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_the_providers_format() {
        for (millis, text) in [
            (0, "0s"),
            (12, "12ms"),
            (1000, "1s"),
            (8640, "8.64s"),
            (59_999, "59.999s"),
            (60_000, "1m0s"),
            (360_000, "6m0s"),
            (3_661_500, "1h1m1.5s"),
        ] {
            assert_eq!(format_duration(Duration::from_millis(millis)), text);
        }
        assert_eq!(format_duration(Duration::from_micros(1)), "1ms");
    }

    #[test]
    fn delays_are_rounded_up() {
        let values = |micros| retry_headers(Duration::from_micros(micros)).map(|(_, value)| value);
        assert_eq!(values(500_000), ["1", "500"]);
        assert_eq!(values(1_000_001), ["2", "1001"]);
        assert_eq!(values(0), ["1", "0"]);
    }

    const NOW: i64 = 784_111_777;

    fn parsed(headers: &[(&'static str, &'static str)]) -> Option<Duration> {
        let header = |(name, value): &(&'static str, &'static str)| {
            (HeaderName::from_static(name), HeaderValue::from_static(value))
        };
        retry_after(&headers.iter().map(header).collect(), NOW)
    }

    #[test]
    fn seconds_dates_and_milliseconds_are_parsed() {
        assert_eq!(parsed(&[("retry-after", "7")]), Some(Duration::from_secs(7)));
        assert_eq!(parsed(&[("retry-after", "0.5")]), Some(Duration::from_millis(500)));
        let date = "Sun, 06 Nov 1994 08:49:47 GMT";
        assert_eq!(parsed(&[("retry-after", date)]), Some(Duration::from_secs(10)));
        let headers = [("retry-after", "7"), ("retry-after-ms", "20")];
        assert_eq!(parsed(&headers), Some(Duration::from_millis(20)));
    }

    #[test]
    fn past_date_means_no_delay() {
        let date = "Sun, 06 Nov 1994 08:49:00 GMT";
        assert_eq!(parsed(&[("retry-after", date)]), Some(Duration::ZERO));
    }

    #[test]
    fn invalid_values_are_ignored() {
        for text in ["", "soon", "-1", "NaN", "inf", "1e300"] {
            assert_eq!(parsed(&[("retry-after", text)]), None, "{text}");
        }
        assert_eq!(parsed(&[]), None);
    }
}
