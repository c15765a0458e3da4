//! Headers with a delay before a retry.

use std::time::Duration;

use http::header::RETRY_AFTER;
use http::{HeaderName, HeaderValue};

/// The headers for a retry: whole seconds as in HTTP, and milliseconds, which the provider's
/// clients prefer. Neither is shorter than `wait`.
pub(crate) fn retry_headers(wait: Duration) -> [(HeaderName, HeaderValue); 2] {
    let millis = millis(wait);
    let seconds = millis.div_ceil(1000).max(1);
    [(RETRY_AFTER, seconds.into()), (HeaderName::from_static("retry-after-ms"), millis.into())]
}

/// A duration in the form of the provider's `x-ratelimit-reset-*` headers: `12ms`, `1s`, `8.64s`,
/// `6m0s`.
pub(crate) fn in_units(time: Duration) -> String {
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
            assert_eq!(in_units(Duration::from_millis(millis)), text);
        }
        assert_eq!(in_units(Duration::from_micros(1)), "1ms");
    }

    #[test]
    fn delays_are_rounded_up() {
        let told = |micros| retry_headers(Duration::from_micros(micros)).map(|(_, value)| value);
        assert_eq!(told(500_000), ["1", "500"]);
        assert_eq!(told(1_000_001), ["2", "1001"]);
        assert_eq!(told(0), ["1", "0"]);
    }
}
