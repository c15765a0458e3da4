//! The same on PostgreSQL, beside a gateway.

use antiphon_testkit::postgres::Server;
use serde_json::Value;

use super::{BUSY, antiphon, ask, is_busy, lines, serve};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn tenant_is_exported_and_erased_while_a_gateway_runs() {
    let store = Server::shared().await.create_database().await;
    tokio::task::spawn_blocking(move || {
        let serving = serve(&store);
        let had = is_busy(&serving, "key-of-acme", "red");
        let others = is_busy(&serving, "key-of-globex", "blue");

        let exported = antiphon(&store, &["export", "--tenant", "acme"]);
        assert_eq!((exported.code, exported.stderr.as_str()), (Some(0), ""));
        assert!(exported.stdout.contains("My color is red"), "{}", exported.stdout);
        assert!(!exported.stdout.contains("blue"), "{}", exported.stdout);
        for id in had.responses.iter().chain([&had.conversation]) {
            assert!(exported.stdout.contains(id.as_str()));
        }

        let refused = antiphon(&store, &["erase", "--tenant", "acme"]);
        assert_eq!(refused.code, Some(1));
        assert!(refused.stderr.contains(BUSY), "{}", refused.stderr);
        let erased = antiphon(&store, &["erase", "--tenant", "acme", "--yes"]);
        assert_eq!(erased.stderr, "");
        assert_eq!(erased.stdout, format!("erased {BUSY} of the tenant 'acme'\n"));

        let listed = lines(&antiphon(&store, &["tenants"]).stdout);
        assert_eq!(listed.iter().map(|line| &line["tenant"]).collect::<Vec<_>>(), ["globex"]);
        let path = format!("/v1/responses/{}", others.responses[2]);
        ask(&serving, "key-of-globex", "GET", &path, &Value::Null);
        let gone = format!("/v1/responses/{}", had.responses[2]);
        let answer = serving.ask_with("GET", &gone, "authorization: Bearer key-of-acme", "");
        assert!(answer.starts_with("HTTP/1.1 404"), "{answer}");
    })
    .await
    .unwrap();
}
