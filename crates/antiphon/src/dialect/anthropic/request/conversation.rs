//! Items as `system` and `messages`.

use std::borrow::Cow;

use super::block::{Block, write_all};
use super::call::{tool_result, tool_use};
use super::call_names::CallNames;
use super::content::Content;
use super::report::{Report, unsupported};
use super::turns::Turns;
use crate::dialect::request::{Place, Request, Unsupported};
use crate::dialect::{Dialect, Seal};
use crate::item::{Exchanges, Item, Joined, Kind, Role};
use crate::json::Object;
use crate::transcript::Origin;

/// What a request says, in Anthropic's order.
///
/// - `instructions`, then every system and developer message in order, are the blocks of `system`.
///   One that stands amid the conversation loses its place there, not its authority: a user could
///   say whatever a wrapper in a user's message would say. That is reported.
/// - What a model made without a word from its caller is one assistant message: what it thought and
///   said in order, then its calls.
/// - Outputs stand first in the user's message behind their calls, in the calls' order, however
///   late they came. Calls and outputs are joined by their order, so that call ids may restart.
/// - A last message of the assistant goes as it is: models before Claude 4.6 continue it, later
///   ones refuse it.
pub(super) struct Conversation {
    system: Vec<Block>,
    turns: Turns,
    /// The names of the tools that were called.
    called: Vec<String>,
}

impl Conversation {
    pub(super) fn of(request: Request<'_>, report: &mut Report) -> Result<Self, Unsupported> {
        let mut scribe = Scribe::new(request, report);
        scribe.instructions(request.fields)?;
        for (position, item) in request.items.iter().enumerate() {
            scribe.item(position, item)?;
        }
        let conversation = scribe.finish();
        if conversation.turns.is_empty() {
            let why = "Anthropic Messages need at least one message that says something";
            return Err(unsupported(Place::field("input"), why));
        }
        Ok(conversation)
    }

    /// Whether thinking with a budget would be refused after the assistant's last message.
    pub(super) fn lacks_thinking_first(&self) -> bool {
        self.turns.lacks_thinking_first()
    }

    /// The names of the tools that were called, each once.
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

/// Writes item after item.
struct Scribe<'a> {
    items: &'a [Item],
    origin: &'a Origin,
    joined: Vec<Option<Joined>>,
    /// For each call the position of its output.
    outputs: Vec<Option<usize>>,
    names: CallNames,
    system: Vec<Block>,
    turns: Turns,
    called: Vec<String>,
    report: &'a mut Report,
}

impl<'a> Scribe<'a> {
    fn new(request: Request<'a>, report: &'a mut Report) -> Self {
        let mut exchanges = Exchanges::default();
        let mut outputs = vec![None; request.items.len()];
        let mut joined = Vec::with_capacity(request.items.len());
        for (position, item) in request.items.iter().enumerate() {
            let how = exchanges.push(position, item.head());
            if let Some(Joined::Answers(call)) = how {
                outputs[call] = Some(position);
            }
            joined.push(how);
        }
        Self {
            items: request.items,
            origin: request.origin,
            joined,
            outputs,
            names: CallNames::default(),
            system: Vec::new(),
            turns: Turns::default(),
            called: Vec::new(),
            report,
        }
    }

    fn finish(mut self) -> Conversation {
        self.turns.finish(self.report);
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
                let why = "the instructions of Anthropic Messages are text";
                return Err(unsupported(Place::field("instructions"), why));
            }
        }
        Ok(())
    }

    fn item(&mut self, position: usize, item: &Item) -> Result<(), Unsupported> {
        use Kind as K;
        match &item.head().kind {
            K::Message => self.message(position, item)?,
            K::Reasoning => self.reasoning(position, item),
            K::FunctionCall | K::CustomToolCall => self.call(position, item)?,
            K::FunctionCallOutput | K::CustomToolCallOutput => self.output(position),
            K::WebSearchCall
            | K::FileSearchCall
            | K::CodeInterpreterCall
            | K::ImageGenerationCall
            | K::McpCall
            | K::McpListTools => {
                self.leave_out(position, "it records what another provider's tool did");
            }
            K::Other(kind) if kind.starts_with("anthropic:") => self.own_block(position, item),
            K::Other(kind) if kind.contains(':') => {
                self.leave_out(position, "it is another provider's");
            }
            kind => {
                let why =
                    format!("Anthropic Messages have nothing that a '{kind}' item could become");
                return Err(unsupported(Place::Item(position, "type".into()), &why));
            }
        }
        Ok(())
    }

    fn message(&mut self, position: usize, item: &Item) -> Result<(), Unsupported> {
        let message = item.object();
        let content = message.present("content").unwrap_or("\"\"");
        match item.head().role {
            Some(Role::User) => {
                for block in Content::of_user(position).blocks(content, self.report)? {
                    self.turns.user(block, self.report);
                }
            }
            Some(Role::Assistant) => {
                for block in Content::of_text(position).blocks(content, self.report)? {
                    self.turns.assistant(block);
                }
            }
            Some(Role::System | Role::Developer) => self.instruct(position, content)?,
            Some(Role::Other) | None => {
                let why = "Anthropic Messages have the roles user and assistant, and instructions";
                return Err(unsupported(Place::Item(position, "role".into()), why));
            }
        }
        Ok(())
    }

    fn instruct(&mut self, position: usize, content: &str) -> Result<(), Unsupported> {
        let blocks = Content::of_text(position).blocks(content, self.report)?;
        if !self.turns.is_empty() && !blocks.is_empty() {
            let how =
                "Anthropic Messages have instructions before the conversation, and there it goes";
            self.report.change(Place::Item(position, String::new()), how);
        }
        self.system.extend(blocks);
        Ok(())
    }

    /// Reasoning goes back only as what its maker sealed, and only to its maker.
    fn reasoning(&mut self, position: usize, item: &Item) {
        let own = |seal: &Seal| seal.is_by(Dialect::Anthropic, self.origin);
        match Seal::of(item).filter(own) {
            None => self.leave_out(position, "it is not sealed by the upstream that is asked"),
            Some(seal) if lacks_signature(&seal.content) => {
                self.leave_out(position, "it is thinking that nobody signed");
            }
            Some(seal) => self.turns.assistant(Block::Thinking { raw: seal.content, position }),
        }
    }

    fn call(&mut self, position: usize, item: &Item) -> Result<(), Unsupported> {
        let Some(output) = self.outputs[position] else {
            self.leave_out(position, "nothing answers it, and every call has to be answered");
            return Ok(());
        };
        let call_id = item.head().call_id.as_ref().map_or("", |id| id.as_str());
        let id = self.names.next(call_id);
        let fields = item.object();
        let call = tool_use(&id, (position, &item.head().kind, &fields), self.report)?;
        let result = tool_result(&id, (output, &self.items[output]), self.report)?;
        self.called.extend(fields.string("name").map(Cow::into_owned));
        self.turns.call(position, call, result);
        Ok(())
    }

    fn output(&mut self, position: usize) {
        match self.joined[position] {
            Some(Joined::Answers(call)) => self.turns.answered(call, self.report),
            _ => self.leave_out(position, "it answers no call"),
        }
    }

    /// A block that has no item of its own goes back as it was, to whoever said it.
    fn own_block(&mut self, position: usize, item: &Item) {
        let item = item.object();
        let Some(block) = item.get("content").filter(|raw| raw.starts_with('{')) else {
            return self.leave_out(position, "it holds no block");
        };
        let block = Block::Other(block.to_owned());
        match item.string("role").as_deref() {
            Some("user") => self.turns.user(block, self.report),
            _ => self.turns.assistant(block),
        }
    }

    fn leave_out(&mut self, position: usize, why: &str) {
        let kind = &self.items[position].head().kind;
        let why = format!("Anthropic Messages have no place for this '{kind}' item, for {why}");
        self.report.leave_out(Place::Item(position, String::new()), &why);
    }
}

/// Anthropic refuses thinking that it did not sign: "thinking.signature: Field required". Servers
/// that sign nothing do without.
fn lacks_signature(block: &str) -> bool {
    let block = Object::parse(block.as_bytes()).unwrap_or_default();
    let is_signed = block.string("signature").is_some_and(|signature| !signature.is_empty());
    block.string("type").as_deref() == Some("thinking") && !is_signed
}
