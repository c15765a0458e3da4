//! The gateway in front of the strict provider. It differs from the provider by design in the rules
//! about items, which it repairs; every other difference is listed here with its kind.

use std::collections::BTreeSet;

use super::{Provider, Run, run};
use crate::world::{Serving, World};

/// Requests that the gateway repairs and answers.
const REPAIRED: [&str; 24] = [
    "apply-patch-output-missing",
    "call-id-empty",
    "call-id-missing",
    "call-id-twice",
    "call-twice",
    "computer-output-missing",
    "custom-output-missing",
    "encrypted-content",
    "function-output-missing",
    "item-id-characters",
    "item-id-length",
    "item-id-prefix",
    "local-shell-output-missing",
    "message-twice",
    "output-twice",
    "previous-call-again",
    "previous-message-again",
    "previous-output-missing",
    "reasoning-unknown",
    "shell-output-missing",
    "turn-call-again",
    "turn-message-again",
    "turn-output-again",
    "turn-output-missing",
];

/// Requests with references to reasoning. A gateway with own state repairs them. With `--state
/// upstream` it does not find the items: the upstream stores them, and a request that has `store:
/// false` and continues nothing is a turn of the gateway.
const REFERENCES: [&str; 2] = ["reasoning-alone", "reasoning-twice"];

/// Requests with an id without the prefix of its kind. The gateway answers as to any id that it
/// does not find.
const PREFIXES: [&str; 2] = ["conversation-prefix", "previous-prefix"];

/// Requests that a gateway with own state answers without a repair. It needs no keys, no prefix of
/// an item's id, and no reasoning before a call.
const ACCEPTED_HERE: [&str; 4] = ["items-id-prefix", "no-key", "reasoning-missing", "wrong-key"];

fn gateway(provider: &Provider, more: &[&str]) -> Serving {
    let url = provider.strict.base_url();
    let args = ["--listen=127.0.0.1:0", "--store=sqlite:antiphon.db", "--upstream", &url];
    World::serve(&[&args, more].concat()).ready()
}

fn run_behind(gateway: &Serving) -> Run {
    run(&format!("http://{}/v1", gateway.address()), &[])
}

#[test]
fn gateway_differs_by_its_repairs() {
    let provider = Provider::start();
    let gateway = gateway(&provider, &[]);
    let run = run_behind(&gateway);
    let differs = [&REPAIRED[..], &REFERENCES, &PREFIXES, &ACCEPTED_HERE].concat();
    assert_eq!(run.ids("different"), BTreeSet::from_iter(differs));
    assert_eq!(run.ids("not tried"), BTreeSet::new());
    assert_eq!(run.ended.code, Some(1));
    assert_eq!(run.report["left"], serde_json::json!([]));
}

#[test]
fn gateway_with_upstream_state_differs_by_its_repairs() {
    let provider = Provider::start();
    let gateway = gateway(&provider, &["--state", "upstream"]);
    let run = run_behind(&gateway);
    let differs = [&REPAIRED[..], &REFERENCES, &PREFIXES].concat();
    assert_eq!(run.ids("different"), BTreeSet::from_iter(differs));
    assert_eq!(run.ids("not tried"), BTreeSet::new());
    assert_eq!(run.ended.code, Some(1));
    provider.assert_empty();
}

#[test]
fn repaired_requests_are_answered() {
    let provider = Provider::start();
    for (more, references) in [([].as_slice(), 200), (&["--state", "upstream"], 404)] {
        let run = run_behind(&gateway(&provider, more));
        for id in REPAIRED {
            let rule = run.rule(id);
            assert_eq!((&rule["seen"]["status"], id), (&200.into(), id));
            assert_eq!(rule["differs"], serde_json::json!(["status"]));
        }
        for id in REFERENCES {
            assert_eq!((&run.rule(id)["seen"]["status"], id), (&references.into(), id));
        }
    }
}

#[test]
fn report_has_corrections_in_the_form_of_the_catalogue() {
    let provider = Provider::start();
    let run = run_behind(&gateway(&provider, &[]));
    let correction = serde_json::json!({
        "name": "wrong_id_prefix",
        "status": 400,
        "code": "previous_response_not_found",
        "param": "{param}",
        "message": "Previous response with id '{id}' not found.",
    });
    assert_eq!(run.rule("previous-prefix")["correction"], correction);
}
