//! Converts items into `system` and `messages`.

use super::block::{Block, called_name, tool_result, tool_use, write_all};
use super::content::Content;
use super::turns::Turns;
use super::{AnthropicOmissions, unsupported};
use crate::dialect::item_form::ItemForm;
use crate::dialect::request::{CallIds, Request, RequestPath, Unsupported};
use crate::dialect::tools::FlatNames;
use crate::dialect::{Dialect, Seal};
use crate::item::{Exchanges, Item, PairRole, Role};
use crate::json::Object;
use crate::transcript::Origin;

/// The `system` prompt and the messages of a request, in the order that Anthropic requires.
///
/// - `system` holds `instructions` and then every system and developer message, in order. A message
///   from the middle of the conversation is moved there, because instructions in a user message
///   would lose their authority: a user could write the same text. The move is reported.
/// - Adjacent output of the model becomes one assistant message: reasoning and text in order, then
///   the calls.
/// - Outputs come first in the user message after their calls, in the order of the calls, even if
///   they arrived later. Order joins calls and outputs, so a conversation can reuse call ids.
/// - A final assistant message is sent unchanged: models before Claude 4.6 continue it, later ones
///   reject it.
pub(super) struct Conversation {
    system: Vec<Block>,
    turns: Turns,
    /// The names of the called tools.
    called: Vec<String>,
}

impl Conversation {
    pub(super) fn from_request(
        request: Request<'_>,
        names: &FlatNames,
        omissions: &mut AnthropicOmissions,
    ) -> Result<Self, Unsupported> {
        let mut builder = ConversationBuilder::new(request, names, omissions);
        builder.instructions(request.fields)?;
        for (position, item) in request.items.iter().enumerate() {
            builder.item(position, item)?;
        }
        let conversation = builder.finish();
        if conversation.turns.is_empty() {
            let why = "the Anthropic Messages API needs at least one message with content";
            return Err(unsupported(RequestPath::field("input"), why));
        }
        Ok(conversation)
    }

    /// Whether Anthropic would reject a thinking budget because of the last assistant message.
    pub(super) fn lacks_thinking_first(&self) -> bool {
        self.turns.lacks_thinking_first()
    }

    /// The names of the called tools, each once.
    pub(super) fn called(&self) -> &[String] {
        &self.called
    }

    pub(super) fn write(&self, body: &mut Object<'_>) {
        if !self.system.is_empty() {
            let mut system = String::new();
            write_all(&self.system, &mut system);
            body.set("system", system);
        }
        body.set("messages", self.turns.to_json());
    }
}

/// Builds a [`Conversation`] item by item.
struct ConversationBuilder<'a> {
    items: &'a [Item],
    origin: &'a Origin,
    names: &'a FlatNames,
    joined: Vec<Option<PairRole>>,
    /// For each call, the position of its output.
    outputs: Vec<Option<usize>>,
    call_ids: CallIds,
    system: Vec<Block>,
    turns: Turns,
    called: Vec<String>,
    omissions: &'a mut AnthropicOmissions,
}

impl<'a> ConversationBuilder<'a> {
    fn new(
        request: Request<'a>,
        names: &'a FlatNames,
        omissions: &'a mut AnthropicOmissions,
    ) -> Self {
        let mut exchanges = Exchanges::default();
        let mut outputs = vec![None; request.items.len()];
        let mut joined = Vec::with_capacity(request.items.len());
        for (position, item) in request.items.iter().enumerate() {
            let how = exchanges.push(position, item.head());
            if let Some(PairRole::Output(call)) = how {
                outputs[call] = Some(position);
            }
            joined.push(how);
        }
        Self {
            items: request.items,
            origin: request.origin,
            names,
            joined,
            outputs,
            call_ids: CallIds::default(),
            system: Vec::new(),
            turns: Turns::default(),
            called: Vec::new(),
            omissions,
        }
    }

    fn finish(mut self) -> Conversation {
        self.turns.finish(self.omissions);
        let mut called = self.called;
        called.sort_unstable();
        called.dedup();
        Conversation { system: self.system, turns: self.turns, called }
    }

    fn instructions(&mut self, fields: &Object<'_>) -> Result<(), Unsupported> {
        match fields.present("instructions") {
            None => {}
            Some(raw) if raw.starts_with('"') => self.system.extend(Block::text(raw)),
            Some(_) => {
                let why = "instructions in the Anthropic Messages API must be text";
                return Err(unsupported(RequestPath::field("instructions"), why));
            }
        }
        Ok(())
    }

    fn item(&mut self, position: usize, item: &Item) -> Result<(), Unsupported> {
        let kind = &item.head().kind;
        match ItemForm::from_kind(kind) {
            ItemForm::Message => self.message(position, item)?,
            ItemForm::Reasoning => self.reasoning(position, item),
            ItemForm::FunctionCall | ItemForm::CustomCall => self.call(position, item)?,
            ItemForm::Output => self.output(position),
            ItemForm::ProviderRecord => {
                self.leave_out(position, "it records the work of another provider's tool");
            }
            ItemForm::Extension if kind.as_str().starts_with("anthropic:") => {
                self.own_block(position, item);
            }
            ItemForm::Extension => self.leave_out(position, "it belongs to another provider"),
            ItemForm::Unsupported => {
                let why = format!("the Anthropic Messages API has no block for a '{kind}' item");
                return Err(unsupported(RequestPath::Item(position, "type".into()), &why));
            }
        }
        Ok(())
    }

    fn message(&mut self, position: usize, item: &Item) -> Result<(), Unsupported> {
        let message = item.object();
        let content = message.present("content").unwrap_or("\"\"");
        match item.head().role {
            Some(Role::User) => {
                for block in Content::user_message(position).blocks(content, self.omissions)? {
                    self.turns.user(block, self.omissions);
                }
            }
            Some(Role::Assistant) => {
                for block in Content::text_message(position).blocks(content, self.omissions)? {
                    self.turns.assistant(block);
                }
            }
            Some(Role::System | Role::Developer) => self.instruct(position, content)?,
            Some(Role::Other) | None => {
                let why = "the Anthropic Messages API takes user, assistant and system messages";
                return Err(unsupported(RequestPath::Item(position, "role".into()), why));
            }
        }
        Ok(())
    }

    fn instruct(&mut self, position: usize, content: &str) -> Result<(), Unsupported> {
        let blocks = Content::text_message(position).blocks(content, self.omissions)?;
        if !self.turns.is_empty() && !blocks.is_empty() {
            let how = "the Anthropic Messages API takes instructions only before the conversation; \
                       the message is moved there";
            self.omissions.change(RequestPath::Item(position, String::new()), how);
        }
        self.system.extend(blocks);
        Ok(())
    }

    /// Sends reasoning only to the origin that sealed it, and unchanged.
    fn reasoning(&mut self, position: usize, item: &Item) {
        let own = |seal: &Seal| seal.is_by(Dialect::Anthropic, self.origin);
        match Seal::from_item(item).filter(own) {
            None => self.leave_out(position, "this upstream did not seal it"),
            Some(seal) if lacks_signature(&seal.content) => {
                self.leave_out(position, "this thinking has no signature");
            }
            Some(seal) => self.turns.assistant(Block::Thinking { raw: seal.content, position }),
        }
    }

    fn call(&mut self, position: usize, item: &Item) -> Result<(), Unsupported> {
        let Some(output) = self.outputs[position] else {
            self.leave_out(position, "the call has no output, and every call needs one");
            return Ok(());
        };
        let call_id = item.head().call_id.as_ref().map_or("", |id| id.as_str());
        let valid_id = to_valid_id(call_id);
        let id = self.call_ids.next(Some(&valid_id), &valid_id);
        let fields = item.object();
        let name = called_name(position, &fields, self.names)?;
        let call = tool_use(&id, &name, (position, &item.head().kind, &fields), self.omissions);
        let result = tool_result(&id, (output, &self.items[output]), self.omissions)?;
        self.called.push(name);
        self.turns.call(position, call, result);
        Ok(())
    }

    fn output(&mut self, position: usize) {
        match self.joined[position] {
            Some(PairRole::Output(call)) => self.turns.record_output(call, self.omissions),
            _ => self.leave_out(position, "no call in the request has this output"),
        }
    }

    /// Sends the block of an `anthropic:` item unchanged, in a message of the item's role.
    fn own_block(&mut self, position: usize, item: &Item) {
        let item = item.object();
        let Some(block) = item.get("content").filter(|raw| raw.starts_with('{')) else {
            return self.leave_out(position, "the item holds no block");
        };
        let block = Block::Other(block.to_owned());
        match item.string("role").as_deref() {
            Some("user") => self.turns.user(block, self.omissions),
            _ => self.turns.assistant(block),
        }
    }

    fn leave_out(&mut self, position: usize, why: &str) {
        let kind = &self.items[position].head().kind;
        let why = format!("the Anthropic Messages API cannot take this '{kind}' item: {why}");
        self.omissions.leave_out(RequestPath::Item(position, String::new()), &why);
    }
}

/// An id for a `tool_use` block. Anthropic requires `^[a-zA-Z0-9_-]+$`, and ids that are unique in
/// a request ("`tool_use` ids must be unique"). `_` replaces each invalid character.
fn to_valid_id(call_id: &str) -> String {
    let is_valid = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '_' | '-');
    let valid = call_id.chars().map(|letter| if is_valid(letter) { letter } else { '_' });
    if call_id.is_empty() { "call".to_owned() } else { valid.collect() }
}

/// Whether a thinking block has no signature. Anthropic rejects such a block
/// ("thinking.signature: Field required"), although some servers of this API sign nothing.
fn lacks_signature(block: &str) -> bool {
    let block = Object::parse(block.as_bytes()).unwrap_or_default();
    let is_signed = block.string("signature").is_some_and(|signature| !signature.is_empty());
    block.string("type").as_deref() == Some("thinking") && !is_signed
}
