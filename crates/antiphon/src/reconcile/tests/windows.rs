//! Histories of which the client keeps, edits or drops a part, next to state that the server keeps.

use super::{Doubts, FRESH, Owner, ReplayStyle, by_call, by_place, differing, owner};
use crate::item::Item;
use crate::item::given::{assistant, bare_assistant, call_under, output, user};
use crate::reconcile::Verdict;

const NO_DOUBTS: Doubts = Doubts { repeated: Vec::new(), unrecognized: Vec::new() };

/// Turns `first` to `last`, each a question and its answer.
fn turns(turns: impl IntoIterator<Item = usize>) -> impl Iterator<Item = Item> {
    turns.into_iter().flat_map(|turn| [question(turn), answer(turn)])
}

fn question(turn: usize) -> Item {
    user(&format!("question {turn}"))
}

fn answer(turn: usize) -> Item {
    bare_assistant(&format!("answer {turn}"))
}

fn found(held: Owner, incoming: impl IntoIterator<Item = Item>) -> (Vec<Verdict>, Doubts) {
    let found = held.reconcile_with(ReplayStyle::Unknown, incoming);
    (found.verdicts, found.doubts)
}

#[test]
fn last_messages_and_a_new_one_are_a_window() {
    for first in 0..6 {
        let incoming = turns(first..6).chain([question(6)]);
        let replayed = (2 * first..12).map(by_place).chain([FRESH]);
        assert_eq!(found(owner(turns(0..6)), incoming), (replayed.collect(), NO_DOUBTS));
    }
}

#[test]
fn window_may_begin_with_an_answer() {
    let incoming = [answer(4), question(5), answer(5), question(6)];
    let verdicts = vec![by_place(9), by_place(10), by_place(11), FRESH];
    assert_eq!(found(owner(turns(0..6)), incoming), (verdicts, NO_DOUBTS));
}

#[test]
fn window_of_equal_texts_is_the_latest() {
    let same = || [user("yes"), bare_assistant("Fine.")];
    let held = owner((0..4).flat_map(|_| same()));
    let incoming = same().into_iter().chain([user("yes")]);
    assert_eq!(found(held, incoming), (vec![by_place(6), by_place(7), FRESH], NO_DOUBTS));
}

#[test]
fn window_of_user_messages_is_recognized() {
    let incoming = || [question(4), question(5), question(6)];
    let verdicts = vec![by_place(8), by_place(10), FRESH];
    assert_eq!(found(owner(turns(0..6)), incoming()), (verdicts.clone(), NO_DOUBTS));
    assert_eq!(owner(turns(0..6)).reconcile_users(incoming()), verdicts);
}

#[test]
fn single_user_message_is_a_window_only_of_known_clients() {
    let incoming = || [question(5), question(6)];
    let doubts = Doubts { repeated: vec![0], ..Doubts::default() };
    assert_eq!(found(owner(turns(0..6)), incoming()), (vec![FRESH, FRESH], doubts));
    assert_eq!(owner(turns(0..6)).reconcile_users(incoming()), [by_place(10), FRESH]);
}

#[test]
fn equal_user_messages_are_no_window() {
    let yes = || user("yes");
    let held = owner([yes(), answer(0), yes(), answer(1)]);
    let doubts = Doubts { repeated: vec![0, 1], ..Doubts::default() };
    assert_eq!(found(held, [yes(), yes(), yes()]), (vec![FRESH; 3], doubts));
}

#[test]
fn window_with_calls_has_anchors() {
    let held = owner(turns(0..3).chain([
        question(3),
        call_under("fc_1", "call_1", "{}"),
        output("call_1", "20 degrees"),
        assistant("msg_1", "It is warm."),
    ]));
    let incoming =
        [question(3), output("call_1", "20 degrees"), bare_assistant("It is warm."), question(4)];
    let verdicts = vec![by_place(6), by_call(8), by_place(9), FRESH];
    assert_eq!(found(held, incoming), (verdicts, NO_DOUBTS));
}

#[test]
fn summary_is_new_once_and_then_resent() {
    let summary = || user("Here is a summary of the conversation to date: …");
    let incoming = || [summary()].into_iter().chain(turns(4..6)).chain([question(6)]);
    let (verdicts, doubts) = found(owner(turns(0..6)), incoming());
    let window = [8, 9, 10, 11].map(by_place);
    assert_eq!(verdicts, [&[FRESH], &window[..], &[FRESH]].concat());
    assert_eq!(doubts, Doubts { unrecognized: vec![0], ..Doubts::default() });

    let held = owner(turns(0..6).chain([summary(), question(6), answer(6)]));
    let incoming = [summary()].into_iter().chain(turns(5..7)).chain([question(7)]);
    let verdicts = [12, 10, 11, 13, 14].map(by_place).into_iter().chain([FRESH]).collect();
    assert_eq!(found(held, incoming), (verdicts, NO_DOUBTS));
}

#[test]
fn changed_first_message_is_the_only_new_one() {
    let now = |hour: usize| user(&format!("It is {hour} o'clock."));
    let held = owner([now(1), answer(0)].into_iter().chain(turns(1..3)));
    let incoming = [now(2), answer(0)].into_iter().chain(turns(1..3)).chain([question(3)]);
    let replayed = (1..6).map(by_place);
    let verdicts = [FRESH].into_iter().chain(replayed).chain([FRESH]).collect();
    assert_eq!(
        found(held, incoming),
        (verdicts, Doubts { unrecognized: vec![0], ..Doubts::default() })
    );
}

#[test]
fn edited_message_is_new_once() {
    let edited = || user("question 2, edited");
    let replay = |last| {
        let before = turns(0..2).chain([edited(), answer(2)]);
        before.chain(turns(3..last)).chain([question(last)])
    };
    let (verdicts, doubts) = found(owner(turns(0..4)), replay(4));
    let fresh: Vec<usize> = (0..9).filter(|at| verdicts[*at].is_fresh()).collect();
    assert_eq!(fresh, [4, 8]);
    assert_eq!(doubts, Doubts { unrecognized: vec![4], ..Doubts::default() });

    let held = owner(turns(0..4).chain([edited(), question(4), answer(4)]));
    let (verdicts, doubts) = found(held, replay(5));
    let held_at = [0, 1, 2, 3, 8, 5, 6, 7, 9, 10].map(by_place);
    assert_eq!(verdicts, [&held_at[..], &[FRESH]].concat());
    assert_eq!(doubts, NO_DOUBTS);
}

#[test]
fn edited_answers_are_resent() {
    let edited = |turn: usize| bare_assistant(&format!("answer {turn}, stripped"));
    let incoming = (0..3).flat_map(|turn| [question(turn), edited(turn)]).chain([question(3)]);
    let pair = |turn: usize| [by_place(2 * turn), differing(by_place(2 * turn + 1))];
    let verdicts = (0..3).flat_map(pair).chain([FRESH]).collect();
    assert_eq!(found(owner(turns(0..3)), incoming), (verdicts, NO_DOUBTS));
}

#[test]
fn unknown_history_is_new_and_counted() {
    let other = |turn: usize| [user(&format!("other {turn}")), answer(100 + turn)];
    let incoming = (0..2).flat_map(other).chain([question(6)]);
    let doubts = Doubts { unrecognized: vec![0, 1, 2, 3], ..Doubts::default() };
    assert_eq!(found(owner(turns(0..3)), incoming), (vec![FRESH; 5], doubts));
}

#[test]
fn deleted_messages_of_a_window_stay_deleted() {
    let held = owner(turns(0..6)).without([10]);
    let incoming = turns(4..6).chain([question(6)]);
    let verdicts = vec![by_place(8), by_place(9), Verdict::Deleted, by_place(11), FRESH];
    assert_eq!(found(held, incoming), (verdicts, NO_DOUBTS));
}

#[test]
fn ai_sdk_is_known_by_its_user_agent() {
    let style = |name| ReplayStyle::from_user_agent(name);
    let version_7 = "ai/7.0.173 ai-sdk-provider-utils/5.0.81 node.js/24";
    let version_5 = "ai/5.0.9 ai-sdk/openai/2.0.10 ai-sdk/provider-utils/3.0.1 runtime/node.js/22";
    assert_eq!(style(version_7), ReplayStyle::UsersOnly);
    assert_eq!(style(version_5), ReplayStyle::UsersOnly);
    assert_eq!(style("OpenAI/Python 2.32.0"), ReplayStyle::Unknown);
}
