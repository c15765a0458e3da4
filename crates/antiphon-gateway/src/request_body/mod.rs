//! Reads the bodies of requests: their size, their speed and their encoding have limits.

mod encoding;
mod pace;

use axum::body::Body;
use axum::extract::Request;
use bytes::Bytes;
use http::header;
use http_body::Body as _;
use http_body_util::BodyExt as _;
use tokio::time::timeout;

pub(crate) use self::encoding::Encoding;
pub(crate) use self::pace::{PIECES, Pace};
use crate::error::ApiError;
use crate::settings::Limits;

/// Reads and drops the body of a rejected request.
///
/// Most clients read the answer only after they have sent the whole body, and would otherwise see a
/// broken connection. A client that sent `Expect` waits for permission, so its body is not read. If
/// the body takes too long, or exceeds the limit by itself, the rest stays unread and the
/// connection closes.
pub(crate) async fn discard(request: Request, limits: &Limits) {
    if request.headers().contains_key(header::EXPECT) {
        return;
    }
    let mut body = request.into_body();
    let mut passed = 0;
    let passing = async {
        while passed <= limits.max_body_bytes
            && let Some(Ok(frame)) = body.frame().await
        {
            passed += frame.data_ref().map_or(0, Bytes::len);
        }
    };
    // The amount of data that was read does not matter.
    drop(timeout(limits.body_timeout, passing).await);
}

/// Reads the whole body. Reserves the announced length if it is within bounds; the system provides
/// the memory only as data arrives.
pub(crate) async fn read_whole(body: &mut Body, limits: &Limits) -> Result<Bytes, ApiError> {
    let maximum = limits.max_body_bytes;
    let mut whole = Vec::with_capacity(check_announced(body, limits)?);
    let mut pace = Pace::new(limits.body_timeout);
    while let Some(piece) = pace.next(body).await? {
        if whole.len() + piece.len() > maximum {
            return Err(ApiError::BodyTooLarge { maximum });
        }
        whole.extend_from_slice(&piece);
    }
    Ok(whole.into())
}

/// The announced length of the body, in bytes. Fails if it is out of bounds.
pub(crate) fn check_announced(body: &Body, limits: &Limits) -> Result<usize, ApiError> {
    let announced = usize::try_from(body.size_hint().lower()).unwrap_or(usize::MAX);
    if announced > limits.max_body_bytes {
        return Err(ApiError::BodyTooLarge { maximum: limits.max_body_bytes });
    }
    Ok(announced)
}
