//! Limits the nesting depth of JSON.

use memchr::memchr2;

use crate::error::ApiError;

/// The maximum nesting depth of arrays and objects. Many JSON parsers have a limit not far above.
const MAX_DEPTH: usize = 128;

/// Rejects JSON with too many levels, because every client must be able to read stored JSON. Bytes
/// that are not JSON are accepted here.
pub(crate) fn check_depth(json: &[u8]) -> Result<(), ApiError> {
    let (mut depth, mut at) = (0_usize, 0);
    while let Some(byte) = json.get(at) {
        match byte {
            b'"' => at = end_of_string(json, at + 1),
            b'{' | b'[' => depth += 1,
            b'}' | b']' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth > MAX_DEPTH {
            return Err(ApiError::TooDeep { maximum: MAX_DEPTH });
        }
        at += 1;
    }
    Ok(())
}

/// The end of the string whose opening quote is just before `at`.
fn end_of_string(json: &[u8], mut at: usize) -> usize {
    while let Some(found) = json.get(at..).and_then(|rest| memchr2(b'"', b'\\', rest)) {
        at += found;
        match json[at] {
            b'"' => return at,
            _ => at += 2,
        }
    }
    json.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn nested(depth: usize) -> String {
        format!(r#"{{"a":{}7{}}}"#, "[".repeat(depth - 1), "]".repeat(depth - 1))
    }

    #[test]
    fn deepest_accepted_body_has_the_maximum_depth() {
        assert!(check_depth(nested(MAX_DEPTH).as_bytes()).is_ok());
        assert!(check_depth(nested(MAX_DEPTH + 1).as_bytes()).is_err());
        assert!(check_depth(nested(500_000).as_bytes()).is_err());
    }

    #[test]
    fn brackets_in_strings_and_siblings_do_not_count() {
        let brackets = "[".repeat(1000);
        for json in [
            format!(r#"{{"a":"{brackets}"}}"#),
            format!(r#"{{"a":"\"{brackets}\\"}}"#),
            format!("[{}]", "[],".repeat(1000)),
            format!(r#"{{"a":"{brackets}"#),
            r#"{"a":"\"#.to_owned(),
        ] {
            assert!(check_depth(json.as_bytes()).is_ok(), "{json}");
        }
    }
}
