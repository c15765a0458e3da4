//! Properties of reconciliation: exactly the new items are fresh.

use antiphon::item::FingerprintKey;
use antiphon::reconcile::{Reconciliation, ReplayStyle, Resent, Verdict, reconcile};
use antiphon::transcript::{Body, HeldItem, Transcript};
use antiphon::{Item, ItemId, Kind, Role};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::Index;
use serde_json::{Value, json};

use crate::history::{
    End, History, Numbering, Part, Piece, answered, items, numbering, text, turns, user,
};
use crate::mangle::{mangled, mishaps};
use crate::replay::{Client, client};

const KEY: FingerprintKey = FingerprintKey::new([3; 16]);

fn held(item: &Item, number: usize) -> HeldItem {
    let issued = || ItemId::from(format!("issued_{number}"));
    HeldItem::new(item.head().id.clone().unwrap_or_else(issued), item, KEY, None)
}

fn transcript(items: &[Item]) -> Transcript {
    items.iter().enumerate().map(|(number, item)| held(item, number)).collect()
}

/// The same items, with bytes that another owner stores.
fn elsewhere(owner: &Transcript) -> Transcript {
    owner.items().iter().cloned().map(HeldItem::without_body).collect()
}

fn end() -> impl Strategy<Value = End> {
    proptest::sample::select(&[End::Over, End::Waiting][..])
}

/// An item that a client sends, with its position in the transcript; `None` if it is new.
type Sent = (Option<usize>, Value);

/// A client's replay of `pieces`, the first of which is at position `from`.
fn again(client: &Client, from: usize, pieces: &[Piece]) -> Vec<Sent> {
    let replay = client.replay(pieces).into_iter();
    replay.map(|(position, json)| (position.map(|position| from + position), json)).collect()
}

/// The new items: the outputs of unanswered calls or, if there are none, the next user messages.
fn news(history: &History, says: &[&str]) -> Vec<Sent> {
    if history.outputs_to_come.is_empty() {
        return says.iter().map(|text| (None, user(text))).collect();
    }
    history.outputs_to_come.iter().map(|piece| (None, piece.json.clone())).collect()
}

/// Asserts that each held item is found at its position and each new item is fresh, both with
/// stored bytes and with only heads and fingerprints.
fn assert_known(held: &[Item], sent: &[Sent], style: ReplayStyle) -> Result<(), TestCaseError> {
    let incoming = items(sent.iter().map(|(_, json)| json));
    let place = |verdict: Verdict| match verdict {
        Verdict::Resent(resent) => Some(resent.held),
        Verdict::Fresh => None,
        other => panic!("{other:?} in a plain replay"),
    };
    let expected: Vec<_> = sent.iter().map(|(place, _)| *place).collect();
    for owner in [transcript(held), elsewhere(&transcript(held))] {
        let verdicts = Reconciliation::new(&owner, &incoming, KEY, style).verdicts;
        let found: Vec<_> = verdicts.into_iter().map(place).collect();
        prop_assert_eq!(&found, &expected);
    }
    Ok(())
}

proptest! {
    #[test]
    fn replay_has_exactly_the_new_items_fresh(
        turns in turns(),
        numbering in numbering(),
        end in end(),
        client in client(),
        says in vec(text(), 1..3),
    ) {
        let history = History::from_turns(&turns, numbering, end);
        let sent = [again(&client, 0, &history.pieces), news(&history, &says)].concat();
        assert_known(&history.items(), &sent, style_of(&client, &sent))?;
    }

    #[test]
    fn partial_replay_with_anchor_is_recognized(
        turns in turns(),
        end in end(),
        client in client(),
        from in any::<Index>(),
        says in vec(text(), 1..3),
    ) {
        let history = History::from_turns(&turns, Numbering::Unique, end);
        let last_anchor = history.pieces.iter().rposition(|piece| client.anchors(piece));
        let from = last_anchor.map_or(0, |last| from.index(last + 1));
        let window = &history.pieces[from..];
        let sent = [again(&client, from, window), news(&history, &says)].concat();
        assert_known(&history.items(), &sent, style_of(&client, &sent))?;
    }

    #[test]
    fn abandoned_turn_hides_no_items(
        left in turns(),
        later in turns(),
        client in client(),
        answers_late in any::<bool>(),
        says in text(),
    ) {
        let left = History::from_turns(&left, Numbering::Unique, End::Waiting);
        let later = History::numbered_from(1000, &later, Numbering::Unique, End::Over);
        let late = left.outputs_to_come.iter().filter(|_| answers_late);
        let late = late.map(|piece| (None, piece.json.clone())).collect();
        let sent = [
            again(&client, 0, &left.pieces),
            late,
            again(&client, left.pieces.len(), &later.pieces),
            vec![(None, user(says))],
        ]
        .concat();
        let held = [left.items(), later.items()].concat();
        assert_known(&held, &sent, style_of(&client, &sent))?;
    }

    #[test]
    fn changed_instructions_reach_the_model(
        rounds in vec(vec((any::<bool>(), 0..2_u8), 3), 1..4),
    ) {
        let mut owner = Transcript::default();
        let mut heading: Vec<String> = ["a", "b", "c"].map(str::to_owned).to_vec();
        for (round, changes) in rounds.into_iter().enumerate() {
            for (text, (changes, letter)) in heading.iter_mut().zip(changes) {
                if changes {
                    *text = format!("{text}{letter}");
                }
            }
            let system = |text: &String| json!({"role": "system", "content": text});
            let sent: Vec<Value> = heading.iter().map(system).chain([user("yes")]).collect();
            take_in(&mut owner, &items(&sent), round * 10);
            prop_assert_eq!(instructions(&owner), heading.clone());
        }
    }

    #[test]
    fn delta_is_entirely_fresh(
        turns in turns(),
        numbering in numbering(),
        end in end(),
        says in vec(text(), 1..4),
    ) {
        let history = History::from_turns(&turns, numbering, end);
        let mut sent = news(&history, &says);
        mark_what_counts_as_a_replay(&history, &mut sent);
        assert_known(&history.items(), &sent, ReplayStyle::Unknown)?;
    }

    #[test]
    fn branch_from_older_response_is_new(
        turns in turns(),
        branch in turns(),
    ) {
        let history = History::from_turns(&answered(turns), Numbering::Unique, End::Over);
        let branch = renumbered(&History::from_turns(&branch[..1], Numbering::Unique, End::Over));
        let verdicts = reconcile(&transcript(&history.items()), &items(&branch), KEY);
        prop_assert!(verdicts.iter().all(|verdict| verdict.is_fresh()), "{verdicts:?}");
    }

    #[test]
    fn recorded_items_are_known_by_id(
        turns in turns(),
        client in client(),
        mishaps in mishaps(),
    ) {
        let history = History::from_turns(&turns, Numbering::Unique, End::Over);
        let incoming = items(&mangled(client.sends(&history.pieces), &mishaps));
        let mut owner = Transcript::default();
        for (number, verdict) in reconcile(&owner, &incoming, KEY).into_iter().enumerate() {
            if verdict == Verdict::Fresh {
                owner.push(held(&incoming[number], number));
            }
        }
        let held: Vec<Item> = owner.items().iter().filter_map(HeldItem::item).collect();
        let verdicts = reconcile(&owner, &held, KEY);
        let with_id = held.iter().zip(&verdicts).filter(|(item, _)| item.head().id.is_some());
        for (item, verdict) in with_id {
            prop_assert!(!verdict.is_fresh(), "{} is held", item.text());
        }
    }

    #[test]
    fn heads_give_the_same_verdicts_as_bodies(
        history in (turns(), numbering()),
        owners in mishaps(),
        clients in mishaps(),
        client in client(),
        deleted in vec(any::<Index>(), 0..3),
    ) {
        let history = History::from_turns(&history.0, history.1, End::Over);
        let kept = history.pieces.iter().map(|piece| piece.json.clone()).collect();
        let owner = with_deletions(&items(&mangled(kept, &owners)), &deleted);
        let mut incoming = items(&mangled(client.sends(&history.pieces), &clients));
        incoming.retain(|item| !needs_a_body(item));
        prop_assume!(!is_any_call_another(&owner, &incoming));
        let of_bodies = reconcile(&owner, &incoming, KEY);
        let of_heads = reconcile(&elsewhere(&owner), &incoming, KEY);
        let received = incoming.iter().zip(of_bodies).map(as_far_as_heads_tell);
        prop_assert_eq!(of_heads, received.collect::<Vec<_>>());
    }

    #[test]
    fn every_item_gets_one_verdict(
        history in (turns(), numbering()),
        owners in mishaps(),
        clients in mishaps(),
        client in client(),
        deleted in vec(any::<Index>(), 0..3),
    ) {
        let history = History::from_turns(&history.0, history.1, End::Over);
        let kept = history.pieces.iter().map(|piece| piece.json.clone()).collect();
        let owner = with_deletions(&items(&mangled(kept, &owners)), &deleted);
        let incoming = items(&mangled(client.sends(&history.pieces), &clients));
        let verdicts = reconcile(&owner, &incoming, KEY);
        prop_assert_eq!(verdicts.len(), incoming.len());
        for (position, verdict) in verdicts.iter().enumerate() {
            match verdict {
                Verdict::Resent(resent) => {
                    prop_assert!(!owner.items()[resent.held].is_tombstone());
                }
                Verdict::Duplicate(first) => prop_assert!(*first < position),
                _ => {}
            }
        }
    }
}

/// Whether only its encrypted content can identify the item.
fn needs_a_body(item: &Item) -> bool {
    item.head().kind == Kind::Reasoning && item.head().id.is_none() && item.head().encrypted
}

/// The expected verdict if only heads and fingerprints are stored: a changed item is detected only
/// if it is a message.
fn as_far_as_heads_tell((item, verdict): (&Item, Verdict)) -> Verdict {
    match verdict {
        Verdict::Resent(resent) if item.head().kind != Kind::Message => {
            Verdict::Resent(Resent { differs: false, ..resent })
        }
        verdict => verdict,
    }
}

/// Whether any call differs from a held one with the same `call_id`.
fn is_any_call_another(owner: &Transcript, incoming: &[Item]) -> bool {
    incoming.iter().any(|item| {
        let exchange = item.head().pairing().and_then(|(_, key)| owner.exchange(&key));
        let calls = exchange.map_or(&[][..], |exchange| &exchange.calls);
        let is_call = item.head().kind.output().is_some();
        let says_otherwise = |held: Item| !held.has_same_content(item);
        is_call && calls.iter().any(|at| owner.items()[*at].item().is_some_and(says_otherwise))
    })
}

/// A transcript of `items`, some of them deleted.
fn with_deletions(items: &[Item], deleted: &[Index]) -> Transcript {
    let deleted = |number| deleted.iter().any(|at| at.index(items.len()) == number);
    let kept = items.iter().enumerate().map(|(number, item)| {
        let kept = held(item, number);
        match deleted(number) {
            true => HeldItem { body: Body::Erased, ..kept },
            false => kept,
        }
    });
    kept.collect()
}

/// Appends the fresh items of `incoming`, as an owner does.
fn take_in(owner: &mut Transcript, incoming: &[Item], number: usize) {
    let verdicts = reconcile(owner, incoming, KEY);
    for (position, (item, verdict)) in incoming.iter().zip(verdicts).enumerate() {
        if verdict.is_fresh() {
            let supersedes = verdict == Verdict::Replaces;
            owner.push(HeldItem { supersedes, ..held(item, number + position) });
        }
    }
}

/// The system messages before the first user message of the model's view.
fn instructions(owner: &Transcript) -> Vec<String> {
    let items = owner.view().into_iter().filter_map(|position| owner.items()[position].item());
    let items = items.take_while(|item| item.head().role == Some(Role::System));
    items.map(|item| item.object().string("content").unwrap_or_default().into_owned()).collect()
}

/// The style of a client, as far as this replay shows it: nothing but the client's habit
/// distinguishes user messages alone from new ones.
fn style_of(client: &Client, sent: &[Sent]) -> ReplayStyle {
    let sent = items(sent.iter().map(|(_, json)| json));
    match sent.iter().any(|item| item.head().role != Some(Role::User)) {
        true => client.style(),
        false => ReplayStyle::UsersOnly,
    }
}

/// A delta that starts with the latest user texts is a replay if two of them differ, or if the
/// model has not answered the last.
fn mark_what_counts_as_a_replay(history: &History, sent: &mut [Sent]) {
    let message = history.pieces.iter().enumerate();
    let message: Vec<_> = message.filter(|(_, piece)| piece.part == Part::User).collect();
    let says_again = |((_, message), (_, says)): (&(usize, &Piece), &Sent)| {
        message.json["content"] == says["content"]
    };
    let longest = message.len().min(sent.len().saturating_sub(1));
    let is_run = |length: &usize| {
        let latest = &message[message.len() - length..];
        latest.iter().zip(sent.iter()).all(says_again)
    };
    let Some(length) = (1..=longest).rev().find(is_run) else { return };
    let latest = &message[message.len() - length..];
    let last = latest[length - 1].0;
    let is_answer = |piece: &Piece| piece.part == Part::Assistant;
    let is_answered = history.pieces[last..].iter().any(is_answer);
    if !is_answered
        || latest.iter().any(|(_, piece)| piece.json["content"] != latest[0].1.json["content"])
    {
        let places = latest.iter().map(|(place, _)| *place);
        sent.iter_mut().zip(places).for_each(|(sent, place)| sent.0 = Some(place));
    }
}

/// A turn of another branch, as the AI SDK sends it: user messages, calls and outputs without item
/// ids, with new call ids.
fn renumbered(history: &History) -> Vec<Value> {
    let sent = history.pieces.iter();
    let sent = sent.filter(|piece| matches!(piece.part, Part::User | Part::Call | Part::Output));
    let renumber = |json: &Value| {
        let mut json = json.clone();
        let field = if json["type"] == "local_shell_call_output" { "id" } else { "call_id" };
        if let Some(call_id) = json[field].as_str().map(|call_id| format!("other_{call_id}")) {
            json[field] = call_id.into();
        }
        if field == "call_id" {
            json.as_object_mut().and_then(|item| item.remove("id"));
        }
        json
    };
    sent.map(|piece| renumber(&piece.json)).collect()
}
