//! The choice of the requests that have spans.

use antiphon_gateway::settings::TraceSampler;

use super::TracedWorld;
use crate::support::ask;

async fn sampling(follows_parent: bool, ratio: f64) -> TracedWorld {
    TracedWorld::with(|settings| {
        let traces = settings.telemetry.traces.as_mut().expect("they are exported");
        traces.sampler = TraceSampler { follows_parent, ratio };
    })
    .await
}

/// A parent with this trace id and these flags.
fn parent(trace: &str, flags: &str) -> String {
    format!("00-{trace}-00f067aa0ba902b7-{flags}")
}

#[tokio::test]
async fn id_of_the_trace_decides() {
    let traced = sampling(false, 0.5).await;
    // The last 7 bytes, as a fraction of their maximum, are compared with the ratio.
    let (low, high) = ("4bf92f3577b34da60000000000000001", "4bf92f3577b34da6fffffffffffffff1");
    for trace in [high, low] {
        let client = traced.world.client().with_header("traceparent", &parent(trace, "01"));
        client.respond(&ask("Hello")).await;
    }
    let trace = traced.trace().await;
    assert_eq!(trace.0[0].trace, low);
    let flags =
        [0, 1].map(|index| traced.world.upstream.requests()[index].headers["traceparent"].clone());
    assert!(flags[0].to_str().unwrap().ends_with("-00"));
    assert!(flags[1].to_str().unwrap().ends_with("-01"));
}

#[tokio::test]
async fn decision_of_the_caller_counts() {
    let traced = sampling(true, 0.0).await;
    let client = traced.world.client();
    client.respond(&ask("Hello")).await;
    let sampled = parent("4bf92f3577b34da6a3ce929d0e0e4736", "01");
    client.with_header("traceparent", &sampled).respond(&ask("Hello")).await;
    let trace = traced.trace().await;
    assert_eq!(trace.0[0].trace, "4bf92f3577b34da6a3ce929d0e0e4736");
    assert_eq!(traced.receiver.spans().len(), trace.0.len());
}
