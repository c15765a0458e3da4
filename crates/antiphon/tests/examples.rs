//! Runs the examples, which contain assertions.

#[path = "../examples/duplicate_item.rs"]
mod duplicate_item;
#[path = "../examples/one_call_announced_twice.rs"]
mod one_call_announced_twice;
#[path = "../examples/orphaned_reasoning.rs"]
mod orphaned_reasoning;
#[path = "../examples/service_side_storage.rs"]
mod service_side_storage;
#[path = "../examples/who_owns_the_state.rs"]
mod who_owns_the_state;

#[test]
fn resent_turn_adds_only_its_output() {
    duplicate_item::main();
}

#[test]
fn one_call_is_announced_once() {
    one_call_announced_twice::main();
}

#[test]
fn orphaned_reasoning_is_filtered() {
    orphaned_reasoning::main();
}

#[test]
fn server_held_items_are_stripped() {
    service_side_storage::main();
}

#[test]
fn tracker_plans_missing_items() {
    who_owns_the_state::main();
}
