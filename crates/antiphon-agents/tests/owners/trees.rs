//! The graph of agents, and the tree of a run that they made, against the strict provider.

use antiphon_agents::{Agent, Handoff, Run, RunTree, mermaid, tool};
use antiphon_mock::OnAbort;

use crate::agents::model;
use crate::scenario::{OWNERS, answer};
use crate::verdict::assert_clean;
use crate::world::World;

/// Looks up an order.
#[tool]
async fn look_up(order: String) -> String {
    format!("{order} was paid twice")
}

/// Refunds an order.
#[tool]
async fn refund(order: String) -> String {
    format!("{order} is refunded")
}

const GRAPH: &str = r#"flowchart LR
    triage["triage"]
    triage -.-> triage_look_up(["look_up"])
    billing["billing"]
    billing -.-> billing_refund(["refund"])
    billing -->|transfer_to_triage| triage
    triage -->|transfer_to_billing| billing
"#;

const TREE: &str = "run
├─ user: I paid A1 twice
├─ triage (TOKENS)
│  └─ look_up(c1)
├─ output of c1: A1 was paid twice
├─ triage (TOKENS)
│  └─ transfer_to_billing(c2)
├─ output of c2: Transferred to billing.
├─ billing (TOKENS)
│  ├─ reasoning
│  └─ refund(c3)
├─ output of c3: A1 is refunded
├─ billing (TOKENS)
│  └─ assistant: You have your money back.
└─ end: answered by billing";

/// The tree with the tokens that the provider counted.
fn tree_with(usage: &[u64]) -> String {
    usage.iter().fold(TREE.to_owned(), |tree, tokens| {
        tree.replacen("TOKENS", &format!("{tokens} tokens"), 1)
    })
}

#[tokio::test]
async fn run_with_handoffs_has_a_graph_and_a_tree() {
    for owner in OWNERS {
        let world = World::new(OnAbort::default()).await;
        world.script([
            answer().call("c1", "look_up", r#"{"order":"A1"}"#),
            answer().call("c2", "transfer_to_billing", "{}"),
            answer().reasoning("Refund it.").call("c3", "refund", r#"{"order":"A1"}"#),
            answer().message("You have your money back."),
        ]);
        let billing = Agent::new("billing").tool(refund).handoff(Handoff::to_name("triage"));
        let triage = Agent::new("triage").tool(look_up).handoff(&billing);
        let triage = triage.model(model(&world.provider.base_url()));
        assert_eq!(mermaid(&triage), GRAPH);

        let run = Run::start(&triage, world.state(owner), "I paid A1 twice").unwrap();
        let result = run.finish().await.unwrap();
        let tokens: Vec<u64> =
            result.state().answers().iter().map(|answer| answer.usage.total_tokens).collect();
        assert!(tokens.iter().all(|tokens| *tokens > 0), "{tokens:?}");
        assert_eq!(RunTree(result.state()).to_string(), tree_with(&tokens), "{owner:?}");
        assert_clean(&world.provider, &format!("{owner:?}"));
    }
}
