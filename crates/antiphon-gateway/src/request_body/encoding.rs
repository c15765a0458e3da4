//! Request bodies with a content encoding.

use std::io::Read as _;

use bytes::Bytes;
use flate2::read::MultiGzDecoder;
use http::{HeaderMap, header};

use crate::error::ApiError;

/// The content encoding of a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Encoding {
    /// No encoding.
    Identity,
    /// gzip.
    Gzip,
}

impl Encoding {
    /// The encoding of a body with these headers. Rejects every encoding except gzip.
    pub(crate) fn from_headers(headers: &HeaderMap) -> Result<Self, ApiError> {
        let mut values = headers.get_all(header::CONTENT_ENCODING).iter();
        let encoding = values.next().map(|value| value.to_str().unwrap_or("?").trim());
        match (encoding.map(str::to_ascii_lowercase).as_deref(), values.next()) {
            (None | Some("" | "identity"), None) => Ok(Self::Identity),
            (Some("gzip" | "x-gzip"), None) => Ok(Self::Gzip),
            _ => Err(ApiError::UnsupportedEncoding),
        }
    }

    /// Decodes the body. Fails if the result has more than `maximum` bytes.
    pub(crate) fn decode(self, body: Bytes, maximum: usize) -> Result<Bytes, ApiError> {
        match self {
            Self::Identity => Ok(body),
            Self::Gzip if body.is_empty() => Ok(body),
            Self::Gzip => unzipped(&body, maximum),
        }
    }
}

/// Decompresses a body. Memory grows with the output and is not reserved in advance: a short body
/// may decompress to any length.
fn unzipped(body: &[u8], maximum: usize) -> Result<Bytes, ApiError> {
    let beyond = u64::try_from(maximum).unwrap_or(u64::MAX).saturating_add(1);
    let mut whole = Vec::new();
    let read = MultiGzDecoder::new(body).take(beyond).read_to_end(&mut whole);
    match read {
        Err(_) => Err(ApiError::InvalidGzip),
        Ok(length) if length > maximum => Err(ApiError::BodyTooLarge { maximum }),
        Ok(_) => Ok(whole.into()),
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use flate2::Compression;
    use flate2::write::GzEncoder;
    use http::HeaderValue;

    use super::*;

    fn zipped(text: &[u8]) -> Bytes {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
        encoder.write_all(text).unwrap();
        encoder.finish().unwrap().into()
    }

    #[test]
    fn gzip_is_decoded_within_the_bound() {
        let text = vec![b'x'; 1000];
        let decode = |body, maximum| Encoding::Gzip.decode(body, maximum);
        assert_eq!(decode(zipped(&text), 1000).unwrap(), text);
        assert_eq!(
            decode(zipped(&text), 999).unwrap_err(),
            ApiError::BodyTooLarge { maximum: 999 }
        );
        let cut = zipped(&text).slice(..20);
        assert_eq!(decode(cut, 1000).unwrap_err(), ApiError::InvalidGzip);
    }

    #[test]
    fn other_encodings_are_refused() {
        let of = |text| {
            let value = HeaderValue::from_static(text);
            Encoding::from_headers(&HeaderMap::from_iter([(header::CONTENT_ENCODING, value)]))
        };
        assert_eq!(of("GZip"), Ok(Encoding::Gzip));
        assert_eq!(of("identity"), Ok(Encoding::Identity));
        for other in ["br", "zstd", "deflate", "gzip, gzip"] {
            assert_eq!(of(other), Err(ApiError::UnsupportedEncoding), "{other}");
        }
        assert_eq!(Encoding::from_headers(&HeaderMap::new()), Ok(Encoding::Identity));
    }
}
