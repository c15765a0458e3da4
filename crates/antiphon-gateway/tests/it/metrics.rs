//! `GET /metrics`: what the gateway counts.

use std::time::Duration;

use antiphon_gateway::settings::{
    ApiKey, KeyHash, ModelPattern, Price, Prices, Retries, Settings, UpstreamSettings,
};
use antiphon_mock::{Answer, Reply};
use antiphon_store::Tenant;
use http::StatusCode;
use serde_json::{Value, json};

use crate::support::{
    Client, METRICS_KEY, MODEL, MODES, Mode, SIM, Scrape, World, ask, call, create, terminal,
    wait_for_metric,
};

/// A gateway whose upstream is called `main`.
async fn world_with(change: impl FnOnce(&mut Settings)) -> World {
    World::with(|settings| {
        settings.metrics.key = Some(KeyHash::from_key(METRICS_KEY));
        settings.upstreams[0].name = Some("main".to_owned());
        change(settings);
    })
    .await
}

async fn world() -> World {
    world_with(|_| {}).await
}

fn operator(world: &World) -> Client {
    world.caller(METRICS_KEY)
}

/// An answer with these tokens.
fn answer_with_usage(input: u64, cached: u64, output: u64, reasoning: u64) -> Reply {
    let usage = json!({
        "input_tokens": input, "input_tokens_details": {"cached_tokens": cached},
        "output_tokens": output, "output_tokens_details": {"reasoning_tokens": reasoning},
        "total_tokens": input + output,
    });
    let content = json!([{"type": "output_text", "text": "Noted.", "annotations": []}]);
    let message = json!({"type": "message", "id": "msg_1", "role": "assistant",
        "status": "completed", "content": content});
    let response = json!({"id": "resp_1", "object": "response", "status": "completed",
        "model": MODEL, "output": [message], "usage": usage});
    Reply::json(StatusCode::OK, &response)
}

fn error(status: StatusCode) -> Reply {
    let error = json!({"error": {"message": "No.", "type": "x", "param": null, "code": null}});
    Reply::json(status, &error).header("retry-after-ms", "1")
}

fn turns(outcome: &str) -> String {
    format!("antiphon_turns_total{{api=\"responses\",outcome=\"{outcome}\",upstream=\"main\"}}")
}

#[tokio::test]
async fn turns_are_counted_by_outcome() {
    let world = world().await;
    let client = world.client();
    for mode in MODES {
        client.turn(mode, &ask("Hello")).await;
    }
    client.turn(Mode::Whole, &ask("Hello").model(SIM)).await;
    let keyed = client.clone().with_header("idempotency-key", "once");
    keyed.turn(Mode::Whole, &ask("Hello again")).await;
    keyed.turn(Mode::Whole, &ask("Hello again")).await;
    client.create(Mode::Whole, &ask("Hello").after("resp_unknown")).await;
    client.create(Mode::Whole, &ask(Value::from(7))).await;
    world.script(error(StatusCode::INTERNAL_SERVER_ERROR));
    client.create(Mode::Whole, &ask("Hello")).await;

    let scrape = Scrape::read(&operator(&world)).await;

    assert_eq!(scrape.count(&turns("completed")), 3);
    assert_eq!(scrape.count(&turns("replayed")), 1);
    assert_eq!(scrape.count(&turns("refused")), 1);
    assert_eq!(scrape.count(&turns("failed")), 1);
    let sim = r#"antiphon_turns_total{api="responses",outcome="completed",upstream="sim"}"#;
    assert_eq!(scrape.count(sim), 1);
    let unreadable = r#"antiphon_turns_total{api="none",outcome="refused",upstream="none"}"#;
    assert_eq!(scrape.count(unreadable), 1);
    let code = r#"antiphon_turn_errors_total{code="previous_response_not_found",upstream="main"}"#;
    assert_eq!(scrape.count(code), 1);
    assert_eq!(scrape.count("antiphon_turns_open"), 0);
    assert_eq!(scrape.count("antiphon_turn_own_seconds_count"), 4);
    let total = r#"antiphon_turn_seconds_count{upstream="main"}"#;
    let first_event = r#"antiphon_turn_first_event_seconds_count{upstream="main"}"#;
    assert_eq!((scrape.count(total), scrape.count(first_event)), (3, 1));
    let requests = r#"antiphon_http_requests_total{route="/v1/responses",status="200"}"#;
    assert_eq!(scrape.count(requests), 5);
}

#[tokio::test]
async fn tokens_and_cost_are_counted_by_model() {
    let model = ModelPattern::new("fake-*");
    let price =
        Price { model, input: 2.0, cached_input: Some(0.5), cache_write: None, output: 10.0 };
    let world = world_with(|settings| {
        settings.prices = Prices { currency: Some("USD".to_owned()), models: vec![price] };
    })
    .await;
    let client = world.client();
    world.script(answer_with_usage(1000, 400, 50, 20));
    let turn = client.turn(Mode::Whole, &ask("Hello")).await;
    world.script(answer_with_usage(2000, 0, 0, 0));
    client.turn(Mode::Whole, &ask("Hello").model("foreign-model")).await;

    let scrape = Scrape::read(&operator(&world)).await;

    let tokens = |kind: &str, model: &str| {
        let labels = format!("{{model=\"{model}\",upstream=\"main\"}}");
        scrape.count(&format!("antiphon_{kind}_total{labels}"))
    };
    let counted = |kind: &str| (tokens(kind, MODEL), tokens(kind, "foreign-model"));
    assert_eq!(counted("input_tokens"), (1000, 2000));
    assert_eq!(counted("cached_tokens"), (400, 0));
    assert_eq!(counted("output_tokens"), (50, 0));
    assert_eq!(counted("reasoning_tokens"), (20, 0));
    // 600 at 2, 400 at 0.5 and 50 at 10, each for a million.
    let cost = |model: &str| {
        scrape.text(&format!("antiphon_cost_total{{model=\"{model}\",upstream=\"main\"}}"))
    };
    assert_eq!((cost(MODEL), cost("foreign-model")), (Some("0.0019"), None));
    let report = client.report(turn.id()).await;
    assert_eq!(report["cost"], json!({"amount": 0.0019, "currency": "USD"}));
}

#[tokio::test]
async fn items_and_repairs_are_counted() {
    let world = world().await;
    let client = world.client();
    let input = json!([
        {"role": "user", "content": "My color is purple"},
        call("call_1", "hello"),
        {"role": "user", "content": "What is my color?"},
    ]);
    let conversation = client.new_conversation().await;
    client.turn(Mode::Whole, &ask(input.clone()).within(&conversation)).await;
    client.turn(Mode::Whole, &ask(input).within(&conversation)).await;

    let scrape = Scrape::read(&operator(&world)).await;

    let items = |fate: &str| scrape.count(&format!("antiphon_items_{fate}_total"));
    assert_eq!((items("received"), items("output")), (6, 2));
    assert!(items("known") >= 1 && items("new") >= 3, "{scrape:?}");
    let repaired = r#"antiphon_items_repaired_total{fault="unanswered_call"}"#;
    assert_eq!(scrape.count(repaired), 2);
}

#[tokio::test]
async fn retries_and_errors_of_upstreams_are_counted() {
    let world = world_with(|settings| {
        let retries = Retries { max: 1, ..Retries::default() };
        let main = settings.upstreams[0].clone();
        settings.upstreams = vec![UpstreamSettings { retries, ..main }];
    })
    .await;
    let client = world.client();
    world.script(error(StatusCode::SERVICE_UNAVAILABLE));
    client.turn(Mode::Whole, &ask("Hello")).await;
    let broken = Answer::new(MODEL).message("Once upon a time");
    world.script(Reply::sse(broken.frames()).break_after(4));
    client.create(Mode::Streamed, &ask("Hello")).await;

    let scrape = Scrape::read(&operator(&world)).await;

    assert_eq!(scrape.count(r#"antiphon_upstream_retries_total{upstream="main"}"#), 1);
    let errors = |kind: &str| {
        let series =
            format!("antiphon_upstream_errors_total{{error=\"{kind}\",upstream=\"main\"}}");
        scrape.count(&series)
    };
    assert_eq!((errors("503"), errors("broke_off")), (1, 1));
    assert_eq!(scrape.count(&turns("failed")), 1);
}

#[tokio::test]
async fn waiting_turn_is_counted() {
    let world = world().await;
    let (client, operator) = (world.client(), operator(&world));
    let conversation = client.new_conversation().await;
    let answer = Answer::new(MODEL).message("Noted.");
    let exchange = world.script(Reply::sse(answer.frames()).hang_after(terminal(&answer)));
    let mut first = client.stream(&ask("One").within(&conversation)).await;
    first.until("response.output_item.done").await;
    let second = tokio::spawn({
        let (client, two) = (client.clone(), ask("Two").within(&conversation));
        async move { client.turn(Mode::Whole, &two).await }
    });

    let waiting = wait_for_metric(&operator, "antiphon_turns_waiting", 1).await;
    assert_eq!(waiting.count("antiphon_turns_open"), 2);
    exchange.release_all();
    first.all().await;
    second.await.unwrap();

    let ended = wait_for_metric(&operator, "antiphon_turns_open", 0).await;
    assert_eq!(ended.count("antiphon_turns_waiting"), 0);
    assert_eq!(ended.count("antiphon_queue_wait_seconds_count"), 1);
}

#[tokio::test]
async fn disconnected_turn_is_counted() {
    let world = world().await;
    let (client, operator) = (world.client(), operator(&world));
    let answer = Answer::new(MODEL).message("Noted.");
    let exchange = world.script(Reply::sse(answer.frames()).hang_after(3));
    let mut stream = client.stream(&ask("Hello")).await;
    stream.until("response.output_item.added").await;
    drop(stream);
    world.wait_for_disconnect(&exchange).await;

    let scrape = wait_for_metric(&operator, &turns("disconnected"), 1).await;
    assert_eq!(scrape.count(&turns("cancelled")), 0);
}

#[tokio::test]
async fn open_things_are_counted() {
    let world = world().await;
    let (client, operator) = (world.client(), operator(&world));
    let answer = Answer::new(MODEL).message("Noted.");
    let exchange = world.script(Reply::sse(answer.frames()).hang_after(3));
    let job = client.create(Mode::Whole, &ask("Hello").field("background", true)).await.json();
    let mut socket = client.socket().await;
    let open = wait_for_metric(&operator, "antiphon_websockets_open", 1).await;
    assert_eq!(open.count("antiphon_background_responses_open"), 1);
    assert!(open.count("antiphon_connections_open") >= 2, "{open:?}");

    socket.send(&create(&ask("Hello").model(SIM))).await;
    drop(socket);
    exchange.release_all();
    client.wait_until_ended(job["id"].as_str().unwrap()).await;

    wait_for_metric(&operator, "antiphon_websockets_open", 0).await;
    wait_for_metric(&operator, "antiphon_background_responses_open", 0).await;
}

#[tokio::test]
async fn store_and_process_are_measured() {
    let world = world().await;
    world.client().turn(Mode::Whole, &ask("Hello")).await;
    let scrape = Scrape::read(&operator(&world)).await;
    let commits = scrape.count("antiphon_store_commit_seconds_count");
    assert!(commits >= 1);
    assert_eq!(scrape.count("antiphon_store_commit_writes_count"), commits);
    assert_eq!(scrape.count("antiphon_store_commit_failures_total"), 0);
    assert_eq!(scrape.count("antiphon_store_writable"), 1);
    assert!(scrape.count("antiphon_store_connections_max") >= 2);
    if cfg!(target_os = "linux") {
        for metric in ["process_resident_memory_bytes", "process_open_fds", "process_max_fds"] {
            assert!(scrape.count(metric) > 1, "{metric}");
        }
    }
    assert!(scrape.count("process_start_time_seconds") > 1_700_000_000);
}

#[tokio::test]
async fn metrics_need_the_key_of_the_operator() {
    let world = world_with(|settings| {
        settings.api_keys = vec![ApiKey::new("key-of-acme", Tenant::new("acme"))];
    })
    .await;
    for (client, status) in [
        (world.anonymous_client(), 401),
        (world.caller("key-of-acme"), 401),
        (world.caller(METRICS_KEY), 200),
    ] {
        let answer = client.get("/metrics").await;
        assert_eq!(answer.status(), status);
    }
    let refused = world.caller(METRICS_KEY).get("/v1/models").await;
    assert_eq!(refused.status(), 401, "the key is not a caller's");
    let scrape = Scrape::read(&operator(&world)).await;
    assert_eq!(scrape.count("antiphon_refused_callers_total"), 3);

    let without_key = World::new().await;
    assert_eq!(without_key.caller(METRICS_KEY).get("/metrics").await.status(), 404);
}

#[tokio::test]
async fn tenants_are_counted_only_by_option() {
    for names_tenants in [false, true] {
        let world = world_with(|settings| settings.metrics.names_tenants = names_tenants).await;
        world.client().turn(Mode::Whole, &ask("Hello").model(SIM)).await;

        let scrape = Scrape::read(&operator(&world)).await;

        let series = scrape.series("antiphon_tenant_turns_total");
        assert_eq!(series.len(), usize::from(names_tenants), "{series:?}");
        assert!(series.iter().all(|name| scrape.count(name) == 1), "{scrape:?}");
    }
}

#[tokio::test]
async fn caller_cannot_add_series_without_bound() {
    let world = world_with(|settings| settings.turn_wait = Duration::ZERO).await;
    let client = world.client();
    for number in 0..120 {
        world.script(answer_with_usage(1, 0, 1, 0));
        client.turn(Mode::Whole, &ask("Hello").model(&format!("model-{number}")).unstored()).await;
    }

    let scrape = Scrape::read(&operator(&world)).await;

    let series = scrape.series("antiphon_input_tokens_total");
    assert_eq!(series.len(), 101, "100 models, and all others together");
    let others = r#"antiphon_input_tokens_total{model="other",upstream="main"}"#;
    assert_eq!(scrape.count(others), 20);
}
