//! Random stories: clients that replay in different ways, from one process or several, and
//! disconnect anywhere. No user message is stored twice, and no answered message is lost.

use antiphon::FingerprintKey;
use antiphon::stateful::StatefulClient;
use antiphon_mock::{Answer, OnAbort, Script};
use serde_json::{Value, json};

use crate::world::{MODEL, Mode, World, output, user};

const OUTCOMES: [OnAbort; 3] = [OnAbort::StorePart, OnAbort::StoreWhole, OnAbort::StoreNothing];
const REPLAYS: [Replay; 4] =
    [Replay::Deltas, Replay::WithIds, Replay::WithoutIds, Replay::UsersAlone];
const SEEDS: u64 = 3;
const TURNS: usize = 12;

/// The part of the history that a client resends.
#[derive(Clone, Copy, Debug)]
enum Replay {
    /// Nothing.
    Deltas,
    /// The whole history.
    WithIds,
    /// Messages and outputs, without ids.
    WithoutIds,
    /// User messages.
    UsersAlone,
}

impl Replay {
    fn of(self, item: &Value) -> Option<Value> {
        let is_users = item["type"] == "function_call_output" || item["role"] == "user";
        match self {
            Self::WithIds => Some(item.clone()),
            Self::UsersAlone | Self::WithoutIds if is_users => Some(item.clone()),
            Self::WithoutIds if item["type"] == "message" => {
                Some(json!({"role": "assistant", "content": item["content"][0]["text"]}))
            }
            Self::Deltas | Self::WithoutIds | Self::UsersAlone => None,
        }
    }
}

/// A random number generator with a seed.
struct Dice(u64);

impl Dice {
    fn of(&mut self, sides: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        usize::try_from(self.0 >> 40).expect("24 bits") % sides
    }
}

/// A client and its knowledge.
struct Story {
    world: World,
    /// The ledgers of the other processes.
    others: Vec<StatefulClient>,
    conversation: String,
    replay: Replay,
    dice: Dice,
    history: Vec<Value>,
    /// Unanswered calls of the client.
    calls: Vec<String>,
    /// The user messages of completed turns.
    answered: Vec<String>,
}

impl Story {
    async fn begin(replay: Replay, processes: usize, seed: u64) -> Self {
        let mut world = World::new().await;
        world.repeats = true;
        let conversation = world.conversation().await;
        let another = |_| StatefulClient::new(FingerprintKey::new([9; 16]));
        let (history, calls, answered) = (Vec::new(), Vec::new(), Vec::new());
        let (others, dice) = ((1..processes).map(another).collect(), Dice(seed));
        Self { world, others, conversation, replay, dice, history, calls, answered }
    }

    async fn turn(&mut self, number: usize, leaves: bool) {
        self.world.provider.set_on_abort(OUTCOMES[self.dice.of(3)]);
        if !self.others.is_empty() && self.dice.of(2) == 0 {
            std::mem::swap(&mut self.world.client, &mut self.others[0]);
        }
        let reply = self.reply(number);
        let replayed = self.history.iter().filter_map(|item| self.replay.of(item));
        let input: Vec<Value> = replayed.chain(reply.clone()).collect();
        let body = json!({"conversation": self.conversation, "input": input});
        let is_left = leaves && self.dice.of(3) == 0;
        if is_left {
            self.leave(body.clone(), &number.to_string()).await;
        }
        self.history.extend(reply.clone());
        if !is_left || self.dice.of(2) == 0 {
            self.read_turn(body, &format!("{number}_again")).await;
            self.answered
                .extend(reply.iter().filter_map(|it| it["content"].as_str()).map(Into::into));
        }
    }

    /// The next input: outputs of open calls, or not, and a user message.
    fn reply(&mut self, number: usize) -> Vec<Value> {
        let calls = std::mem::take(&mut self.calls);
        let calls = if self.dice.of(3) > 0 { calls } else { Vec::new() };
        let mut reply: Vec<Value> =
            calls.iter().map(|call| output(call, &format!("of {call}"))).collect();
        if reply.is_empty() || self.dice.of(3) == 0 {
            reply.push(user(&format!("Line {number}.")));
        }
        reply
    }

    fn answer(&mut self, name: &str) -> Answer {
        let answer = Answer::new(MODEL).reasoning(format!("Thought {name}."));
        match self.dice.of(2) {
            0 => answer.call(format!("call_{name}"), "echo", "{}"),
            _ => answer.message(format!("Answer {name}.")),
        }
    }

    /// A turn that the client disconnects from at a random place.
    async fn leave(&mut self, body: Value, name: &str) {
        let answer = self.answer(name);
        let events = self.dice.of(answer.frames().len() - 1);
        self.world.provider.script(Script::from(answer).hang_after(events));
        let mut begun = self.world.begin(Mode::Streamed, body).await.expect("the turn is accepted");
        begun.events(events).await;
        drop(begun);
        self.world.wait_until_idle().await;
    }

    /// A turn that is read to its end.
    async fn read_turn(&mut self, body: Value, name: &str) {
        let answer = self.answer(name);
        self.world.provider.script(answer);
        let output = self.world.turn(Mode::Streamed, body).await.output();
        let called = output.iter().filter_map(|item| item["call_id"].as_str());
        self.calls.extend(called.map(str::to_owned));
        self.history.extend(output);
    }

    fn is_held_once(&self) -> bool {
        let held = self.world.stored_items(&self.conversation);
        let times = |line: &str| held.iter().filter(|it| *it == line).count();
        let is_users =
            |line: &&String| line.starts_with("user: Line") || line.starts_with("output: of");
        held.iter().filter(is_users).all(|line| times(line) == 1)
            && self.answered.iter().all(|text| times(&format!("user: {text}")) == 1)
    }
}

async fn run_stories(processes: usize, leaves: bool) {
    for replay in REPLAYS {
        for seed in 0..SEEDS {
            let mut story = Story::begin(replay, processes, seed).await;
            for number in 0..TURNS {
                story.turn(number, leaves).await;
                let held = story.world.stored_items(&story.conversation);
                assert!(story.is_held_once(), "{replay:?}, {seed}, turn {number}: {held:#?}");
            }
        }
    }
}

#[tokio::test]
async fn story_of_one_process() {
    run_stories(1, false).await;
}

#[tokio::test]
async fn story_of_one_process_with_disconnects() {
    run_stories(1, true).await;
}

#[tokio::test]
async fn several_processes() {
    run_stories(2, false).await;
}

#[tokio::test]
async fn several_processes_with_disconnects() {
    run_stories(2, true).await;
}
