//! A gateway for the targets, with the same ids in every run.

use antiphon::json::Object;
use antiphon::stream::{Assembler, Envelope, UsedIds};
use antiphon::{HeldItem, IdSource, Item, Transcript};

use crate::history::KEY;

/// The time at which responses start and end, in Unix seconds.
pub const NOW: i64 = 1_770_000_000;

/// An assembler. With `encrypted`, the caller has requested encrypted reasoning.
#[must_use]
pub fn assembler(encrypted: bool) -> Assembler {
    let request = Object::parse(br#"{"model":"sim"}"#).expect("the request is an object");
    let envelope = Envelope::new("resp_ours", NOW, &request, None);
    Assembler::new(
        envelope,
        UsedIds::from_transcript(&transcript()),
        Box::new(Counting(0)),
        encrypted,
    )
}

/// A conversation with ids that some generated streams use again.
fn transcript() -> Transcript {
    let held = [
        r#"{"type":"message","role":"assistant","id":"msg_1","content":"Earlier."}"#,
        r#"{"type":"function_call","id":"fc_1","call_id":"call_1","name":"f","arguments":"{}"}"#,
    ];
    held.map(hold).into_iter().collect()
}

fn hold(text: &'static str) -> HeldItem {
    let item = Item::parse(text.into()).expect("the text is an item");
    HeldItem::new(item.head().id.clone().expect("the item has an id"), &item, KEY, None)
}

struct Counting(u64);

impl IdSource for Counting {
    fn fill(&mut self, bytes: &mut [u8]) {
        self.0 += 1;
        let at = bytes.len() - 8;
        bytes[at..].copy_from_slice(&self.0.to_be_bytes());
    }
}
