//! Laws over generated chats.

use proptest::prelude::*;
use serde_json::json;

use super::chats::{Event, Naming, chat, items, naming, said_by};
use super::checker::check;
use super::{Sent, origin, try_send};
use crate::dialect::anthropic::history;

/// The request, or nothing where the chat says nothing at all.
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
    fn anthropic_takes_every_chat(events in chat(), naming in naming(), late: bool) {
        if let Some(sent) = sent(&events, naming, late) {
            check(sent.messages());
        }
    }

    /// A chat that a user begins, in which nothing was lost on the way out, comes back as it was.
    #[test]
    fn messages_come_back_as_the_items_that_they_were(events in chat(), naming in naming()) {
        let chat = [vec![Event::User("hi".into())], events, vec![Event::User("bye".into())]].concat();
        let items = items(&chat, naming, false);
        let sent = try_send(&json!({}), &items).unwrap();
        let lost_thoughts: Vec<usize> = sent.reported.iter().filter_map(|place| position(place)).collect();
        let kept = items.iter().enumerate().filter(|(at, _)| !lost_thoughts.contains(at));
        let kept: Vec<_> = kept.map(|(_, item)| item.clone()).collect();

        let messages = sent.messages().to_string();
        let back = history::items_of(messages.as_bytes(), None, Some(&origin())).unwrap();
        prop_assert_eq!(said_by(&back), said_by(&kept));
    }
}

/// The position of an item that was left out as a whole.
fn position(place: &str) -> Option<usize> {
    place.strip_prefix("input[")?.strip_suffix(']')?.parse().ok()
}

#[test]
fn what_is_sent_grows_with_what_is_said_and_no_faster() {
    let round = |_| [Event::Calls(vec![("{}".into(), "1".into())]), Event::User("go on".into())];
    let length = |rounds: usize| {
        let events: Vec<Event> = (0..rounds).flat_map(round).collect();
        sent(&events, Naming::Constant, true).unwrap().messages().to_string().len()
    };
    // Numbered names take a few digits more.
    assert!(length(2_000) < 11 * length(200));
}
