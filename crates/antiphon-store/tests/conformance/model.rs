//! Whatever is done, a store shows what a naive one shows: one that copies every transcript whole
//! and finds what is still reached by looking at all that is left.

mod comparison;
mod history;
mod ledgers;

use std::cell::Cell;

use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestError, TestRng, TestRunner};
use tokio::runtime::Handle;

use super::World;
use history::History;

/// How many histories are tried.
const HISTORIES: u32 = 48;

pub(crate) async fn store_equals_its_model_after_any_history(world: World) {
    let handle = Handle::current();
    let trial = tokio::task::spawn_blocking(move || {
        let mut runner = deterministic_runner();
        let tenants = Cell::new(0);
        runner.run(&prop::collection::vec(step(), 1..40), |steps| {
            let world = world.seen_by(&format!("tenant {}", tenants.get()));
            tenants.set(tenants.get() + 1);
            handle.block_on(History::new(world).play(steps));
            Ok(())
        })
    });
    match trial.await.unwrap() {
        Ok(()) => {}
        Err(TestError::Fail(reason, steps)) => panic!("{reason}\nafter {steps:#?}"),
        Err(abort) => panic!("{abort}"),
    }
}

fn deterministic_runner() -> TestRunner {
    let config = Config {
        cases: HISTORIES,
        failure_persistence: None,
        max_shrink_iters: 200,
        ..Config::default()
    };
    TestRunner::new_with_rng(config, TestRng::deterministic_rng(RngAlgorithm::ChaCha))
}

/// One operation. Numbers choose among the existing objects, modulo their count.
#[derive(Clone, Debug)]
enum Step {
    Begin { input: usize, output: usize },
    Follow { response: usize, input: usize, output: usize },
    Converse { items: usize },
    TurnRecord { conversation: usize, input: usize, output: usize, recorded: bool },
    Retract { conversation: usize },
    Append { conversation: usize, known: Vec<usize> },
    DeleteItem { conversation: usize, item: usize },
    DeleteResponse { response: usize },
    DeleteConversation { conversation: usize },
    Announce { response: usize, input: usize },
    Conclude { pending: usize, output: usize },
    Abandon { pending: usize },
    Adopt { name: usize },
    Resync { conversation: usize, known: Vec<usize> },
    MarkStale { conversation: usize },
    NameResponse { base: usize, name: usize, is_stale: bool },
    AnnounceName { pending: usize, name: usize },
    Forget { name: usize },
}

fn step() -> impl Strategy<Value = Step> {
    let which = any::<usize>;
    let few = || 0_usize..3;
    prop_oneof![
        2 => (few(), few()).prop_map(|(input, output)| Step::Begin { input, output }),
        8 => (which(), few(), few())
            .prop_map(|(response, input, output)| Step::Follow { response, input, output }),
        2 => few().prop_map(|items| Step::Converse { items }),
        4 => (which(), few(), few(), any::<bool>()).prop_map(
            |(conversation, input, output, recorded)| {
                Step::TurnRecord { conversation, input, output, recorded }
            }
        ),
        2 => which().prop_map(|conversation| Step::Retract { conversation }),
        3 => (which(), prop::collection::vec(which(), 0..3))
            .prop_map(|(conversation, known)| Step::Append { conversation, known }),
        2 => (which(), which())
            .prop_map(|(conversation, item)| Step::DeleteItem { conversation, item }),
        5 => which().prop_map(|response| Step::DeleteResponse { response }),
        1 => which().prop_map(|conversation| Step::DeleteConversation { conversation }),
        2 => (which(), few()).prop_map(|(response, input)| Step::Announce { response, input }),
        1 => (which(), few()).prop_map(|(pending, output)| Step::Conclude { pending, output }),
        1 => which().prop_map(|pending| Step::Abandon { pending }),
        6 => of_ledgers(),
    ]
}

fn of_ledgers() -> impl Strategy<Value = Step> {
    let which = any::<usize>;
    prop_oneof![
        2 => which().prop_map(|name| Step::Adopt { name }),
        3 => (which(), prop::collection::vec(which(), 0..3))
            .prop_map(|(conversation, known)| Step::Resync { conversation, known }),
        1 => which().prop_map(|conversation| Step::MarkStale { conversation }),
        3 => (which(), which(), any::<bool>())
            .prop_map(|(base, name, is_stale)| Step::NameResponse { base, name, is_stale }),
        1 => (which(), which())
            .prop_map(|(pending, name)| Step::AnnounceName { pending, name }),
        1 => which().prop_map(|name| Step::Forget { name }),
    ]
}
