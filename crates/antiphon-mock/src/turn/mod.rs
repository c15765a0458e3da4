//! One turn: validation, answer, storage.

mod rendered;
mod resolve;
mod rules;
mod run;

use std::sync::Arc;

use serde_json::Value;

pub(crate) use rendered::RenderedAnswer;
pub(crate) use resolve::{resolve, stored};
pub(crate) use run::Run;

use crate::Refusal;
use crate::account::Accounts;
use crate::account::{Account, Before, Context, Conversation, StoredItem, StoredResponse};
use crate::ids::Ids;
use crate::request::Create;

/// An accepted turn: its account, its context and its input.
#[derive(Debug)]
pub(crate) struct Turn {
    token: String,
    conversation: Option<String>,
    previous: Option<String>,
    stores: bool,
    in_background: bool,
    before: Before,
    input: Vec<Arc<StoredItem>>,
}

impl Turn {
    /// Resolves the turn's context and validates it. This changes no state.
    pub(crate) fn read(
        create: &Create<'_>,
        token: &str,
        (account, ids): (&Account, &mut Ids),
        is_strict: bool,
    ) -> Result<Self, Refusal> {
        let before = find_context(create, account, is_strict)?;
        let input = resolve(&create.input, account, is_strict)?;
        if is_strict {
            rules::validate(create.model, &before.items(), &input, account)?;
        }
        if input.is_empty() && create.body["prompt"].is_null() && has_no_context(create) {
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

    /// The model's input: the context, then the request's input.
    pub(crate) fn model_input(&self) -> Vec<Value> {
        let before = self.before.items();
        before.iter().chain(&self.input).map(|item| item.value().clone()).collect()
    }

    /// The token of the turn's account.
    pub(crate) fn token(&self) -> &str {
        &self.token
    }

    /// Locks the turn's conversation until the turn ends.
    pub(crate) fn begin(&self, account: &mut Account) {
        self.lock(account, true);
    }

    /// Ends the turn without storing anything.
    fn discard(&self, accounts: &mut Accounts) {
        let (account, _) = accounts.account(&self.token);
        self.lock(account, false);
    }

    /// Ends the turn and stores its input and output in the conversation and the response.
    fn store(self, response: Value, output: Vec<Value>, accounts: &mut Accounts) {
        let (account, ids) = accounts.account(&self.token);
        self.lock(account, false);
        let output = store_output(output, ids);
        let mut is_stored = self.stores;
        if let Some(conversation) = self.conversation_in(account) {
            conversation.append(self.input.iter().chain(&output).cloned());
            is_stored = true;
        }
        if is_stored {
            account.register_items(&self.input);
            account.register_items(&output);
        }
        if self.stores {
            let id = response["id"].as_str().unwrap_or_default().to_owned();
            let context = Context { before: self.before, input: self.input, output };
            account.add_response(&id, StoredResponse::new(response, context));
        }
    }

    fn lock(&self, account: &mut Account, is_locked: bool) {
        if let Some(conversation) = self.conversation_in(account) {
            conversation.set_locked(is_locked);
        }
    }

    /// The turn's conversation, unless it was deleted in the meantime.
    fn conversation_in<'a>(&self, account: &'a mut Account) -> Option<&'a mut Conversation> {
        account.conversation_mut(self.conversation.as_deref()?).ok()
    }
}

fn find_context(
    create: &Create<'_>,
    account: &Account,
    is_strict: bool,
) -> Result<Before, Refusal> {
    match (create.conversation, create.previous) {
        (Some(_), Some(_)) => Err(Refusal::mutually_exclusive()),
        (None, None) => Ok(Before::Nothing),
        (None, Some(id)) => {
            let stored = account.response(id);
            let stored = stored.map_err(|_| Refusal::previous_response_not_found(id))?;
            Ok(Before::Response(Arc::clone(&stored.context)))
        }
        (Some(id), None) => {
            let conversation = account.conversation(id)?;
            if is_strict {
                conversation.ensure_unlocked()?;
            }
            Ok(Before::Conversation(conversation.items().to_vec()))
        }
    }
}

fn has_no_context(create: &Create<'_>) -> bool {
    create.conversation.is_none() && create.previous.is_none()
}

/// Stores the output. Each item refers to the reasoning before it.
fn store_output(output: Vec<Value>, ids: &mut Ids) -> Vec<Arc<StoredItem>> {
    let mut reasoning: Option<String> = None;
    let mut items = Vec::new();
    for value in output {
        let item = StoredItem::new(value, ids);
        if item.is_reasoning() {
            reasoning = Some(item.id().to_owned());
            items.push(Arc::new(item));
        } else {
            items.push(Arc::new(item.with_required_reasoning(reasoning.as_deref())));
        }
    }
    items
}
