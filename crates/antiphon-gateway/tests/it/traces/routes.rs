//! Requests that are no turns.

use http::Method;

use super::TracedWorld;

#[tokio::test]
async fn every_route_but_probes_has_a_span() {
    let traced = TracedWorld::new().await;
    let client = traced.world.client();
    let conversation = client.new_conversation().await;
    for (method, path) in [
        (Method::GET, "/healthz".to_owned()),
        (Method::GET, "/readyz".to_owned()),
        (Method::GET, format!("/v1/conversations/{conversation}/items?limit=3")),
        (Method::DELETE, "/v1/responses/resp_unknown".to_owned()),
        (Method::GET, "/elsewhere".to_owned()),
    ] {
        client.send(method, &path, "").await;
    }

    let traces = traced.traces_with(4, |span| span.parent.is_empty()).await;

    let roots: Vec<_> = traces.iter().map(|trace| &trace.0[0]).collect();
    let facts = roots.iter().map(|it| (&*it.name, it.int("http.response.status_code")));
    assert_eq!(
        facts.collect::<Vec<_>>(),
        [
            ("POST /v1/conversations", Some(200)),
            ("GET /v1/conversations/{id}/items", Some(200)),
            ("DELETE /v1/responses/{id}", Some(404)),
            ("GET", Some(404)),
        ]
    );
    assert_eq!(roots[1].text("url.path"), format!("/v1/conversations/{conversation}/items"));
    assert!(roots.iter().all(|root| !root.is_error));
}

#[tokio::test]
async fn lists_of_models_have_spans_of_their_upstreams() {
    let traced = TracedWorld::new().await;
    traced.world.client().get("/v1/models").await;
    let trace = traced.traces_with(1, |span| span.name == "GET /v1/models").await.remove(0);
    assert_eq!(trace.tree(), "GET /v1/models\n  GET /models\n");
}
