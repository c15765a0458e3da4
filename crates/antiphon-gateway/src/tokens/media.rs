//! Token counts of images, audio and files.
//!
//! Source: the providers' guides. OpenAI: an image of low detail has 85 tokens. Any other image is
//! scaled to fit into 2048 by 2048 pixels, then its shorter side to 768 pixels; it has 170 tokens
//! per tile of 512 by 512, plus 85. Audio has 10 tokens per second. Anthropic: a page of a PDF has
//! 1,500 to 3,000 tokens.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value};

use super::data_url::{data_url, image_size};
use super::vocabulary::Counter;

const LOW_DETAIL: u64 = 85;
const TILE: u64 = 170;
/// An image of unknown size counts as four tiles.
const UNKNOWN_IMAGE: u64 = LOW_DETAIL + 4 * TILE;

/// The tokens of a page, and the assumed bytes of a page.
const TOKENS_PER_PAGE: u64 = 2250;
const BYTES_PER_PAGE: u64 = 50_000;

/// The tokens of a second of audio, and the assumed bytes of a second: an MP3 with 128 kbit/s.
const TOKENS_PER_SECOND: u64 = 10;
const BYTES_PER_SECOND: u64 = 16_000;

/// Whether an item may have more tokens than bytes: a short reference can name an image.
pub(super) fn may_be_in(item: &[u8]) -> bool {
    let parts: [&[u8]; 4] = [b"_image", b"image_", b"_file", b"screenshot"];
    parts.iter().any(|part| memchr::memmem::find(item, part).is_some())
}

/// The tokens of a part that is not text. `None` for all other objects.
pub(super) fn count_part(counter: &mut Counter, part: &Map<String, Value>) -> Option<u64> {
    let text = |key: &str| part.get(key).and_then(Value::as_str);
    match text("type")? {
        "input_image" | "computer_screenshot" | "output_image" => {
            let is_low = text("detail") == Some("low");
            let size = text("image_url").and_then(data_url).and_then(|(_, data)| image_size(data));
            Some(if is_low { LOW_DETAIL } else { size.map_or(UNKNOWN_IMAGE, tiles) })
        }
        "image_generation_call" => Some(text("result").map_or(0, |_| UNKNOWN_IMAGE)),
        "input_file" => {
            let name = text("filename").map_or(0, |name| counter.count(name));
            Some(name + text("file_data").map_or(TOKENS_PER_PAGE, |data| count_file(counter, data)))
        }
        "input_audio" => {
            let data = part.get("input_audio").and_then(|audio| audio["data"].as_str());
            let bytes = decoded_length(data.or(text("data")).unwrap_or_default());
            Some(bytes.div_ceil(BYTES_PER_SECOND) * TOKENS_PER_SECOND)
        }
        _ => None,
    }
}

/// The tokens of a data URL, which does not count as text. `None` for all other texts.
pub(super) fn count_data_url(counter: &mut Counter, text: &str) -> Option<u64> {
    let (kind, data) = data_url(text)?;
    Some(match kind.starts_with("image/") {
        true => image_size(data).map_or(UNKNOWN_IMAGE, tiles),
        false => count_file(counter, text),
    })
}

/// A text file counts as its text, any other file by its pages.
fn count_file(counter: &mut Counter, data: &str) -> u64 {
    let (kind, data) = data_url(data).unwrap_or(("", data));
    let is_text = kind.starts_with("text/") || kind == "application/json";
    let text = is_text.then(|| STANDARD.decode(data).ok()).flatten();
    match text.and_then(|text| String::from_utf8(text).ok()) {
        Some(text) => counter.count(&text),
        None => decoded_length(data).div_ceil(BYTES_PER_PAGE) * TOKENS_PER_PAGE,
    }
}

fn decoded_length(base64: &str) -> u64 {
    base64.len() as u64 / 4 * 3
}

fn tiles((width, height): (u64, u64)) -> u64 {
    let (width, height) = shrunk((width, height), width.max(height), 2048);
    let (width, height) = shrunk((width, height), width.min(height), 768);
    LOW_DETAIL + TILE * width.div_ceil(512) * height.div_ceil(512)
}

/// The scaled size at which `side` is at most `most`.
fn shrunk((width, height): (u64, u64), side: u64, most: u64) -> (u64, u64) {
    if side <= most {
        return (width, height);
    }
    let shrink = |length: u64| length.saturating_mul(most) / side;
    (shrink(width), shrink(height))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn tokens(part: &Value) -> Option<u64> {
        count_part(&mut Counter::for_model(""), part.as_object()?)
    }

    /// The header of a PNG of this size, followed by many other bytes.
    fn png(width: u32, height: u32) -> String {
        let mut image = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR".to_vec();
        image.extend(width.to_be_bytes());
        image.extend(height.to_be_bytes());
        image.resize(100_000, 7);
        format!("data:image/png;base64,{}", STANDARD.encode(image))
    }

    /// Source: the examples in OpenAI's guide.
    #[test]
    fn images_count_by_their_size_and_detail() {
        let image = |url: &str, detail: &str| {
            tokens(&json!({"type": "input_image", "image_url": url, "detail": detail}))
        };
        assert_eq!(image(&png(1024, 1024), "high"), Some(765));
        assert_eq!(image(&png(2048, 4096), "high"), Some(1105));
        assert_eq!(image(&png(4096, 8192), "low"), Some(85));
        assert_eq!(image("https://example.com/cat.png", "auto"), Some(765));
        assert_eq!(image("data:image/png;base64,AAAA", "auto"), Some(765));
    }

    #[test]
    fn files_count_by_their_text_or_their_pages() {
        let file = |url: &str| tokens(&json!({"type": "input_file", "file_data": url}));
        let text = format!("data:text/plain;base64,{}", STANDARD.encode("Hello there"));
        assert_eq!(file(&text), Some(2));
        let pages = format!("data:application/pdf;base64,{}", STANDARD.encode(vec![1; 90_000]));
        assert_eq!(file(&pages), Some(2 * TOKENS_PER_PAGE));
        assert_eq!(
            tokens(&json!({"type": "input_file", "file_id": "file_1"})),
            Some(TOKENS_PER_PAGE)
        );
    }

    #[test]
    fn data_url_does_not_count_as_text() {
        let mut counter = Counter::for_model("");
        assert_eq!(count_data_url(&mut counter, &png(512, 512)), Some(255));
        assert_eq!(count_data_url(&mut counter, "data: none, that is"), None);
        assert_eq!(tokens(&json!({"type": "input_text", "text": "Hello"})), None);
    }
}
