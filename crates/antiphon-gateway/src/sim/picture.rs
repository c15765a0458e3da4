//! What the bytes of a picture say of it.
//!
//! Source: the PNG and GIF89a specifications, and JFIF with the frame headers of ITU T.81.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

/// How much of a picture is looked at, in characters of base64: a multiple of four.
const LOOKED_AT: usize = 128 << 10;

/// The width and height of the picture in a `data:` URL, in pixels; `None` where its form is unknown
/// or it is no picture.
pub(super) fn size(data_url: &str) -> Option<(u32, u32)> {
    let (media, data) = data_url.strip_prefix("data:")?.split_once(',')?;
    if !media.ends_with(";base64") {
        return None;
    }
    let data = data.get(..LOOKED_AT).unwrap_or(data);
    let bytes = STANDARD.decode(data).ok()?;
    png(&bytes).or_else(|| gif(&bytes)).or_else(|| jpeg(&bytes))
}

fn png(bytes: &[u8]) -> Option<(u32, u32)> {
    let header = bytes.strip_prefix(b"\x89PNG\r\n\x1a\n")?.get(4..16)?.strip_prefix(b"IHDR")?;
    let number = |at: usize| Some(u32::from_be_bytes(header.get(at..at + 4)?.try_into().ok()?));
    Some((number(0)?, number(4)?))
}

fn gif(bytes: &[u8]) -> Option<(u32, u32)> {
    let screen = bytes.strip_prefix(b"GIF8")?.get(2..6)?;
    let number = |at: usize| u32::from(u16::from_le_bytes([screen[at], screen[at + 1]]));
    Some((number(0), number(2)))
}

/// The segments of a JPEG up to the one that begins its frame.
fn jpeg(bytes: &[u8]) -> Option<(u32, u32)> {
    let mut rest = bytes.strip_prefix(b"\xff\xd8")?;
    loop {
        let [0xff, marker, high, low, body @ ..] = rest else { return None };
        let length = usize::from(u16::from_be_bytes([*high, *low]));
        let begins_frame = matches!(marker, 0xc0..=0xcf) && !matches!(marker, 0xc4 | 0xc8 | 0xcc);
        if begins_frame {
            let number = |at: usize| {
                Some(u32::from(u16::from_be_bytes(body.get(at..at + 2)?.try_into().ok()?)))
            };
            return Some((number(3)?, number(1)?));
        }
        rest = body.get(length.checked_sub(2)?..)?;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn url(media: &str, bytes: &[u8]) -> String {
        format!("data:{media};base64,{}", STANDARD.encode(bytes))
    }

    #[test]
    fn the_head_of_a_picture_says_how_large_it_is() {
        let png = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\x01\x90\0\0\x01\x2c\x08\x02\0\0\0";
        assert_eq!(size(&url("image/png", png)), Some((400, 300)));
        let gif = b"GIF89a\x20\x03\x58\x02\x80\0\0";
        assert_eq!(size(&url("image/gif", gif)), Some((800, 600)));
        let jpeg = b"\xff\xd8\xff\xe0\0\x04ab\xff\xc2\0\x11\x08\0\x10\0\x20\x03";
        assert_eq!(size(&url("image/jpeg", jpeg)), Some((32, 16)));
    }

    #[test]
    fn of_what_is_no_picture_nothing_is_known() {
        for bytes in
            [&b""[..], b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff\xe0\0\0", b"\xff\xd8\xff", b"GIF8"]
        {
            assert_eq!(size(&url("image/png", bytes)), None);
        }
        assert_eq!(size("data:image/png;base64,AAA"), None);
        assert_eq!(size("data:text/plain,hello"), None);
        assert_eq!(size("https://example.com/cat.png"), None);
    }
}
