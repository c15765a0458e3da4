//! Every tool call has exactly one answer, right after its message.

use super::message::Message;
use crate::Refusal;

pub(super) fn check(messages: &[Message<'_>]) -> Result<(), Refusal> {
    let mut group = None;
    for message in messages {
        if let Some(id) = message.answers {
            answer(group.as_mut(), message.index, id)?;
        } else {
            check_answered(group.take(), message.index)?;
            group = Group::new(message);
        }
    }
    check_answered(group, messages.len().saturating_sub(1))
}

/// The calls of one assistant message and the messages that answer them.
struct Group<'a> {
    calls: &'a [&'a str],
    answers: Vec<(&'a str, usize)>,
}

impl<'a> Group<'a> {
    fn new(message: &'a Message<'a>) -> Option<Self> {
        let calls = message.calls.as_slice();
        (!calls.is_empty()).then(|| Self { calls, answers: Vec::new() })
    }
}

fn answer<'a>(group: Option<&mut Group<'a>>, index: usize, id: &'a str) -> Result<(), Refusal> {
    let group = group.ok_or_else(|| Refusal::tool_message_without_calls(index))?;
    if !group.calls.contains(&id) {
        return Err(Refusal::tool_message_of_no_call(index, id));
    }
    if let Some((_, first)) = group.answers.iter().find(|(answered, _)| *answered == id) {
        return Err(Refusal::tool_message_twice(id, *first, index));
    }
    group.answers.push((id, index));
    Ok(())
}

/// Checks that the group is fully answered. `index` is the message after it, or the last message.
fn check_answered(group: Option<Group<'_>>, index: usize) -> Result<(), Refusal> {
    let Some(Group { calls, answers }) = group else {
        return Ok(());
    };
    let is_open = |id: &&str| !answers.iter().any(|(answered, _)| answered == id);
    let unanswered: Vec<&str> = calls.iter().copied().filter(is_open).collect();
    if unanswered.is_empty() {
        return Ok(());
    }
    Err(Refusal::tool_calls_unanswered(index, &unanswered))
}
