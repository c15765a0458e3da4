//! The writes of a journal: one before each effect that another process must know of.

use std::sync::Arc;

use antiphon_agents::Run;
use antiphon_agents::session::SessionStore;

use crate::memory_server::{Lists, MemoryServer};
use crate::scenario::answer;
use crate::states::{Camera, OWNERS, Ran, agent, finish, state};

/// The states that a run of two turns writes: the first calls a tool.
async fn written_states(owner: &str) -> Vec<String> {
    let conversations = Lists::from([("conv_0".to_owned(), Vec::new())]);
    let answers = [answer().call("c1", "look_up", "{}"), answer().message("Done.")];
    let server = MemoryServer::new(conversations, Lists::new(), answers);
    let camera = Camera::with_server(server);
    let sessions: Arc<dyn SessionStore> = Arc::clone(&camera) as _;
    let state = state(owner, &sessions);
    let run = Run::start_with(&agent(&camera.server), state, "go", Ran::default()).unwrap();
    assert_eq!(finish(run.journal(sessions, "run"), false).await.text(), "Done.");
    let moments = camera.moments.lock().unwrap();
    moments.iter().map(|moment| moment.state.get().to_owned()).collect()
}

#[tokio::test]
async fn journal_has_no_equal_writes() {
    for owner in OWNERS {
        let states = written_states(owner).await;
        let repeated = states.windows(2).filter(|pair| pair[0] == pair[1]).count();
        assert_eq!(repeated, 0, "{owner}");
        // The input, the answer with the started call, the output, and the last answer. A server's
        // requests are written too, because it may have their items when the process dies.
        let requests = match owner {
            "replay" | "session" => 0,
            _ => 2,
        };
        assert_eq!(states.len(), 4 + requests, "{owner}: {states:#?}");
    }
}
