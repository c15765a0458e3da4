//! Files embedded in a request as `data:` URLs.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

/// The length of an image's base64 that is searched for its size. Camera metadata may come before
/// the size.
const HEADER: usize = 256 << 10;

/// The media type and the data of a base64 data URL.
pub(super) fn data_url(text: &str) -> Option<(&str, &str)> {
    let (head, data) = text.strip_prefix("data:")?.split_once(',')?;
    Some((head.strip_suffix(";base64")?, data))
}

/// Width and height in pixels of an image in base64. `None` if its format is unknown.
pub(super) fn image_size(data: &str) -> Option<(u64, u64)> {
    let whole = data.len().min(HEADER) / 4 * 4;
    let header = STANDARD.decode(data.as_bytes().get(..whole)?).ok()?;
    let size = imagesize::blob_size(&header).ok()?;
    Some((size.width as u64, size.height as u64))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn image_size_is_read_from_its_beginning() {
        let png = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\x01\x90\0\0\x01\x2c\x08\x02\0\0\0";
        assert_eq!(image_size(&STANDARD.encode(png)), Some((400, 300)));
        let gif = b"GIF89a\x20\x03\x58\x02\x80\0\0";
        assert_eq!(image_size(&STANDARD.encode(gif)), Some((800, 600)));
        for data in ["", "AAA", "AAAA", "no base64", "R0lGODlhÄ"] {
            assert_eq!(image_size(data), None, "{data}");
        }
    }

    #[test]
    fn only_a_data_url_in_base64_has_data() {
        assert_eq!(data_url("data:image/png;base64,AAAA"), Some(("image/png", "AAAA")));
        for text in ["data:text/plain,hello", "https://example.com/cat.png", "data:", ""] {
            assert_eq!(data_url(text), None, "{text}");
        }
    }
}
