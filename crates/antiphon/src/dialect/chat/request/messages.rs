//! Converts the items into messages.

use std::collections::HashMap;

use super::content::{Author, Content, EMPTY_TEXT};
use super::turn::{Output, Turn};
use super::{ChatOmissions, unsupported};
use crate::dialect::chat::fields::{Fields, array};
use crate::dialect::item_form::ItemForm;
use crate::dialect::request::{Request, RequestPath, Unsupported};
use crate::dialect::tools::FlatNames;
use crate::item::{Exchanges, Head, Item, PairRole, Role};
use crate::json::Object;
use crate::transcript::Origin;

/// The `messages` of a request: its instructions, then its items.
pub(super) fn encode(
    request: Request<'_>,
    names: &FlatNames,
    omissions: &mut ChatOmissions,
) -> Result<String, Unsupported> {
    let mut conversation = Conversation {
        origin: request.origin,
        names,
        messages: Vec::new(),
        exchanges: Exchanges::default(),
        calls: HashMap::new(),
    };
    conversation.add_instructions(request.fields)?;
    for (position, item) in request.items.iter().enumerate() {
        conversation.add(position, item, omissions)?;
    }
    Ok(conversation.into_json(omissions))
}

/// The messages so far.
///
/// An output is placed after its call, even if it came later, because servers require outputs
/// directly after the message with the calls. Nothing else moves.
struct Conversation<'a> {
    origin: &'a Origin,
    names: &'a FlatNames,
    messages: Vec<Message>,
    exchanges: Exchanges,
    /// For the position of a call: the index of its turn, and the call's index in the turn.
    calls: HashMap<usize, (usize, usize)>,
}

enum Message {
    /// Instructions. Adjacent instructions become one message, because some chat templates allow
    /// only one, at the beginning.
    System(Content),
    /// An encoded message.
    Encoded(String),
    Turn(Box<Turn>),
}

impl Conversation<'_> {
    /// Adds `instructions` first, as `system`: every server accepts that role, while many chat
    /// templates reject or ignore `developer`. For the same reason, `developer` items become
    /// `system`.
    fn add_instructions(&mut self, fields: &Object<'_>) -> Result<(), Unsupported> {
        match fields.present("instructions") {
            None => Ok(()),
            Some(text) if text.starts_with('"') => {
                let content = Content::parse(Some(text), Author::System, 0, "")?;
                self.messages.push(Message::System(content));
                Ok(())
            }
            Some(_) => Err(unsupported(RequestPath::field("instructions"), "expected a string")),
        }
    }

    fn add(
        &mut self,
        position: usize,
        item: &Item,
        omissions: &mut ChatOmissions,
    ) -> Result<(), Unsupported> {
        let head = item.head();
        let joined = self.exchanges.push(position, head);
        match ItemForm::from_kind(&head.kind) {
            ItemForm::Message => self.message(position, head, &item.object(), omissions),
            ItemForm::Reasoning => {
                let origin = self.origin;
                self.turn().1.reasoning.add(position, &item.object(), origin, omissions);
                Ok(())
            }
            ItemForm::FunctionCall | ItemForm::CustomCall => {
                let names = self.names;
                let (message, turn) = self.turn();
                let call = (position, &head.kind, &item.object());
                let nth = turn.call(call, names, omissions)?;
                self.calls.insert(position, (message, nth));
                Ok(())
            }
            ItemForm::Output => self.output(position, joined, &item.object(), omissions),
            ItemForm::ProviderRecord | ItemForm::Extension => {
                let because = format!("'{}' items record the work of a provider's tool", head.kind);
                omissions.leave_out(RequestPath::Item(position, String::new()), &because);
                Ok(())
            }
            ItemForm::Unsupported => {
                let because = format!("it has no message for '{}' items", head.kind);
                Err(unsupported(RequestPath::Item(position, String::new()), &because))
            }
        }
    }

    fn message(
        &mut self,
        position: usize,
        head: &Head,
        item: &Object<'_>,
        omissions: &mut ChatOmissions,
    ) -> Result<(), Unsupported> {
        let author = match head.role {
            Some(Role::System | Role::Developer) => Author::System,
            Some(Role::User) => Author::User,
            Some(Role::Assistant) => Author::Assistant,
            Some(Role::Other) | None => {
                let place = RequestPath::Item(position, "role".into());
                return Err(unsupported(place, "its roles are system, user and assistant"));
            }
        };
        omissions.leave_out_fields(position, item, &["type", "id", "status", "role", "content"]);
        let content = Content::parse(item.present("content"), author, position, "content")?;
        match author {
            Author::System => self.system(content),
            Author::Assistant => self.turn().1.add_text(content.or_empty_text()),
            Author::User | Author::Tool => {
                self.messages.push(Message::Encoded(message_json("user", content)));
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

    /// Adds an output to its call.
    fn output(
        &mut self,
        position: usize,
        joined: Option<PairRole>,
        item: &Object<'_>,
        omissions: &mut ChatOmissions,
    ) -> Result<(), Unsupported> {
        let place = || RequestPath::Item(position, "call_id".into());
        let call = match joined {
            Some(PairRole::Output(call)) => call,
            Some(PairRole::RepeatedOutput(_)) => {
                return Err(unsupported(place(), "the call has its output already"));
            }
            Some(PairRole::Call | PairRole::OrphanOutput) | None => {
                return Err(unsupported(place(), "no item before it has such a call"));
            }
        };
        let (message, nth) = self.calls[&call];
        let output = Output::from_item(position, item, omissions)?;
        if let Message::Turn(turn) = &mut self.messages[message] {
            turn.set_output(nth, output);
        }
        Ok(())
    }

    /// The current turn of the model, and its index among the messages. Starts one if needed.
    fn turn(&mut self) -> (usize, &mut Turn) {
        let is_in_turn =
            matches!(self.messages.last(), Some(Message::Turn(turn)) if !turn.is_answered());
        if !is_in_turn {
            self.messages.push(Message::Turn(Box::default()));
        }
        let place = self.messages.len() - 1;
        let Message::Turn(turn) = &mut self.messages[place] else {
            unreachable!("the message at this index is a turn")
        };
        (place, turn)
    }

    fn into_json(self, omissions: &mut ChatOmissions) -> String {
        let mut messages = Vec::with_capacity(self.messages.len());
        for message in self.messages {
            match message {
                Message::System(content) => messages.push(message_json("system", content)),
                Message::Encoded(json) => messages.push(json),
                Message::Turn(turn) => turn.write(&mut messages, omissions),
            }
        }
        array(&messages)
    }
}

fn message_json(role: &str, content: Content) -> String {
    let content = content.into_json().unwrap_or_else(|| EMPTY_TEXT.into());
    Fields::new().string("role", role).raw("content", &content).json()
}
