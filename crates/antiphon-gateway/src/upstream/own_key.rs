//! The gateway's own key in what an upstream says of it.

use bytes::Bytes;

use crate::settings::Secret;

/// The fewest characters of a key that is taken out of an error: a shorter one is no secret, and may
/// be a word of the error.
const SHORTEST: usize = 8;

/// An error's body without the key that the upstream was shown. Some repeat it, and callers, who
/// are given the error, must not learn it. A caller's own token is no news to its caller.
pub(super) fn without(key: Option<&Secret>, body: Bytes) -> Bytes {
    let Some(key) = key.map(Secret::reveal).filter(|key| key.len() >= SHORTEST) else {
        return body;
    };
    match String::from_utf8_lossy(&body) {
        text if text.contains(key) => text.replace(key, "***").into(),
        _ => body,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn without_key(key: &str, body: &'static [u8]) -> Bytes {
        without(Some(&Secret::new(key)), Bytes::from_static(body))
    }

    #[test]
    fn a_key_is_taken_out_wherever_it_stands() {
        let key = "sk-of-the-gateway";
        assert_eq!(
            without_key(key, b"sk-of-the-gateway: no sk-of-the-gateway. \xff"),
            "***: no ***. \u{fffd}"
        );
    }

    #[test]
    fn everything_else_stays_byte_for_byte() {
        let body = b"key \xff is wrong";
        assert_eq!(without_key("sk-of-the-gateway", body), &body[..]);
        assert_eq!(without_key("key", body), &body[..]);
        assert_eq!(without(None, Bytes::from_static(body)), &body[..]);
    }
}
