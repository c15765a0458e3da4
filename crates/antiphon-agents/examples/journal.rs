//! A run without a session that is killed while its tool runs, and continues from its journal.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use antiphon_agents::agent::WithModel;
use antiphon_agents::machine::RunState;
use antiphon_agents::model::{Model, ScriptedAnswer};
use antiphon_agents::session::{SessionStore, StoreSessions};
use antiphon_agents::{Agent, Run, State, ToolContext, tool};
use serde_json::json;

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

fn agent(model: Model) -> Agent<Payments, WithModel> {
    Agent::new("cashier").tool(charge).model(model)
}

#[tokio::main]
pub(crate) async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let store: Arc<dyn SessionStore> = Arc::new(StoreSessions::open("sqlite::memory:").await?);
    let payments = Arc::new(Payments::default());

    let call = ScriptedAnswer::new().call("call_1", "charge", json!({"cents": 990}));
    let first = agent(Model::scripted([call]));
    let run = Run::start_with(&first, State::empty(), "I pay", Arc::clone(&payments))?;
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
    let second = agent(Model::scripted(["Paid."]));
    let run = Run::resume(&second, RunState::read(&saved)?, None, Arc::clone(&payments))?;
    let result = run.finish().await?;
    assert!(result.items()[2].text().contains("charged 990 cents"));
    assert_eq!(payments.0.lock().expect("no thread panics").len(), 1);
    println!("{}", result.text());
    Ok(())
}
