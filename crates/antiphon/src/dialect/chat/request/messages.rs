//! The items as messages.

use std::collections::HashMap;

use super::content::{Content, EMPTY_TEXT};
use super::kinds::Carriage;
use super::output::Output;
use super::parts::Speaker;
use super::report::{Report, unsupported};
use super::turn::Turn;
use crate::dialect::chat::fields::{Fields, array};
use crate::dialect::request::{Place, Request, Unsupported};
use crate::item::{Exchanges, Head, Item, Joined, Role};
use crate::json::Object;
use crate::transcript::Origin;

/// The `messages` of a request: its instructions, then its items.
pub(super) fn encode(request: Request<'_>, report: &mut Report) -> Result<String, Unsupported> {
    let mut conversation = Conversation {
        origin: request.origin,
        messages: Vec::new(),
        exchanges: Exchanges::default(),
        calls: HashMap::new(),
    };
    conversation.instruct(request.fields)?;
    for (position, item) in request.items.iter().enumerate() {
        conversation.add(position, item, report)?;
    }
    Ok(conversation.into_json(report))
}

/// The messages as they come to be.
///
/// Outputs are put behind the calls they answer, however late they came: a server wants them
/// directly behind the message that calls. Nothing else moves.
struct Conversation<'a> {
    origin: &'a Origin,
    messages: Vec<Message>,
    exchanges: Exchanges,
    /// By the position of a call: its turn among the messages, and which call of it.
    calls: HashMap<usize, (usize, usize)>,
}

enum Message {
    /// Instructions. Those that stand side by side are one message, for there are templates that
    /// take a single one, at the beginning.
    System(Content),
    /// A message of its own.
    Said(String),
    Turn(Box<Turn>),
}

impl Conversation<'_> {
    /// `instructions` come first, as `system`: every server takes that role, while the templates of
    /// many models refuse or ignore `developer`. So the items' `developer` becomes `system` too.
    fn instruct(&mut self, fields: &Object<'_>) -> Result<(), Unsupported> {
        match fields.present("instructions") {
            None => Ok(()),
            Some(text) if text.starts_with('"') => {
                let content = Content::of(Some(text), Speaker::System, 0, "")?;
                self.messages.push(Message::System(content));
                Ok(())
            }
            Some(_) => Err(unsupported(Place::field("instructions"), "they are no string")),
        }
    }

    fn add(
        &mut self,
        position: usize,
        item: &Item,
        report: &mut Report,
    ) -> Result<(), Unsupported> {
        let head = item.head();
        let joined = self.exchanges.push(position, head);
        match Carriage::of(&head.kind) {
            Carriage::Message => self.message(position, head, &item.object(), report),
            Carriage::Reasoning => {
                let origin = self.origin;
                self.turn().1.reasoning.add(position, &item.object(), origin, report);
                Ok(())
            }
            Carriage::Call => {
                let (message, turn) = self.turn();
                let nth = turn.call(position, &head.kind, &item.object(), report)?;
                self.calls.insert(position, (message, nth));
                Ok(())
            }
            Carriage::Output => self.output(position, joined, &item.object(), report),
            Carriage::LeftOut => {
                let because = format!("'{}' items record what a provider did itself", head.kind);
                report.leave_out(Place::Item(position, String::new()), &because);
                Ok(())
            }
            Carriage::Refused => {
                let because = format!("it has no message for '{}' items", head.kind);
                Err(unsupported(Place::Item(position, String::new()), &because))
            }
        }
    }

    fn message(
        &mut self,
        position: usize,
        head: &Head,
        item: &Object<'_>,
        report: &mut Report,
    ) -> Result<(), Unsupported> {
        let speaker = match head.role {
            Some(Role::System | Role::Developer) => Speaker::System,
            Some(Role::User) => Speaker::User,
            Some(Role::Assistant) => Speaker::Assistant,
            Some(Role::Other) | None => {
                let place = Place::Item(position, "role".into());
                return Err(unsupported(place, "it knows system, user and assistant"));
            }
        };
        report.leave_out_fields(position, item, &["type", "id", "status", "role", "content"]);
        let content = Content::of(item.present("content"), speaker, position, "content")?;
        match speaker {
            Speaker::System => self.system(content),
            Speaker::Assistant => self.turn().1.say(content.or_empty_text()),
            Speaker::User | Speaker::Tool => {
                self.messages.push(Message::Said(said("user", content)));
            }
        }
        Ok(())
    }

    fn system(&mut self, content: Content) {
        match self.messages.last_mut() {
            Some(Message::System(earlier)) => earlier.append(content),
            _ => self.messages.push(Message::System(content)),
        }
    }

    /// An output goes to its call.
    fn output(
        &mut self,
        position: usize,
        joined: Option<Joined>,
        item: &Object<'_>,
        report: &mut Report,
    ) -> Result<(), Unsupported> {
        let place = || Place::Item(position, "call_id".into());
        let call = match joined {
            Some(Joined::Answers(call)) => call,
            Some(Joined::Repeats(_)) => {
                return Err(unsupported(place(), "the call has its output already"));
            }
            Some(Joined::Asks | Joined::Orphan) | None => {
                return Err(unsupported(place(), "there is no such call before it"));
            }
        };
        let (message, nth) = self.calls[&call];
        let output = Output::of(position, item, report)?;
        if let Message::Turn(turn) = &mut self.messages[message] {
            turn.answer(nth, output);
        }
        Ok(())
    }

    /// The turn that the model is in, and its place among the messages.
    fn turn(&mut self) -> (usize, &mut Turn) {
        let is_in_turn =
            matches!(self.messages.last(), Some(Message::Turn(turn)) if !turn.is_answered());
        if !is_in_turn {
            self.messages.push(Message::Turn(Box::default()));
        }
        let place = self.messages.len() - 1;
        let Message::Turn(turn) = &mut self.messages[place] else {
            unreachable!("a turn was put there, or found")
        };
        (place, turn)
    }

    fn into_json(self, report: &mut Report) -> String {
        let mut messages = Vec::with_capacity(self.messages.len());
        for message in self.messages {
            match message {
                Message::System(content) => messages.push(said("system", content)),
                Message::Said(json) => messages.push(json),
                Message::Turn(turn) => turn.write(&mut messages, report),
            }
        }
        array(&messages)
    }
}

fn said(role: &str, content: Content) -> String {
    let content = content.into_json().unwrap_or_else(|| EMPTY_TEXT.into());
    Fields::new().string("role", role).raw("content", &content).json()
}
