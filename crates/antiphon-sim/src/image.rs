//! The size of an image that a request contains as a `data:` URL.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

/// The length of base64 that is searched for the size. Camera metadata may come before it.
const HEADER: usize = 256 << 10;

/// Width and height in pixels of an image in a base64 data URL. `None` if its format is unknown.
pub(super) fn size_of_data_url(url: &str) -> Option<(usize, usize)> {
    let (head, data) = url.strip_prefix("data:")?.split_once(',')?;
    head.strip_suffix(";base64")?;
    let whole = data.len().min(HEADER) / 4 * 4;
    let header = STANDARD.decode(data.as_bytes().get(..whole)?).ok()?;
    let size = imagesize::blob_size(&header).ok()?;
    Some((size.width, size.height))
}
