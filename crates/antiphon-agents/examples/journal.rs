//! A run without a session that is killed while its tool runs, and continues from its journal.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use antiphon_agents::agent::WithModel;
use antiphon_agents::machine::RunState;
use antiphon_agents::session::{SessionStore, StoreSessions};
use antiphon_agents::{Agent, Model, Run, State, ToolContext, tool};

/// A payment service. It knows the payments by their keys, and charges each of them once.
#[derive(Default)]
struct Payments(Mutex<HashMap<String, u64>>);

/// Charges the card of the user.
#[tool(on_unknown = Retry)]
async fn charge(cx: &ToolContext<Payments>, cents: u64) -> String {
    let key = cx.call_id().as_str().to_owned();
    let is_first = cx.context().0.lock().expect("no thread panics").insert(key, cents).is_none();
    if is_first {
        // The answer of the service does not arrive before the process dies.
        std::future::pending::<()>().await;
    }
    format!("charged {cents} cents")
}

fn agent() -> Agent<Payments, WithModel> {
    Agent::new("cashier").tool(charge).model(Model::sim())
}

#[tokio::main]
pub(crate) async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let store: Arc<dyn SessionStore> = Arc::new(StoreSessions::open("sqlite::memory:").await?);
    let payments = Arc::new(Payments::default());

    let context = Arc::clone(&payments);
    let run = Run::start_with(&agent(), State::empty(), "Charge 990 cents", context)?;
    let mut run = run.journal(Arc::clone(&store), "run-1");
    let charged = async {
        while payments.0.lock().expect("no thread panics").is_empty() {
            tokio::task::yield_now().await;
        }
    };
    // As if the process died in the middle of the payment: only the journal is left.
    tokio::select! {
        () = async { while run.next().await.is_some() {} } => unreachable!("the tool hangs"),
        () = charged => drop(run),
    }

    let saved = store.run("run-1").await?.expect("the journal has the run");
    let run = Run::resume(&agent(), RunState::read(&saved)?, None, Arc::clone(&payments))?;
    let result = run.finish().await?;
    assert!(result.text().contains("charged 990 cents"), "{}", result.text());
    assert_eq!(payments.0.lock().expect("no thread panics").len(), 1);
    println!("{}", result.text());
    Ok(())
}
