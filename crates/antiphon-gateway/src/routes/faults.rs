//! `GET /faults/{name}`: the page of a fault or of a repair. It needs no key, and holds no data of
//! a tenant.

use axum::response::{IntoResponse as _, Response};
use http::header;

use super::extract::Path;
use crate::error::ApiError;
use crate::fault_pages;

const MARKDOWN: &str = "text/markdown; charset=utf-8";

pub(super) async fn show(Path(name): Path<String>) -> Result<Response, ApiError> {
    let text = fault_pages::find(&name).ok_or(ApiError::FaultNotFound { name })?;
    let head = [(header::CONTENT_TYPE, MARKDOWN), (header::X_CONTENT_TYPE_OPTIONS, "nosniff")];
    Ok((head, text).into_response())
}
