//! Judges the input that a server sends: each item of the conversation once, in order.

use serde::{Deserialize, Serialize};

use crate::marker::Marker;

/// The judgement of all requests since the last one was taken.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
pub(crate) struct Verdict {
    /// The number of requests with exactly the items of their conversation.
    pub(crate) right: u64,
    /// The number of requests that leave the earlier items to the upstream.
    pub(crate) delegated: u64,
    /// The number of requests that lack an item or have one twice.
    pub(crate) wrong: u64,
    /// The first wrong request.
    pub(crate) first_fault: Option<String>,
}

impl Verdict {
    /// Judges the body of a request.
    pub(crate) fn add(&mut self, body: &[u8]) {
        if names_previous_response(body) {
            self.delegated += 1;
            return;
        }
        match judge(Marker::all_in(body)) {
            Ok(()) => self.right += 1,
            Err(fault) => {
                self.wrong += 1;
                self.first_fault.get_or_insert(fault);
            }
        }
    }
}

fn names_previous_response(body: &[u8]) -> bool {
    let Some(at) = memchr::memmem::find(body, br#""previous_response_id":"#) else { return false };
    let value = body[at..].split(|&byte| byte == b':').nth(1).unwrap_or_default();
    value.trim_ascii_start().starts_with(b"\"")
}

/// Users' and model's items alternate. A user's item names its turn and the answer before it.
fn judge(markers: impl Iterator<Item = Marker>) -> Result<(), String> {
    let (mut turns, mut owner, mut last_answer) = (0, None, None);
    for marker in markers {
        let expected_turn = turns + 1;
        match (marker, last_answer) {
            (Marker::User { conversation, turn, after }, answer)
                if turn == expected_turn
                    && *owner.get_or_insert(conversation) == conversation
                    && (turns == 0 || answer.is_some())
                    && after == answer.unwrap_or(0) =>
            {
                (turns, last_answer) = (turn, None);
            }
            (Marker::Answer(number), None) if turns > 0 => last_answer = Some(number),
            _ => return Err(format!("the item {marker} does not follow turn {turns}")),
        }
    }
    match (turns, last_answer) {
        (0, _) => Err("the request has no item".to_owned()),
        (_, Some(answer)) => Err(format!("the input ends with {}", Marker::Answer(answer))),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn verdict(markers: &[Marker]) -> Verdict {
        let mut verdict = Verdict::default();
        let text: String = markers.iter().map(Marker::to_string).collect();
        verdict.add(text.as_bytes());
        verdict
    }

    fn user(turn: u64, after: u64) -> Marker {
        Marker::User { conversation: 7, turn, after }
    }

    #[test]
    fn complete_history_is_right() {
        let history = [user(1, 0), Marker::Answer(5), user(2, 5), Marker::Answer(9), user(3, 9)];
        assert_eq!(verdict(&history).right, 1);
    }

    #[test]
    fn lost_doubled_and_foreign_items_are_wrong() {
        let foreign = Marker::User { conversation: 8, turn: 2, after: 5 };
        let answer = Marker::Answer(5);
        for history in [
            &[][..],
            &[user(2, 5)],
            &[user(1, 0), user(2, 5)],
            &[user(1, 0), answer],
            &[user(1, 0), answer, answer, user(2, 5)],
            &[user(1, 0), answer, user(2, 5), user(2, 5)],
            &[user(1, 0), user(1, 0), answer, user(2, 5)],
            &[user(1, 0), Marker::Answer(4), user(2, 5)],
            &[user(1, 0), answer, foreign],
        ] {
            assert_eq!(verdict(history).wrong, 1, "{history:?}");
        }
    }

    #[test]
    fn previous_response_delegates_the_history() {
        let mut verdict = Verdict::default();
        verdict.add(br#"{"previous_response_id": "resp_1", "input": "~u1.2.5~"}"#);
        verdict.add(br#"{"previous_response_id":null,"input":"~u1.1.0~"}"#);
        assert_eq!((verdict.delegated, verdict.right), (1, 1));
    }
}
