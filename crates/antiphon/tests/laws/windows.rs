//! Properties of clients that keep, edit or drop a part of the history next to a server's state.

use antiphon::Item;
use antiphon::item::FingerprintKey;
use antiphon::reconcile::{Reconciliation, ReplayStyle};
use antiphon::transcript::{HeldItem, Transcript};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::Index;
use serde_json::{Value, json};

use crate::history::{End, History, Numbering, Part, answered, items, text, turns, user};
use crate::replay::client;

const KEY: FingerprintKey = FingerprintKey::new([5; 16]);

/// A client's treatment of its own history, turn by turn.
#[derive(Clone, Copy, Debug)]
enum Habit {
    /// Sends new messages only.
    Delta,
    /// Sends everything.
    Replay,
    /// Sends the last messages.
    Window(usize),
    /// Sends the last messages, with a summary of the earlier ones in front.
    Summary(usize),
}

fn habit() -> impl Strategy<Value = Habit> {
    prop_oneof![
        Just(Habit::Delta),
        Just(Habit::Replay),
        (2..8_usize).prop_map(Habit::Window),
        (2..8_usize).prop_map(Habit::Summary),
    ]
}

/// A stored conversation and the history of its client.
#[derive(Default)]
struct World {
    owner: Transcript,
    history: Vec<Value>,
}

impl World {
    /// Takes one turn in which the client sends `before` of its history, and then `says`.
    fn turn(&mut self, before: &[Value], says: &str, answer: &str) -> Reconciliation {
        let says = user(says);
        let incoming = items(before.iter().chain([&says]));
        let found = Reconciliation::new(&self.owner, &incoming, KEY, ReplayStyle::Unknown);
        for (item, verdict) in incoming.iter().zip(&found.verdicts) {
            if verdict.is_fresh() {
                self.hold(item);
            }
        }
        let answer = json!({"role": "assistant", "content": answer});
        self.hold(&items([&answer])[0]);
        self.history.extend([says, answer]);
        found
    }

    fn hold(&mut self, item: &Item) {
        let id = format!("issued_{}", self.owner.items().len()).into();
        self.owner.push(HeldItem::new(id, item, KEY, None));
    }

    fn last(&self, count: usize) -> Vec<Value> {
        self.history[self.history.len().saturating_sub(count)..].to_vec()
    }

    /// The number of stored items.
    fn held(&self) -> usize {
        self.owner.items().len()
    }
}

fn question(turn: usize) -> String {
    format!("question {turn}")
}

fn answer(turn: usize) -> String {
    format!("answer {turn}")
}

/// The number of items that a server holds after `turns` turns of a client that sends `before` of
/// its history, which the function changes, with each question.
fn held_after(turns: usize, before: impl Fn(usize, &World) -> Vec<Value>) -> usize {
    let mut world = World::default();
    for turn in 0..turns {
        let before = before(turn, &world);
        world.turn(&before, &question(turn), &answer(turn));
    }
    world.held()
}

fn with_text(message: &Value, text: &str) -> Value {
    json!({"role": message["role"], "content": text})
}

#[test]
fn changing_first_message_adds_one_item_a_turn() {
    let clock = |turn: usize, world: &World| {
        let mut history = world.history.clone();
        if let Some(first) = history.first_mut() {
            *first = with_text(first, &format!("It is {turn} o'clock."));
        }
        history
    };
    assert_eq!(held_after(20, clock), 40 + 19);
}

#[test]
fn edited_message_adds_one_item() {
    let edited = |turn: usize, world: &World| {
        let mut history = world.history.clone();
        if turn >= 3 {
            history[4] = user("question 2, edited");
        }
        history
    };
    assert_eq!(held_after(20, edited), 41);
}

#[test]
fn window_adds_nothing() {
    for length in 1..12 {
        assert_eq!(held_after(20, |_, world| world.last(length)), 40, "last {length}");
    }
}

#[test]
fn stripped_answers_add_nothing() {
    let stripped = |_: usize, world: &World| {
        let strip = |message: &Value| match message["role"] == "assistant" {
            true => with_text(message, &format!("{}, stripped", message["content"])),
            false => message.clone(),
        };
        world.history.iter().map(strip).collect()
    };
    assert_eq!(held_after(20, stripped), 40);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(10_000))]

    #[test]
    fn window_of_any_length_has_only_the_new_items_fresh(
        turns in turns(),
        client in client(),
        from in any::<Index>(),
        says in text(),
    ) {
        let history = History::from_turns(&answered(turns), Numbering::Unique, End::Over);
        // Repeated texts of users make some windows ambiguous; see `no_new_item_is_lost`.
        let distinct = |(number, piece): (usize, &crate::history::Piece)| {
            let mut piece = piece.clone();
            if matches!(piece.part, Part::User | Part::Assistant) {
                let content = json!(format!("{} {number}", piece.json["content"]));
                piece.json["content"] = match piece.part {
                    Part::User => content,
                    _ => json!([{"type": "output_text", "text": content, "annotations": []}]),
                };
            }
            piece
        };
        let pieces: Vec<_> = history.pieces.iter().enumerate().map(distinct).collect();
        let owner: Transcript = hold_all(pieces.iter().map(|piece| &piece.json));
        let window = &pieces[from.index(pieces.len())..];
        let replay = client.sends(window);
        let new = user(says);
        let incoming = items(replay.iter().chain([&new]));
        let is_user = |item: &Item| item.head().role == Some(antiphon::Role::User);
        let style = match incoming.iter().all(is_user) {
            true => ReplayStyle::UsersOnly,
            false => client.style(),
        };
        let found = Reconciliation::new(&owner, &incoming, KEY, style);
        let fresh: Vec<usize> =
            (0..incoming.len()).filter(|at| found.verdicts[*at].is_fresh()).collect();
        prop_assert_eq!(fresh, vec![replay.len()], "{:?}", incoming);
    }

    #[test]
    fn mixed_deltas_and_replays_store_each_message_once(habits in vec(habit(), 1..12)) {
        let mut world = World::default();
        let mut summaries = 0;
        for (turn, habit) in habits.iter().enumerate() {
            let before = match *habit {
                Habit::Delta => Vec::new(),
                Habit::Replay => world.history.clone(),
                Habit::Window(length) => world.last(length),
                Habit::Summary(length) => {
                    let is_new = summaries == 0;
                    let known = world.last(length);
                    summaries += usize::from(is_new);
                    [vec![user("Summary of the conversation")], known].concat()
                }
            };
            world.turn(&before, &question(turn), &answer(turn));
        }
        let expected = 2 * habits.len() + summaries;
        prop_assert_eq!(world.held(), expected);
    }

    /// Whatever a client repeats, its last message is new.
    #[test]
    fn no_new_item_is_lost(
        said in vec((text(), text()), 1..8),
        before in vec((any::<bool>(), text()), 0..8),
        says in text(),
    ) {
        let mut world = World::default();
        for (question, answer) in &said {
            world.turn(&[], question, answer);
        }
        let role = |is_user: bool| if is_user { "user" } else { "assistant" };
        let before: Vec<Value> = before
            .iter()
            .map(|(is_user, text)| json!({"role": role(*is_user), "content": text}))
            .collect();
        let found = world.turn(&before, says, "Noted.");
        prop_assert!(found.verdicts[before.len()].is_fresh());
    }
}

fn hold_all<'a>(values: impl Iterator<Item = &'a Value>) -> Transcript {
    let mut world = World::default();
    for item in items(values) {
        let issued = format!("issued_{}", world.held()).into();
        let id = item.head().id.clone().unwrap_or(issued);
        world.owner.push(HeldItem::new(id, &item, KEY, None));
    }
    world.owner
}
