//! Clients that keep the last messages of their history next to the state of a provider.

use serde_json::Value;

use super::world::World;
use crate::support::{MODES, ask, assistant, typed_user};

#[tokio::test]
async fn window_of_four_messages_sends_only_the_new_one() {
    for mode in MODES {
        let world = World::new().await;
        let conversation = world.conversation().await;
        let mut history: Vec<Value> = Vec::new();
        for turn in 0..6 {
            let says = typed_user(&format!("Number {turn}."));
            let window = &history[history.len().saturating_sub(4)..];
            let input = [window, std::slice::from_ref(&says)].concat();
            let answer = world.client().turn(mode, &ask(input).within(&conversation)).await;
            assert_eq!(world.sent(), [format!("user: Number {turn}.")]);
            history.extend([says, assistant(answer.text())]);
        }
        assert_eq!(world.holds(&conversation).len(), 12);
    }
}
