use std::time::Duration;

use axum::body::to_bytes;
use axum::response::IntoResponse as _;
use http::HeaderMap;

use super::{ApiError, Hint, QuotaHolder};
use crate::error::UpstreamRejection;

async fn answer(error: ApiError) -> (u16, HeaderMap, String) {
    let response = error.into_response();
    let (status, headers) = (response.status().as_u16(), response.headers().clone());
    let body = to_bytes(response.into_body(), usize::MAX).await.unwrap();
    (status, headers, String::from_utf8(body.to_vec()).unwrap())
}

#[tokio::test]
async fn answer_has_all_fields_as_strings() {
    let missing = ApiError::MissingParameter { name: "model".into() };
    assert_eq!(missing.code(), "missing_required_parameter");
    assert_eq!(missing.param(), Some("model"));

    let (status, headers, body) = answer(missing).await;

    assert_eq!((status, &headers["content-type"]), (400, &"application/json".parse().unwrap()));
    assert!(!headers.contains_key("retry-after"));
    assert_eq!(
        body,
        concat!(
            r#"{"error":{"message":"Missing required parameter: 'model'.","#,
            r#""type":"invalid_request_error","param":"model","#,
            r#""code":"missing_required_parameter"}}"#,
        )
    );
}

#[tokio::test]
async fn error_without_code_has_its_type_as_code() {
    let unknown = ApiError::ResponseNotFound { id: "resp_1".into(), hint: Hint::None };
    assert_eq!((unknown.code(), unknown.param()), ("invalid_request_error", None));

    let (status, _, body) = answer(unknown).await;

    assert_eq!(status, 404);
    assert_eq!(
        body,
        concat!(
            r#"{"error":{"message":"Response with id 'resp_1' not found.","#,
            r#""type":"invalid_request_error","param":"","code":""}}"#,
        )
    );
}

#[tokio::test]
async fn rate_limit_has_retry_headers() {
    let limited = ApiError::RateLimited { burst: 3, wait: Duration::from_millis(1500) };

    let (status, headers, body) = answer(limited).await;

    assert_eq!(status, 429);
    assert_eq!((&headers["retry-after"], &headers["retry-after-ms"]), (&2.into(), &1500.into()));
    assert!(body.contains(r#""type":"too_many_requests""#), "{body}");
    assert!(body.contains(r#""code":"rate_limit_exceeded""#), "{body}");
    assert!(body.contains("at most 3 requests may come at once"), "{body}");
}

#[test]
fn exceeded_quota_is_not_retryable() {
    let quota =
        |holder| ApiError::QuotaExceeded { holder, unit: "items", maximum: 10, held: 9, added: 2 };
    let (tenant, conversation) = (quota(QuotaHolder::Tenant), quota(QuotaHolder::Conversation));
    assert_eq!((tenant.status().as_u16(), tenant.param()), (403, None));
    assert_eq!(
        (conversation.code(), conversation.param()),
        ("quota_exceeded", Some("conversation"))
    );
    assert!(conversation.headers().is_empty());
}

#[tokio::test]
async fn translated_error_differs_only_in_its_message() {
    let original = ApiError::StoreUnavailable;
    let translated =
        ApiError::Translated { error: Box::new(original.clone()), message: "conv_1".into() };

    assert_eq!(translated.headers(), original.headers());
    let ((status, _, body), (other, _, text)) = (answer(translated).await, answer(original).await);
    assert_eq!((status, other), (503, 503));
    let message = "The store of conversations is unavailable. Nothing was changed. Please retry.";
    assert_eq!(body, text.replace(message, "conv_1"));
}

#[tokio::test]
async fn upstreams_error_keeps_its_bytes() {
    let headers: HeaderMap = [(http::header::RETRY_AFTER, 7.into())].into_iter().collect();
    let status = http::StatusCode::TOO_MANY_REQUESTS;
    let rejection = UpstreamRejection { status, headers, body: r#"{ "error": 1 }"#.into() };

    let (status, headers, body) = answer(ApiError::Upstream(Box::new(rejection))).await;

    assert_eq!((status, &headers["retry-after"], &*body), (429, &7.into(), r#"{ "error": 1 }"#));
}
