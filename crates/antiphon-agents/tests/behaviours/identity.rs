//! Calls whose `call_id` comes twice.

use antiphon_agents::machine::End;

use super::world::{CLIENTS, OWNERS, SERVERS, World, calls, says};

#[tokio::test]
async fn b50_changed_arguments_fail_before_a_second_effect() {
    for owner in OWNERS {
        let world = World::lenient().await;
        world.script([calls("c1", "look_up", "Bonn"), calls("c1", "look_up", "Rome")]);
        let result = world.run(world.state(owner), "go").await;
        let End::Failed { error } = result.end() else { panic!("{owner:?}: {:?}", result.end()) };
        assert!(error.contains("another payload"), "{error}");
        assert_eq!(world.effects.all(), ["look_up Bonn"], "{owner:?}");
    }
}

#[tokio::test]
async fn b50_next_run_of_a_client_continues() {
    for owner in CLIENTS {
        let world = World::new().await;
        world.script([calls("c1", "look_up", "Bonn"), calls("c1", "look_up", "Rome")]);
        let result = world.run(world.state(owner), "go").await;
        let result = world.run(result.next_state(), "again").await;
        assert!(matches!(result.end(), End::Answered { .. }), "{owner:?}");
        world.assert_clean(owner);
    }
}

#[tokio::test]
async fn b51_exact_replay_has_the_committed_output() {
    for owner in OWNERS {
        let world = World::lenient().await;
        let replay = calls("c1", "look_up", "Bonn");
        world.script([calls("c1", "look_up", "Bonn"), replay, says("Done.")]);
        let result = world.run(world.state(owner), "go").await;
        assert_eq!(result.text(), "Done.", "{owner:?}");
        assert_eq!(world.effects.all(), ["look_up Bonn"], "{owner:?}");
        if SERVERS.contains(&owner) {
            assert_eq!(world.inputs()[2], ["function_call_output c1"], "{owner:?}");
            let output = world.turns()[2].input()[0]["output"].clone();
            assert_eq!(output, "found Bonn", "{owner:?}");
        }
    }
}

#[tokio::test]
async fn b51_exact_replay_is_accepted_by_a_strict_provider() {
    for owner in CLIENTS {
        let world = World::new().await;
        let replay = calls("c1", "look_up", "Bonn");
        world.script([calls("c1", "look_up", "Bonn"), replay, says("Done.")]);
        let result = world.run(world.state(owner), "go").await;
        assert_eq!(result.text(), "Done.", "{owner:?}");
        assert_eq!(world.effects.all(), ["look_up Bonn"], "{owner:?}");
        world.assert_clean(owner);
    }
}

/// A provider announces one call under two item ids, and both come in one answer.
#[tokio::test]
async fn b51_call_that_comes_twice_in_one_answer_runs_once() {
    for owner in CLIENTS {
        let world = World::new().await;
        let twice = calls("c1", "look_up", "Bonn").call("c1", "look_up", r#"{"city":"Bonn"}"#);
        world.script([twice, says("Done.")]);
        let result = world.run(world.state(owner), "go").await;
        assert_eq!(result.text(), "Done.", "{owner:?}");
        assert_eq!(world.effects.all(), ["look_up Bonn"], "{owner:?}");
        world.assert_clean(owner);
    }
}
