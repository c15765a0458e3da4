//! The three policies for a call whose process died while its tool ran, with every owner.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use antiphon_agents::agent::WithModel;
use antiphon_agents::machine::Pause;
use antiphon_agents::{Agent, Run, ToolContext, tool};

use crate::world::{OWNERS, Owner, World, advance, answer, finish};

/// The number of times that a tool began.
#[derive(Default)]
struct Begun(AtomicUsize);

impl Begun {
    fn count(&self) -> usize {
        self.0.load(Ordering::Relaxed)
    }
}

/// Answers only if it runs a second time.
async fn pay(cx: &ToolContext<Begun>) -> String {
    if cx.context().0.fetch_add(1, Ordering::Relaxed) == 0 {
        std::future::pending::<()>().await;
    }
    format!("paid by {}", cx.call_id())
}

/// Pays.
#[tool]
async fn pay_or_fail(cx: &ToolContext<Begun>) -> String {
    pay(cx).await
}

/// Pays.
#[tool(on_unknown = Retry)]
async fn pay_or_retry(cx: &ToolContext<Begun>) -> String {
    pay(cx).await
}

/// Pays.
#[tool(on_unknown = Ask)]
async fn pay_or_ask(cx: &ToolContext<Begun>) -> String {
    pay(cx).await
}

/// A run that was resumed after its process died while a tool ran.
struct Case {
    world: World,
    run: Run<Begun>,
    begun: Arc<Begun>,
    name: String,
}

impl Case {
    async fn new(owner: Owner, tool: &str) -> Self {
        let world = World::new().await;
        world.script([answer().call("c1", tool, "{}"), answer().message("Done.")]);
        let agent: Agent<Begun, WithModel> = Agent::new("till")
            .tool(pay_or_fail)
            .tool(pay_or_retry)
            .tool(pay_or_ask)
            .model(world.model());
        let begun = Arc::new(Begun::default());
        let mut run = world.start_with(&agent, world.state(owner), "go", Arc::clone(&begun));
        while begun.count() == 0 {
            tokio::select! {
                biased;
                event = run.next() => assert!(event.is_some(), "the run ended before its tool"),
                () = tokio::task::yield_now() => {}
            }
        }
        // As if the process died: only the stores are left.
        drop(run);
        let run = world.resume(&agent, Arc::clone(&begun)).await;
        Self { world, run, begun, name: format!("{owner:?}, {tool}") }
    }

    /// Continues the run to its end. The model reads an output that contains `output`, and the tool
    /// began so many times.
    async fn assert_end(self, output: &str, count: usize) {
        let Self { world, run, begun, name } = self;
        let result = finish(run).await;
        assert_eq!(result.text(), "Done.", "{name}: {:?}", result.end());
        let read = world.last_output("c1");
        assert!(read.contains(output), "{name}: {read}");
        assert_eq!(begun.count(), count, "{name}");
        world.assert_clean(&name);
    }

    /// Continues the run until it waits for a decision about its call.
    async fn wait(&mut self) {
        advance(&mut self.run).await;
        let waiting = self.run.waiting();
        assert!(
            matches!(waiting.as_slice(), [Pause::UnknownOutcome(_)]),
            "{}: {waiting:?}",
            self.name
        );
        assert_eq!(self.begun.count(), 1, "{}", self.name);
    }
}

#[tokio::test]
async fn failed_call_is_not_run_again() {
    for owner in OWNERS {
        Case::new(owner, "pay_or_fail").await.assert_end("outcome is unknown", 1).await;
    }
}

#[tokio::test]
async fn retried_call_runs_with_its_call_id() {
    for owner in OWNERS {
        Case::new(owner, "pay_or_retry").await.assert_end("paid by c1", 2).await;
    }
}

#[tokio::test]
async fn application_retries_the_call() {
    for owner in OWNERS {
        let mut case = Case::new(owner, "pay_or_ask").await;
        case.wait().await;
        case.run.retry("c1").unwrap();
        case.assert_end("paid by c1", 2).await;
    }
}

#[tokio::test]
async fn application_rejects_the_call() {
    for owner in OWNERS {
        let mut case = Case::new(owner, "pay_or_ask").await;
        case.wait().await;
        case.run.reject("c1", "The bank says no.").unwrap();
        case.assert_end("The bank says no.", 1).await;
    }
}
