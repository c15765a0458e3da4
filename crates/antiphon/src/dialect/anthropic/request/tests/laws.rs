//! Laws over generated chats.

use proptest::prelude::*;
use serde_json::json;

use super::chats::{Event, Naming, chat, items, naming, said_by};
use super::checker::check;
use super::{Sent, origin, try_send};
use crate::dialect::anthropic::history;

/// The request; `None` if the chat has no content.
fn sent(events: &[Event], naming: Naming, late: bool) -> Option<Sent> {
    let chat = items(events, naming, late);
    match try_send(&json!({}), &chat) {
        Ok(sent) => Some(sent),
        Err(error) => {
            assert_eq!(error.place.to_string(), "input", "{}", error.message);
            None
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn every_chat_satisfies_anthropic_rules(events in chat(), naming in naming(), late: bool) {
        if let Some(sent) = sent(&events, naming, late) {
            check(sent.messages());
        }
    }

    /// A chat that begins with a user message and loses nothing decodes to the same items.
    #[test]
    fn messages_decode_to_the_original_items(events in chat(), naming in naming()) {
        let says = |text: &str| vec![Event::User(text.into())];
        let chat = [says("hi"), events, says("bye")].concat();
        let items = items(&chat, naming, false);
        let sent = try_send(&json!({}), &items).unwrap();
        let lost_thoughts = sent.reported.iter().filter_map(|place| position(place));
        let lost_thoughts: Vec<usize> = lost_thoughts.collect();
        let kept = items.iter().enumerate().filter(|(at, _)| !lost_thoughts.contains(at));
        let kept: Vec<_> = kept.map(|(_, item)| item.clone()).collect();

        let messages = sent.messages().to_string();
        let back = history::parse_items(messages.as_bytes(), None, Some(&origin())).unwrap();
        prop_assert_eq!(said_by(&back), said_by(&kept));
    }
}

/// The position of an item that was left out completely.
fn position(place: &str) -> Option<usize> {
    place.strip_prefix("input[")?.strip_suffix(']')?.parse().ok()
}

#[test]
fn request_size_grows_linearly() {
    let round = |_| [Event::Calls(vec![("{}".into(), "1".into())]), Event::User("go on".into())];
    let length = |rounds: usize| {
        let events: Vec<Event> = (0..rounds).flat_map(round).collect();
        sent(&events, Naming::Constant, true).unwrap().messages().to_string().len()
    };
    // Larger numbers in the ids need a few more digits.
    assert!(length(2_000) < 11 * length(200));
}
