//! Reads the delay that a server requests before a retry.
//!
//! Source: RFC 9110, section 10.2.3: `Retry-After` is a number of seconds or a date. OpenAI and
//! Azure also send `retry-after-ms`, which their clients prefer.

use std::time::{Duration, UNIX_EPOCH};

use http::HeaderMap;

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

#[cfg(test)]
mod tests {
    use http::{HeaderName, HeaderValue};

    use super::*;

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
