//! A guardrail for the input, and a hook that counts the requests.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use antiphon_agents::machine::End;
use antiphon_agents::model::ModelRequest;
use antiphon_agents::{
    Agent, HookError, Hooks, InputGuardrail, Item, Model, Run, State, Verdict, async_trait,
};

/// Rejects an input with the number of a card.
struct NoCards;

#[async_trait]
impl InputGuardrail<()> for NoCards {
    fn name(&self) -> &'static str {
        "no cards"
    }

    async fn check(&self, (): &(), input: &[Item]) -> Verdict {
        let digits = |item: &Item| item.text().chars().filter(char::is_ascii_digit).count();
        if input.iter().any(|item| digits(item) >= 16) { Verdict::Trip } else { Verdict::Pass }
    }
}

/// Counts the requests to models.
struct Requests(Arc<AtomicUsize>);

#[async_trait]
impl Hooks<()> for Requests {
    async fn model_asked(&self, (): &(), _: &ModelRequest) -> Result<(), HookError> {
        self.0.fetch_add(1, Ordering::Relaxed);
        Ok(())
    }
}

#[tokio::main]
pub(crate) async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let requests = Arc::new(AtomicUsize::new(0));
    let agent = Agent::new("shop").input_guardrail(NoCards).model(Model::sim());
    for text in ["My card is 4111 1111 1111 1111", "Hi"] {
        let run = Run::start(&agent, State::empty(), text)?.hooks(Requests(Arc::clone(&requests)));
        let result = run.into_result().await?;
        println!("{}", result.end());
        assert_eq!(matches!(result.end(), End::Tripped { .. }), text != "Hi");
    }
    assert_eq!(requests.load(Ordering::Relaxed), 1);
    Ok(())
}
