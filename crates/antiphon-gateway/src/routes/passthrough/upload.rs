//! A request body on its way to an upstream.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use axum::body::Body as AxumBody;
use bytes::Bytes;
use futures_util::stream;
use http_body::Frame;
use http_body_util::{BodyExt as _, StreamBody};
use tokio::time::{Instant, timeout_at};
use tokio_util::sync::{CancellationToken, DropGuard};

use super::body::InspectedBody;
use crate::entropy::from_now;
use crate::error::ApiError;
use crate::request_body::{PIECES, Pace};
use crate::settings::Limits;
use crate::upstream::{RequestBody, request_body};

/// The state of an upload, for the task that waits for the answer.
#[derive(Clone, Default)]
pub(super) struct Upload {
    ended: CancellationToken,
    fault: Arc<OnceLock<ApiError>>,
    bound: Option<(Instant, Duration)>,
}

impl Upload {
    /// The body to send, with the limits applied.
    pub(super) fn new(body: InspectedBody, limits: &Limits) -> (Self, RequestBody) {
        match body {
            InspectedBody::Whole { sent, .. } => {
                let upload = Self::default();
                upload.ended.cancel();
                (upload, request_body(sent))
            }
            InspectedBody::Begun { peeked, rest, .. } => {
                let time = limits.body_timeout.saturating_mul(PIECES);
                let upload = Self { bound: Some((from_now(time), time)), ..Self::default() };
                let body = UploadStream {
                    peeked,
                    rest,
                    sent: 0,
                    pace: Pace::new(limits.body_timeout),
                    limits: limits.clone(),
                    fault: Arc::clone(&upload.fault),
                    _ended: upload.ended.clone().drop_guard(),
                };
                (upload, body.into_body())
            }
        }
    }

    /// Waits until the upload has ended. If that takes too long, it fails as too slow.
    pub(super) async fn ended(&self) {
        let ended = self.ended.cancelled();
        match self.bound {
            None => ended.await,
            Some((end, time)) => {
                if timeout_at(end, ended).await.is_err() {
                    self.fault.get_or_init(|| ApiError::BodyTooSlow { bound: time });
                }
            }
        }
    }

    /// The error, if the caller caused the early end.
    pub(super) fn fault(&self) -> Option<ApiError> {
        self.fault.get().cloned()
    }
}

/// A body that is sent piece by piece.
struct UploadStream {
    peeked: Bytes,
    rest: AxumBody,
    sent: usize,
    pace: Pace,
    limits: Limits,
    fault: Arc<OnceLock<ApiError>>,
    _ended: DropGuard,
}

/// The caller's body broke off. [`Upload::fault`] has the reason.
#[derive(Debug, thiserror::Error)]
#[error("the caller's body broke off")]
struct BrokeOff;

impl UploadStream {
    fn into_body(self) -> RequestBody {
        let pieces = stream::unfold(Some(self), async |sending| {
            let mut sending = sending?;
            match sending.next().await {
                Ok(piece) => Some((Ok(Frame::data(piece?)), Some(sending))),
                Err(error) => {
                    sending.fault.get_or_init(|| error);
                    Some((Err(BrokeOff.into()), None))
                }
            }
        });
        StreamBody::new(pieces).boxed_unsync()
    }

    async fn next(&mut self) -> Result<Option<Bytes>, ApiError> {
        let piece = match std::mem::take(&mut self.peeked) {
            peeked if peeked.is_empty() => self.pace.next(&mut self.rest).await?,
            peeked => Some(peeked),
        };
        self.sent += piece.as_ref().map_or(0, Bytes::len);
        match self.sent > self.limits.max_body_bytes {
            true => Err(ApiError::BodyTooLarge { maximum: self.limits.max_body_bytes }),
            false => Ok(piece),
        }
    }
}
