//! Runs the examples, which contain assertions.

#[path = "../examples/approval_across_restart.rs"]
mod approval_across_restart;
#[path = "../examples/compaction.rs"]
mod compaction;
#[path = "../examples/filtered_handoff.rs"]
mod filtered_handoff;
#[path = "../examples/killed_tool.rs"]
mod killed_tool;
#[path = "../examples/owners.rs"]
mod owners;
#[path = "../examples/quickstart.rs"]
mod quickstart;
#[path = "../examples/replayed_effects.rs"]
mod replayed_effects;

#[test]
fn quickstart_refunds_after_an_approval() {
    quickstart::main().unwrap();
}

#[test]
fn each_owner_continues_its_conversation() {
    owners::main().unwrap();
}

#[test]
fn approval_is_given_after_a_restart() {
    approval_across_restart::main().unwrap();
}

#[test]
fn filtered_handoff_forks_the_conversation() {
    filtered_handoff::main().unwrap();
}

#[test]
fn killed_tool_has_an_unknown_outcome() {
    killed_tool::main().unwrap();
}

#[test]
fn session_is_compacted() {
    compaction::main().unwrap();
}

#[test]
fn recorded_effects_are_not_repeated() {
    replayed_effects::main();
}
