//! Times as text.

use antiphon_gateway::date_time::rfc_3339;

/// A time in UTC, such as `2026-01-31 12:00:00Z`. `seconds` are since 1970.
pub(super) fn utc(seconds: i64) -> String {
    rfc_3339(seconds).replacen('T', " ", 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_times_are_read() {
        assert_eq!(utc(0), "1970-01-01 00:00:00Z");
        assert_eq!(utc(951_782_400), "2000-02-29 00:00:00Z");
        assert_eq!(utc(1_767_225_599), "2025-12-31 23:59:59Z");
        assert_eq!(utc(-1), "1969-12-31 23:59:59Z");
    }
}
