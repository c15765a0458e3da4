//! Ids that are derived from their input, without a clock or randomness.
//!
//! ```
//! use antiphon_mock::digest;
//!
//! assert_eq!(digest::digits(&["one", "two"], 8), digest::digits(&["one", "two"], 8));
//! assert_ne!(digest::hex(&["one", "two"]), digest::hex(&["two", "one"]));
//! ```

use std::fmt::Write;

const DIGITS: usize = 48;
const LANE_DIGITS: usize = 16;
const FNV_OFFSET: u64 = 0xcbf2_9ce4_8422_2325;
const FNV_PRIME: u64 = 0x0000_0100_0000_01b3;

/// The 48-digit hexadecimal digest of the sequence `parts`. It is the same in every build.
pub fn hex(parts: &[&str]) -> String {
    digits(parts, DIGITS)
}

/// The first `count` hexadecimal digits of the digest of `parts`; `count` may be any length.
pub fn digits(parts: &[&str], count: usize) -> String {
    let lanes = count.div_ceil(LANE_DIGITS) as u64;
    let mut text = (0..lanes).fold(String::new(), |mut text, lane| {
        let hash = finish(parts.iter().fold(FNV_OFFSET ^ lane, absorb));
        write!(text, "{hash:016x}").expect("writing to a string cannot fail");
        text
    });
    text.truncate(count);
    text
}

/// FNV-1a over the part and a terminator that UTF-8 cannot contain, so that `ab, c` and `a, bc`
/// differ.
fn absorb(hash: u64, part: &&str) -> u64 {
    let bytes = part.bytes().chain([0xff]);
    bytes.fold(hash, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(FNV_PRIME))
}

/// Spreads the state over all bits, because plain FNV gives similar hashes for similar inputs.
fn finish(hash: u64) -> u64 {
    let hash = (hash ^ (hash >> 33)).wrapping_mul(0xff51_afd7_ed55_8ccd);
    let hash = (hash ^ (hash >> 33)).wrapping_mul(0xc4ce_b9fe_1a85_ec53);
    hash ^ (hash >> 33)
}

#[cfg(test)]
mod tests {
    use super::hex;

    #[test]
    fn digest_has_48_hexadecimal_digits() {
        let digest = hex(&["rs", "0"]);
        assert_eq!(digest.len(), 48);
        assert!(digest.bytes().all(|byte| byte.is_ascii_hexdigit()));
    }

    #[test]
    fn part_boundaries_change_the_digest() {
        assert_ne!(hex(&["ab", "c"]), hex(&["a", "bc"]));
        assert_eq!(hex(&["ab", "c"]), hex(&["ab", "c"]));
    }
}
