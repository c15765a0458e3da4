//! `GET /openapi.json`: the API as an `OpenAPI` 3.1 document.

use axum::response::Response;

use super::json;

/// Every path and method, with the accepted requests and all possible answers. The tests compare
/// the document with the routes, and `cargo xtask test --only openapi` compares the answers with
/// it.
const DOCUMENT: &str = include_str!("openapi.json");

pub(super) async fn describe() -> Response {
    json(DOCUMENT)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use serde_json::Value;

    use super::*;

    const ROUTES: &str = include_str!("mod.rs");
    /// The pass-through route, which has no paths of its own.
    const ANY_OTHER: &str = "/{}";

    fn document() -> Value {
        serde_json::from_str(DOCUMENT).unwrap()
    }

    /// A path without the names of its parameters, and without an action after a colon.
    fn unnamed(path: &str) -> String {
        let path = path.split(':').next().unwrap();
        let mut pieces = path.split('{');
        let first = pieces.next().unwrap_or_default().to_owned();
        pieces.fold(first, |path, piece| path + "{}" + piece.split_once('}').unwrap().1)
    }

    /// The paths in the source of the router.
    fn routed() -> BTreeSet<String> {
        let routes = ROUTES.split(".route(").skip(1);
        routes.map(|route| unnamed(route.split('"').nth(1).unwrap())).collect()
    }

    #[test]
    fn document_describes_every_route() {
        let described = document();
        let described = described["paths"].as_object().unwrap().keys();
        let described: BTreeSet<String> = described.map(|path| unnamed(path)).collect();
        let with_prefix = |route: String| match described.contains(&route) {
            true => route,
            false => format!("/v1{route}"),
        };
        let routed = routed().into_iter().filter(|route| route != ANY_OTHER);
        assert_eq!(routed.map(with_prefix).collect::<BTreeSet<_>>(), described);
    }

    #[test]
    fn document_has_the_crate_version() {
        assert_eq!(document()["info"]["version"], env!("CARGO_PKG_VERSION"));
    }

    #[test]
    fn every_reference_resolves() {
        let document = document();
        let names = DOCUMENT.split("\"$ref\": \"#").skip(1);
        for name in names.map(|rest| rest.split('"').next().unwrap()) {
            assert!(document.pointer(name).is_some(), "{name}");
        }
    }

    #[test]
    fn operation_names_are_unique() {
        let document = document();
        let paths = document["paths"].as_object().unwrap().values();
        let entries = paths.flat_map(|path| path.as_object().unwrap().values());
        let names: Vec<&str> =
            entries.filter_map(|operation| operation["operationId"].as_str()).collect();
        assert_eq!(names.iter().collect::<BTreeSet<_>>().len(), names.len());
    }
}
