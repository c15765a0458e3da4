//! The API's routes.

mod azure_path;
mod background;
mod client_api;
mod conversation_header;
mod conversations;
mod extract;
mod faults;
mod forward;
mod gate;
mod gemini_key;
mod health;
mod identify;
mod inspect;
mod items;
mod metrics;
mod models;
mod openapi;
mod paging;
mod passthrough;
mod responses;
mod websocket;

use std::net::IpAddr;
use std::sync::Arc;

use axum::Router;
use axum::extract::{OriginalUri, Request, State};
use axum::middleware::{Next, from_fn, from_fn_with_state as layer};
use axum::response::{IntoResponse, Response};
use axum::routing::{MethodRouter, get, on, post};
use http::{Method, Uri, header};
use tower::util::MapRequest;

pub(crate) use self::metrics::metrics_router;
use crate::browser::PageGuard;
use crate::chunks::Chunks;
use crate::error::ApiError;
use crate::gateway::Gateway;

/// The router of all routes, also below the paths of Azure's clients. Every other URL gets an error
/// in the provider's form. `address` is the IP address of the listener.
pub(crate) fn router(gateway: &Arc<Gateway>, address: IpAddr) -> Router {
    let normalize = |request: Request| gemini_key::move_to_header(azure_path::normalize(request));
    let routes = v1_router(gateway, address);
    Router::new().fallback_service(MapRequest::new(routes, normalize))
}

/// Layers that belong together are one tuple, the outermost first: each call of `layer` puts a
/// route into one more box, which every layer outside it clones for each request.
fn v1_router(gateway: &Arc<Gateway>, address: IpAddr) -> Router {
    let with_gateway = || Arc::clone(gateway);
    // A model, which `show` reads, and the actions of the Gemini API on it.
    let model = |show: MethodRouter<Arc<Gateway>>| {
        post(client_api::act_on_model)
            .route_layer(layer(with_gateway(), gate::permit_turn))
            .merge(show)
            .fallback(not_allowed)
            .layer(from_fn(client_api::check_method))
    };
    // Routes of objects that an upstream may own.
    let owned = Router::new()
        .route("/responses/{id}", get(responses::show).delete(responses::delete))
        .route("/responses/{id}/input_items", get(responses::input_items))
        .route("/responses/{id}/cancel", post(background::cancel))
        .route("/conversations", post(conversations::create))
        .route(
            "/conversations/{id}",
            get(conversations::show).post(conversations::update).delete(conversations::delete),
        )
        .route("/conversations/{id}/items", get(items::list).post(items::create))
        .route("/conversations/{id}/items/{item_id}", get(items::show).delete(items::delete))
        .route_layer(layer(with_gateway(), forward::by_path));
    let client_apis = Router::new()
        .route("/chat/completions", post(client_api::complete_chat).get(passthrough::pass_through))
        .route("/messages", post(client_api::create_message).fallback(not_allowed))
        .route("/messages/count_tokens", post(client_api::count_tokens).fallback(not_allowed))
        .route_layer(layer(with_gateway(), gate::permit_turn));
    let v1 = Router::new()
        .route("/models", get(models::list))
        .route("/models/{*model}", model(get(models::show)))
        .route("/responses", post(responses::create).get(websocket::open))
        // These two paths are not response ids.
        .route(
            "/responses/compact",
            post(responses::compact).route_layer((
                layer(with_gateway(), gate::permit_turn),
                layer(with_gateway(), conversation_header::move_to_body),
                layer(with_gateway(), forward::by_body),
            )),
        )
        .route(
            "/responses/input_tokens",
            post(responses::count_input_tokens).route_layer((
                layer(with_gateway(), conversation_header::move_to_body),
                layer(with_gateway(), forward::by_body),
            )),
        )
        .route("/responses/{id}/report", get(responses::report))
        .route("/responses/{id}/context", get(responses::context))
        .route("/responses/{id}/end", post(background::end))
        .merge(owned)
        .merge(client_apis)
        .route(
            "/{*path}",
            on(passthrough::METHODS, passthrough::pass_through)
                .layer(layer(with_gateway(), gate::permit_turn)),
        )
        .layer(layer(with_gateway(), gate::admit));
    let gemini = Router::new()
        .route("/v1beta/models", get(client_api::list_gemini))
        .route("/v1beta/models/{*model}", model(get(client_api::show_gemini)))
        .layer(layer(with_gateway(), gate::admit));
    Router::new()
        .route("/healthz", get(health::live))
        .route("/readyz", get(health::ready))
        .route("/metrics", get(metrics::show))
        .route("/openapi.json", get(openapi::describe))
        .route("/faults/{name}", get(faults::show))
        .nest("/v1", v1)
        .merge(gemini)
        .merge(inspect::router(gateway, address))
        .fallback(unknown_route)
        .method_not_allowed_fallback(not_allowed)
        .layer(layer((with_gateway(), PageGuard::new(gateway, address)), surround))
        .with_state(Arc::clone(gateway))
}

/// Identifies each request, writes errors in the form of the client's API, and protects against web
/// pages: in one layer, because each layer costs work for each request.
async fn surround(
    State((gateway, guard)): State<(Arc<Gateway>, PageGuard)>,
    request: Request,
    next: Next,
) -> Response {
    let protected = |request| guard.protect(request, |request| next.run(request));
    let written = |request| client_api::write_errors(request, protected);
    identify::identify(&gateway, request, written).await
}

async fn unknown_route(method: Method, OriginalUri(uri): OriginalUri) -> ApiError {
    unknown_url(&method, &uri)
}

fn unknown_url(method: &Method, uri: &Uri) -> ApiError {
    ApiError::UnknownUrl { method: method.clone(), path: uri.path().into() }
}

async fn not_allowed(method: Method, OriginalUri(uri): OriginalUri) -> ApiError {
    wrong_method(&method, &uri)
}

fn wrong_method(method: &Method, uri: &Uri) -> ApiError {
    ApiError::MethodNotAllowed { method: method.clone(), path: uri.path().into() }
}

/// An answer of JSON text.
pub(crate) fn json(text: impl Into<axum::body::Body>) -> Response {
    ([(header::CONTENT_TYPE, "application/json")], text.into()).into_response()
}

/// An answer of JSON text in chunks. The text is sent without a copy, at the caller's pace.
fn json_in_chunks(text: Chunks) -> Response {
    json(axum::body::Body::new(text))
}
