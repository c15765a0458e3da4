//! One turn, from what it stands on to what it leaves.

mod course;
mod made;
mod resolve;
mod rules;
mod run;

use std::sync::Arc;

use antiphon_testkit::Refusal;
use serde_json::Value;

pub(crate) use course::Course;
pub(crate) use made::Made;
pub(crate) use resolve::{resolve, stored};
pub(crate) use run::Run;

use crate::account::{Account, Before, Context, Conversation, Held, Stored};
use crate::ids::Ids;
use crate::refusals;
use crate::request::Create;
use crate::world::World;

/// A turn that was accepted: whose it is, what stands before it, and its input.
#[derive(Debug)]
pub(crate) struct Turn {
    token: String,
    conversation: Option<String>,
    previous: Option<String>,
    stores: bool,
    in_background: bool,
    before: Before,
    input: Vec<Arc<Held>>,
}

impl Turn {
    /// Finds what the request stands on, and judges all of it. Nothing changes by it.
    pub(crate) fn read(
        create: &Create<'_>,
        token: &str,
        (account, ids): (&Account, &mut Ids),
        is_strict: bool,
    ) -> Result<Self, Refusal> {
        let before = before(create, account, is_strict)?;
        let input = resolve(&create.input, account, is_strict)?;
        if is_strict {
            rules::judge(create.model, &before.items(), &input, account)?;
        }
        if input.is_empty() && create.body["prompt"].is_null() && stands_alone(create) {
            return Err(Refusal::missing_input());
        }
        Ok(Self {
            token: token.to_owned(),
            conversation: create.conversation.map(str::to_owned),
            previous: create.previous.map(str::to_owned),
            stores: create.store,
            in_background: create.background,
            before,
            input: stored(input, account, ids),
        })
    }

    /// What the model is given: what stands before, and then the input.
    pub(crate) fn given(&self) -> Vec<Value> {
        let before = self.before.items();
        before.iter().chain(&self.input).map(|item| item.value().clone()).collect()
    }

    /// Whose it is.
    pub(crate) fn token(&self) -> &str {
        &self.token
    }

    /// From here to its end no other turn of its conversation is accepted.
    pub(crate) fn begin(&self, account: &mut Account) {
        self.lock(account, true);
    }

    /// Its end, without anything left of it.
    fn leave(&self, world: &mut World) {
        let (account, _) = world.account(&self.token);
        self.lock(account, false);
    }

    /// Its end: input and output enter what they belong to.
    fn keep(self, response: Value, output: Vec<Value>, world: &mut World) {
        let (account, ids) = world.account(&self.token);
        self.lock(account, false);
        let output = made(output, ids);
        let mut is_held = self.stores;
        if let Some(conversation) = self.conversation_in(account) {
            conversation.append(self.input.iter().chain(&output).cloned());
            is_held = true;
        }
        if is_held {
            account.know(&self.input);
            account.know(&output);
        }
        if self.stores {
            let id = response["id"].as_str().unwrap_or_default().to_owned();
            let context = Context { before: self.before, input: self.input, output };
            account.add_response(&id, Stored::new(response, context));
        }
    }

    fn lock(&self, account: &mut Account, is_locked: bool) {
        if let Some(conversation) = self.conversation_in(account) {
            conversation.set_locked(is_locked);
        }
    }

    /// Its conversation, unless that was deleted meanwhile.
    fn conversation_in<'a>(&self, account: &'a mut Account) -> Option<&'a mut Conversation> {
        account.conversation_mut(self.conversation.as_deref()?).ok()
    }
}

fn before(create: &Create<'_>, account: &Account, is_strict: bool) -> Result<Before, Refusal> {
    match (create.conversation, create.previous) {
        (Some(_), Some(_)) => Err(refusals::mutually_exclusive()),
        (None, None) => Ok(Before::Nothing),
        (None, Some(id)) => {
            let stored = account.response(id);
            let stored = stored.map_err(|_| refusals::previous_response_not_found(id))?;
            Ok(Before::Response(Arc::clone(&stored.context)))
        }
        (Some(id), None) => {
            let conversation = account.conversation(id)?;
            if is_strict {
                conversation.unlocked()?;
            }
            Ok(Before::Conversation(conversation.items().to_vec()))
        }
    }
}

fn stands_alone(create: &Create<'_>) -> bool {
    create.conversation.is_none() && create.previous.is_none()
}

/// The output as it is stored: each item remembers the reasoning that led to it.
fn made(output: Vec<Value>, ids: &mut Ids) -> Vec<Arc<Held>> {
    let mut reasoning: Option<String> = None;
    let mut items = Vec::new();
    for value in output {
        let item = Held::new(value, ids);
        if item.is_reasoning() {
            reasoning = Some(item.id().to_owned());
            items.push(Arc::new(item));
        } else {
            items.push(Arc::new(item.made_after(reasoning.as_deref())));
        }
    }
    items
}
